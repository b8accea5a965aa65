"""What belongs to one type stands in its module: how many files a new storage or workload touches."""

import json
from importlib import import_module
from pathlib import Path

import pytest
from support.matrices import EVENTS

from agent.workloads import WorkloadModule
from aws.storages.clouds import STORAGES
from matrix.input.workloads import MODELS as WORKLOADS
from matrix.input.workloads import Workload
from matrix.storages.base import Storage
from matrix.storages.models import MODELS

ROOT = Path(__file__).parents[2]
SHIPPED = [json.loads(path.read_text(encoding="utf-8")) for path in EVENTS]


def _lacking(model: object, protocol: type) -> list[str]:
    """Members that a protocol asks for and a class or module has not, as an attribute or as a field of pydantic."""
    parts = [part for part in protocol.__mro__ if part.__module__ != "typing" and part is not object]
    asked = {name for part in parts for name in (*vars(part), *vars(part).get("__annotations__", ())) if name[0] != "_"}
    fields = getattr(model, "model_fields", {})
    abstract = getattr(model, "__abstractmethods__", frozenset())
    return sorted({name for name in asked if not hasattr(model, name) and name not in fields} | abstract)


def _package(kind: str) -> str:
    return kind.replace("-", "_")


@pytest.mark.parametrize("kind", MODELS)
def test_a_storage_has_all_that_its_contracts_ask_for(kind):
    lacking = _lacking(MODELS[kind], Storage)

    assert not lacking, f"write {', '.join(lacking)} in functions/matrix/storages/{_package(kind)}.py"
    assert kind in STORAGES


@pytest.mark.parametrize("kind", WORKLOADS)
def test_a_workload_has_all_that_its_contracts_ask_for(kind):
    model = f"functions/matrix/input/workloads/{_package(kind)}.py"
    module = f"agent/workloads/{_package(kind)}.py"

    lacking = _lacking(WORKLOADS[kind], Workload)

    assert not lacking, f"write {', '.join(lacking)} in {model}"
    assert (ROOT / module).is_file(), f"write {module}"
    lacking = _lacking(import_module(f"agent.workloads.{_package(kind)}"), WorkloadModule)
    assert not lacking, f"write {', '.join(lacking)} in {module}"


@pytest.mark.parametrize(
    ("part", "kind"), [("storage", kind) for kind in MODELS] + [("workload", kind) for kind in WORKLOADS]
)
def test_a_matrix_in_events_has_each_storage_and_each_workload(part, kind):
    shipped = [each for matrix in SHIPPED for each in matrix[part]]
    included = [row[part] for matrix in SHIPPED for row in matrix.get("include", [])]

    assert any(each["type"] == kind for each in shipped + included), (
        f"add {kind} to a matrix of events/ or events/local/"
    )
