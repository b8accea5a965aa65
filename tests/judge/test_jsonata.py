"""Our engine of JSONata against the reference implementation, whose answers are stored (jsonata/answer.js)."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from judge import template

from local.corrections.yaml_template import load
from local.step_functions.jsonata import JsonataError, evaluate

ANSWERS = json.loads((Path(__file__).parent / "jsonata/answers.json").read_text(encoding="utf-8"))
CASES = ANSWERS["cases"]
EXPRESSIONS = sorted({case["expression"] for case in CASES})

# What our engine answers otherwise, and why the run never meets it.
KNOWN = {
    ("$count($states.input.images) > 0", "states.input.images", "null"): "the engine counts no null; a plan has a list",
    ("$boolean($states.input.cells)", "states.input.cells", "[null]"): "no expression of the definition asks for this",
}


def variables_of(case: dict[str, Any]) -> dict[str, Any]:
    """The variables of a case: the good ones with one value put in place of another, or with one taken away."""
    variables = copy.deepcopy(ANSWERS["variables"])
    if "at" in case:
        *names, last = case["at"].split(".")
        holder = variables
        for name in names:
            holder = holder[name]
        if "put" in case:
            holder[last] = case["put"]
        else:
            del holder[last]
    return variables


def canonical(value: Any) -> str:
    """JSON as JavaScript writes it: a whole number has no fraction, and true is not a number."""
    return json.dumps(_whole(value), sort_keys=True)


def _whole(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _whole(child) for name, child in value.items()}
    if isinstance(value, list):
        return [_whole(child) for child in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def ours(case: dict[str, Any]) -> str:
    """Our engine's answer to a case."""
    try:
        return canonical(evaluate(case["expression"], variables_of(case)))
    except JsonataError:
        return "error"


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_our_engine_answers_as_the_reference_does(expression: str):
    cases = [case for case in CASES if case["expression"] == expression]

    differences = {
        (expression, case.get("at"), json.dumps(case.get("put"))): (answer, case.get("value"))
        for case in cases
        if (answer := ours(case)) != ("error" if "error" in case else canonical(case["value"]))
    }

    assert {key: both for key, both in differences.items() if key not in KNOWN} == {}
    assert {key for key in KNOWN if key[0] == expression} <= set(differences), "no difference any more"


def test_the_answers_are_of_the_version_that_step_functions_has_and_of_every_expression_of_the_definition():
    definition = load((template.ROOT / "statemachine/run.asl.yaml").read_text())
    expressions: set[str] = set()

    def collect(node: Any) -> None:
        if isinstance(node, str) and node.startswith("{%"):
            expressions.add(node.removeprefix("{%").removesuffix("%}").strip())
        for child in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
            collect(child)

    collect(definition)

    assert ANSWERS["jsonata"] == "2.0.6"
    assert expressions <= set(EXPRESSIONS), "run tests/judge/jsonata/answer.js"
