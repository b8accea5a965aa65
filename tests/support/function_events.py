"""The example event of Plan matrix, and plans of its matrix."""

import json
from pathlib import Path
from typing import Any

import pytest

import plan_matrix
from aws.records import bucket
from matrix.terms.problems import InvalidMatrix, Problem

RUN = "builds-1"
EVENTS = Path(__file__).parent


def load_event(name: str) -> dict[str, Any]:
    """Return the example event of a function."""
    return json.loads((EVENTS / f"{name}.json").read_text())


def event_of(**changes: Any) -> dict[str, Any]:
    """The event of Plan matrix with changes of the example matrix."""
    event = load_event("plan_matrix")
    event["matrix"] |= changes
    return event


def plan_run(context: Any, **changes: Any) -> Any:
    """Plan the example matrix with changes; its plan as it is in the bucket."""
    plan_matrix.handler(event_of(**changes), context)
    return bucket.get(f"runs/{RUN}/plan.json")


def problems_of_run(context: Any, **changes: Any) -> list[Problem]:
    """The problems with which Plan matrix refuses the example matrix with changes, before anything is written."""
    with pytest.raises(InvalidMatrix) as refused:
        plan_run(context, **changes)
    assert list(bucket.listing("")) == []
    return refused.value.problems
