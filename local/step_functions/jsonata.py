"""JSONata for the Step Functions interpreter: moto calls an engine that it does not have.

moto also puts every variable as source text in front of the expression, which takes 53 ms for an input of 12 kB and
breaks at a string with a quote. Here an expression is parsed once per thread, and variables are bound to it.
"""

import datetime
import hashlib
import json
import random
import threading
import uuid
from functools import lru_cache
from typing import Any

import jsonata
from jsonata.utils import Utils
from moto.stepfunctions.parser.api import EvaluationFailedEventDetails, HistoryEventType
from moto.stepfunctions.parser.asl.component.common.error_name.failure_event import FailureEvent, FailureEventException
from moto.stepfunctions.parser.asl.component.common.error_name.states_error_name import StatesErrorName
from moto.stepfunctions.parser.asl.component.common.error_name.states_error_name_type import StatesErrorNameType
from moto.stepfunctions.parser.asl.component.common.string.string_expression import StringJSONata
from moto.stepfunctions.parser.asl.jsonata import jsonata as moto_jsonata

_threads = threading.local()


class JsonataError(ValueError):
    """The expression cannot be evaluated, or gives nothing, or gives something that is not JSON."""


def install() -> None:
    """Give moto the engine."""
    StringJSONata._eval_body = _evaluate_in_state
    moto_jsonata._eval_jsonata = evaluate  # for the rare callers that compose source text


def evaluate(expression: str, variables: dict[str, Any] | None = None) -> Any:
    """Return the JSON value of an expression; `variables` are named without the dollar sign. Raises JsonataError."""
    try:
        result = _compiled(expression).evaluate(
            None, {name: _bound(value) for name, value in (variables or {}).items()}
        )
    except Exception as err:
        raise JsonataError(str(err) or type(err).__name__) from err
    if result is None:
        raise JsonataError(f"The JSONata expression '{expression}' returned nothing (undefined).")
    return plain(result, expression)


def plain(value: Any, expression: str = "") -> Any:
    """Return a copy that holds JSON only: the engine's null and lists and AWS's dates become JSON's."""
    if value is None or value is Utils.NULL_VALUE:
        return None
    if isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, dict):
        return {key: plain(member, expression) for key, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(member, expression) for member in value]
    if isinstance(value, datetime.datetime):
        return value.astimezone(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
    raise JsonataError(f"The JSONata expression '{expression}' returned an unsupported result type.")


def _bound(value: Any) -> Any:
    """Return a JSON value with the engine's null at the top, where it would take None for 'undefined'."""
    value = plain(value)
    return Utils.NULL_VALUE if value is None else value


def _compiled(expression: str) -> jsonata.Jsonata:
    """Return the parsed expression, cached by thread: threads cannot share the engine's objects."""
    if not hasattr(_threads, "compile"):
        _threads.compile = lru_cache(maxsize=500)(_compile)
    compiled = _threads.compile(expression)
    jsonata.Jsonata.CURRENT.jsonata = compiled
    return compiled


def _compile(expression: str) -> jsonata.Jsonata:
    compiled = jsonata.Jsonata(expression)
    compiled.output_convert_nulls = False  # tells null from undefined
    # the functions that Step Functions adds to JSONata
    compiled.register_lambda("partition", lambda items, size: [items[i : i + size] for i in range(0, len(items), size)])
    compiled.register_lambda("range", _range)
    compiled.register_lambda(
        "hash", lambda text, name: hashlib.new(name.replace("-", "").lower(), text.encode()).hexdigest()
    )
    compiled.register_lambda("uuid", lambda: str(uuid.uuid4()))
    compiled.register_lambda("parse", json.loads)
    compiled.register_lambda("random", random.random)
    return compiled


def _range(first: float, last: float, step: float) -> list[float]:
    return [first + step * i for i in range(int((last - first) / step) + 1)] if (last - first) * step >= 0 else []


def _evaluate_in_state(self: Any, env: Any) -> None:
    """Evaluate a JSONata string of a state, in place of StringJSONata._eval_body."""
    # moto refuses every $, AWS only one at the top: there it is undefined here, and so fails too
    store = env.variable_store
    variables = {"states": env.states._states_data, **store._outer_scope, **store._inner_scope}
    try:
        env.stack.append(evaluate(self.expression, variables))
    except JsonataError as err:
        raise _failure(env, str(err)) from err


def _failure(env: Any, cause: str) -> FailureEventException:
    error = StatesErrorName(typ=StatesErrorNameType.StatesQueryEvaluationError)
    # moto's EventDetails is a dictionary that wants all kinds of details at once
    details: Any = {"evaluationFailedEventDetails": EvaluationFailedEventDetails(cause=cause, error=error.error_name)}
    event_type = HistoryEventType.EvaluationFailed
    failure = FailureEventException(
        FailureEvent(env=env, error_name=error, event_type=event_type, event_details=details)
    )
    env.event_manager.add_event(context=env.event_history_context, event_type=event_type, event_details=details)
    return failure
