"""What the judge refuses in a definition, as AWS does."""

from pathlib import Path
from typing import Any

import pytest
from judge.corpus import cases
from judge.definition import problems

from local.corrections.yaml_template import load

CORPUS = cases("definitions")
RUN = load((Path(__file__).parents[2] / "statemachine/run.asl.yaml").read_text())
ASSIGN = {"Assign": {"run": "{% 'a' %}"}}
CATCH = {"ErrorEquals": ["States.ALL"], "Next": "A"}


def machine(**states: dict[str, Any]) -> dict[str, Any]:
    """States one after the other."""
    names = list(states)
    after = [{"Next": name} for name in names[1:]] + [{"End": True}]
    return {"StartAt": names[0], "States": {name: states[name] | then for name, then in zip(names, after, strict=True)}}


def passing(**fields: Any) -> dict[str, Any]:
    """A state that does nothing else."""
    return {"Type": "Pass"} | fields


def each(inner: dict[str, Any], mode: str = "INLINE", **fields: Any) -> dict[str, Any]:
    """A Map over a state machine."""
    return {"Type": "Map", "ItemProcessor": {"ProcessorConfig": {"Mode": mode}} | inner} | fields


INNER = machine(Inner=passing(**ASSIGN))
READER = machine(Reader=passing(Output="{% $run & '!' %}"))


def test_the_definition_of_the_run_has_no_problem():
    assert problems(RUN) == []


@pytest.mark.parametrize(
    "wrong",
    [
        machine(Outer=passing(**ASSIGN), Each=each(INNER)),
        machine(Outer=passing(**ASSIGN), Each=each(INNER, "DISTRIBUTED")),
        machine(Each=each(INNER), Outer=passing(**ASSIGN)),
        machine(Outer=passing(**ASSIGN), Both={"Type": "Parallel", "Branches": [machine(A=passing()), INNER]}),
        machine(Outer=passing(**ASSIGN), Each=each(machine(Within=each(INNER)))),
        machine(Each=each(INNER, **ASSIGN)),
        machine(Outer=passing(**ASSIGN), Each=each(machine(Inner=passing(Assign={"run.$": "$.a"})))),
        machine(Outer=passing(**ASSIGN), Each=each(machine(A={"Type": "Task", "Catch": [CATCH | ASSIGN]}))),
        machine(Outer=passing(**ASSIGN), Each=each(machine(A={"Type": "Choice", "Choices": [ASSIGN | {"Next": "A"}]}))),
    ],
)  # fmt: skip
def test_a_name_that_an_inner_and_an_outer_scope_assign_is_refused(wrong: dict[str, Any]):
    [problem] = problems(wrong)

    assert "an outer scope assigns the variable 'run' too" in problem


@pytest.mark.parametrize(
    "right",
    [
        machine(Outer=passing(**ASSIGN), Each=each(READER)),
        machine(Outer=passing(**ASSIGN), Again=passing(**ASSIGN)),
        machine(Each=each(INNER), Other=each(machine(Again=INNER["States"]["Inner"]), "DISTRIBUTED")),
        machine(Each=each(machine(Inner=passing(**ASSIGN), Reader=READER["States"]["Reader"]), "DISTRIBUTED")),
        # The Map's own fields are evaluated in the scope around it.
        machine(Outer=passing(**ASSIGN), Each=each(machine(A=passing()), "DISTRIBUTED", Items="{% $run %}")),
        # A text, and a function that has the name of a variable.
        machine(Outer=passing(**ASSIGN), Each=each(machine(A=passing(Output="{% '$run' & $run(1) %}")), "DISTRIBUTED")),
    ],
)  # fmt: skip
def test_variables_that_are_in_scope_are_not_refused(right: dict[str, Any]):
    assert problems(right) == []


@pytest.mark.parametrize("entry", CORPUS)
def test_a_definition_that_step_functions_refuses_is_refused(entry: dict[str, Any]):
    states = entry["states"]
    definition = {"QueryLanguage": "JSONata", "StartAt": next(iter(states)), "States": states}

    found = problems(definition | entry.get("besides", {}))

    assert any(entry["says"] in problem for problem in found), found


def test_a_timeout_of_one_second_asks_for_no_heartbeat_and_limits_are_written_out():
    task = {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "End": True}

    def found(**fields: Any) -> list[str]:
        return problems({"QueryLanguage": "JSONata", "StartAt": "A", "States": {"A": task | fields}})

    assert found(TimeoutSeconds=1) == []
    [problem] = found(TimeoutSeconds=100_000_000)
    assert "from 1 to 99999999 at" in problem
