"""`matrix run` starts a run with the plan that was agreed to, and asks again where Plan matrix plans something else."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
import typer

from cli.commands import run as command
from cli.inputs import planning
from cli.messages import terminal
from matrix.plan.agreement import agreed_to

TOLD = "it is expected to cost 2.00 USD, agreed to were 1.00"


@pytest.fixture
def stack(monkeypatch, scenario):
    """A deployed stack that refuses the first run, since its plan has cells that this machine's has not."""
    started = []
    theirs = planning.plan_text(planning.read(Path(scenario(repetitions=3))), None).plan

    def run_to_end(service, planned, wish):
        started.append((wish.run, planned))
        if len(started) == 1:
            raise command.running.PlanDiffered(TOLD)

    monkeypatch.setattr(command.Place, "service", lambda _: SimpleNamespace(document=lambda run, name: theirs))
    monkeypatch.setattr(command.running, "run_to_end", run_to_end)
    return SimpleNamespace(started=started, theirs=theirs)


def answering(monkeypatch, answer):
    asked = []
    monkeypatch.setattr(terminal, "can_ask", lambda: True)
    monkeypatch.setattr(typer, "confirm", lambda text, **_: asked.append(text) or answer[len(asked) - 1])
    return asked


def test_a_run_begins_with_the_plan_that_was_agreed_to(stack, matrix, scenario):
    said = matrix("run", scenario(), "--yes", "--name", "mine")

    [(name, planned)] = stack.started
    assert (name, planned.matrix["agreed"]) == ("mine", agreed_to(planned.plan))
    # --yes agrees to what was shown, not to what came of it.
    assert said.exit_code == 1
    assert TOLD in said.stderr


def test_another_plan_is_shown_and_asked_about_before_it_is_run(stack, matrix, scenario, monkeypatch):
    asked = answering(monkeypatch, [True, True])

    said = matrix("run", scenario(), "--name", "mine")

    assert len(asked) == 2
    assert TOLD in said.stderr
    name, planned = stack.started[1]
    assert name == "mine-again"
    assert planned.matrix["agreed"] == agreed_to(stack.theirs)
    assert {**planned.matrix, "agreed": None} == {**json.loads(Path(scenario()).read_text()), "agreed": None}


def test_another_plan_that_is_declined_is_not_run(stack, matrix, scenario, monkeypatch):
    answering(monkeypatch, [True, False])

    said = matrix("run", scenario())

    assert said.exit_code == 3
    assert len(stack.started) == 1


def test_a_sum_that_was_written_into_the_matrix_is_what_is_agreed_to(stack, matrix, scenario):
    matrix("run", scenario(agreed={"usd": 14.2}), "--yes")

    assert stack.started[0][1].matrix["agreed"] == {"usd": 14.2}
