"""What belongs to one type stands in its module: how many files a new storage or workload touches."""

import ast
from importlib import import_module
from pathlib import Path
from typing import ClassVar

import pytest

from agent.workloads import TYPES, WorkloadModule
from matrix.input.workloads import MODELS as WORKLOADS
from matrix.input.workloads import Workload
from storages.clouds import FILE_SYSTEMS, OF_INSTANCES
from storages.contracts.cloud import FileSystem
from storages.contracts.model import Storage, StorageModel
from storages.models import MODELS

ROOT = Path(__file__).parents[2]
AGENTS_WORKLOADS = set(TYPES)


@pytest.mark.parametrize("module", sorted((ROOT / "agent/mounts").glob("[!_]*.py")), ids=lambda path: path.stem)
def test_each_module_of_the_mounts_is_a_kind_that_mypy_holds_against_the_protocol(module):
    statements = [ast.unparse(node) for node in ast.walk(ast.parse(module.read_text())) if isinstance(node, ast.stmt)]

    assert f"_KIND: mounts.MountModule = {module.stem}" in statements
    assert f"from agent.mounts import {module.stem}" in statements


# Who names a type of storage outside of its own package, each with the reason. Names of clients, and of services that
# have quotas, do not count.
MAY_NAME_A_STORAGE = {
    "functions/storages/file_server/model.py": "its volume is one of EBS",
    "functions/matrix/input/matrix.py": "examples in the schema",
    "functions/matrix/run/receipt.py": "what an instance was launched for, in rows and tags",
    "functions/matrix/terms/names.py": "the lowest floor cannot ask a model",
    "functions/aws/fleet/launching.py": "a kind of mount: the work volume",
    "agent/calibration.py": "kinds of mount",
    "agent/engine/reads.py": "a reader of the engine",
    "agent/job.py": "the agent has no models",
    "agent/workloads/read.py": "kinds of mount, and readers of the engine",
    "cli/inputs/starting.py": "what a matrix begins with",
    "cli/selftest/fleets.py": "a matrix",
    "cli/selftest/live.py": "a matrix",
    "cli/target/existing.py": "how `matrix observe` reads each service",
    "cli/verify/measurements.py": "matrices",
    "local/corrections/images.py": "EC2's word for a root device",
    "local/corrections/service_quotas.py": "services that have quotas",
    "local/faults/injection.py": "services whose calls fail",
    "local/instances/player.py": "a service",
    "local/programs/fork_server.py": "services whose clients are prepared",
    "functions/matrix/plan/own_image.py": "how EC2 calls the root device of an image",
    "local/roles/enforcement.py": "services and their refusals",
    "local/roles/signatures.py": "a service that signs requests",
    "local/validation/requests.py": "how botocore calls services that sign requests otherwise",
}
REGISTRIES = {f"functions/storages/{name}.py" for name in ("models", "clouds")}


def _own_types(path: str) -> set[str]:
    """The types whose package or mount a module is."""
    [*_, folder, name] = path.split("/")
    own = {"functions/storages": folder, "agent/mounts": name.removesuffix(".py")}
    return {kind.replace("_", "-") for room, kind in own.items() if path.startswith(room)}


