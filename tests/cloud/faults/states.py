"""Faults of the state machine itself, which are no calls: it is stopped, or its history is full."""

from typing import Any

from moto.stepfunctions import responses
from moto.stepfunctions.parser.asl.component.state.state import CommonStateField

from cloud.faults.injection import Call, Faults
from local.step_functions import failures


def install(injected: Faults) -> None:
    """Record which states are entered, and end the execution in the state that a fault rule names."""
    evaluate = CommonStateField._eval_state_input

    def enter(self: Any, env: Any) -> None:
        execution = env.states.context_object.context_object_data["Execution"]
        fault = injected.due(Call(execution["Name"], "Run", "enter", self.name))
        if fault == "history full":
            raise failures.history_full(env.event_history_context)
        if fault == "stopped":
            _, _, _, region, account, *_ = execution["Id"].split(":")
            backend: Any = responses.get_backend(account, region)
            backend.stop_execution(execution["Id"], "Stopped", "injected fault")
        evaluate(self, env)

    CommonStateField._eval_state_input = enter