def _names_in(file: Path) -> set[str]:
    """The types of storage that a module has as a text, but for the names of clients and of quotas' services."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    called = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    services = {
        id(argument)
        for call in called
        if (name := ast.unparse(call.func).rpartition(".")[2].lower()).endswith("client") or name == "quota"
        for argument in call.args
    }
    texts = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in services]
    # NFS is also the protocol by which EFS and FSx are mounted and counted.
    return {node.value for node in texts if isinstance(node.value, str) and node.value in MODELS.keys() - {"nfs"}}


def _are_explained(foreign: dict[str, set[str]], reasons: dict[str, str]) -> None:
    new = {path: sorted(names) for path, names in foreign.items() if path not in reasons}
    assert not new, (
        f"ask a contract in place of naming types that are not the module's own, or give a reason here: {new}"
    )
    assert not reasons.keys() - foreign.keys(), f"name no type any more: {sorted(reasons.keys() - foreign.keys())}"


def test_no_module_names_a_storage_that_is_not_its_own():
    files = [file for top in ("functions", "agent", "cli", "local") for file in (ROOT / top).rglob("*.py")]
    named = {str(file.relative_to(ROOT)): _names_in(file) for file in files}
    # What others have published names what they measured.
    foreign = {
        path: names - _own_types(path)
        for path, names in named.items()
        if path not in REGISTRIES and not path.startswith("functions/matrix/published/")
    }

    _are_explained({path: names for path, names in foreign.items() if names}, MAY_NAME_A_STORAGE)


def test_each_registry_has_every_type():
    registries = {
        "functions/storages/clouds.py": ({*FILE_SYSTEMS, *OF_INSTANCES}, MODELS),
        "agent/workloads/__init__.py": (AGENTS_WORKLOADS, WORKLOADS),
    }
    for path, (registered, types) in registries.items():
        assert not types.keys() - registered, f"add {sorted(types.keys() - registered)} to {path}"
        assert not registered - types.keys(), f"{path} has {sorted(registered - types.keys())}, which no model has"


def _lacking(model: object, protocol: type) -> list[str]:
    """Members that a protocol asks for and a class or module has not, as an attribute or as a field of pydantic."""
    parts = [part for part in protocol.__mro__ if part.__module__ != "typing" and part is not object]
    asked = {name for part in parts for name in (*vars(part), *vars(part).get("__annotations__", ())) if name[0] != "_"}
    fields = getattr(model, "model_fields", {})
    return sorted(name for name in asked if not hasattr(model, name) and name not in fields)


def _package(kind: str) -> str:
    return kind.replace("-", "_")


@pytest.mark.parametrize("kind", MODELS)
def test_a_storage_has_all_that_its_contracts_ask_for(kind):
    folder = f"functions/storages/{_package(kind)}"
    lacking = {f"{folder}/model.py": _lacking(MODELS[kind], Storage)}
    if kind in FILE_SYSTEMS:
        lacking[f"{folder}/cloud.py"] = _lacking(FILE_SYSTEMS[kind], FileSystem)

    for path, names in lacking.items():
        assert not names, f"write {', '.join(names)} in {path}"


@pytest.mark.parametrize("kind", WORKLOADS)
def test_a_workload_has_all_that_its_contracts_ask_for(kind):
    model = f"functions/matrix/input/workloads/{_package(kind)}.py"
    module = f"agent/workloads/{_package(kind)}.py"

    lacking = _lacking(WORKLOADS[kind], Workload)

    assert not lacking, f"write {', '.join(lacking)} in {model}"
    assert (ROOT / module).is_file(), f"write {module}"
    lacking = _lacking(import_module(f"agent.workloads.{_package(kind)}"), WorkloadModule)
    assert not lacking, f"write {', '.join(lacking)} in {module}"


def test_what_a_model_lacks_is_named():
    class Lacking(StorageModel):
        words: ClassVar[None] = None

    assert {"bandwidth_bytes_per_s", "ceilings", "is_shared", "slug"} <= set(_lacking(Lacking, Storage))
    assert "words" not in _lacking(Lacking, Storage)


# Who names a type of workload outside of its modules, each with the reason.
MAY_NAME_A_WORKLOAD = {
    "functions/matrix/answer/costs.py": "published builds have no samples to count",
    "functions/matrix/answer/decision/questions.py": "each create of touch is a change, of metadata some phases are",
    "functions/matrix/check/objective.py": "a command declares metrics of its own",
    "functions/matrix/check/rules.py": "a rule about what transfer reads its files from",
    "functions/matrix/input/matrix.py": "examples in the schema",
    "functions/matrix/plan/ways_out.py": "programs that Ubuntu has",
    "functions/matrix/report/charts/timeline.py": "how builds are counted over time",
    "functions/matrix/report/charts/totals.py": "how builds are counted over a fleet",
    "functions/matrix/report/parts.py": "a tag of HTML",
    "functions/matrix/report/shell.py": "a tag of HTML",
    "functions/matrix/terms/metrics.py": "what their duration is called",
    "functions/matrix/terms/names.py": "what fio's points are called",
    "functions/matrix/text/bottlenecks.py": "tools, which are called like workloads",
    "agent/programs/tools.py": "programs, which are called like workloads",
    "cli/inputs/room.py": "workloads whose sizes stand in the matrix",
    "cli/inputs/starting.py": "what a matrix begins with",
    "cli/selftest/fleets.py": "a matrix",
    "cli/selftest/hard.py": "a matrix",
    "cli/selftest/live.py": "a matrix",
    "cli/tables/result_tables.py": "fio alone has reads and writes apart",
    "cli/verify/measurements.py": "matrices",
    "local/instances/vm/image.py": "a program",
}
# These are also phases, operations, folders or fields: they count where a `type` is compared with them.
ALSO_OTHER_WORDS = {"read", "delete", "metadata", "objects", "export", "command", "build"}
OF_WORKLOADS = ("functions/matrix/input/workloads/", "agent/workloads/", "functions/matrix/published/")


def _workloads_in(file: Path) -> set[str]:
    nodes = list(ast.walk(ast.parse(file.read_text(encoding="utf-8"))))
    compared = [node for node in nodes if isinstance(node, ast.Compare) and "type" in ast.unparse(node)]
    within = [each for node in compared for each in ast.walk(node) if isinstance(each, ast.Constant)]
    plain = [node for node in nodes if isinstance(node, ast.Constant) and node.value not in ALSO_OTHER_WORDS]
    texts = {node.value for node in (*within, *plain) if isinstance(node.value, str)}
    return texts & WORKLOADS.keys()


def test_no_module_names_a_workload_that_is_not_its_own():
    files = [file for top in ("functions", "agent", "cli", "local") for file in (ROOT / top).rglob("*.py")]
    named = {str(file.relative_to(ROOT)): _workloads_in(file) for file in files}
    foreign = {path: names for path, names in named.items() if names and not path.startswith(OF_WORKLOADS)}

    _are_explained(foreign, MAY_NAME_A_WORKLOAD)
