"""The rooms of the house: a package imports only packages below it, and no two modules import each other."""

import ast
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import agent

ROOT = Path(__file__).parents[2]
# From the ground up. A module that lies beside the packages is a room of its own.
FLOORS = {
    "functions/contract": "histogram gates keys mending",
    "functions/matrix": "terms statistics text samples input price check run plan answer tables report published",
    "functions/aws": "stack records ec2 account inventory run results fleet teardown",
    "agent": "errors retrying file_server file_client job programs board machine engine mounts workloads "
    "samples calibration job_check session __main__ unpack",
    "cli": "messages target tables inputs follow console selftest verify commands main",
    "local": "settings programs quick_start serving corrections faults deploy roles keeping sweeping functions "
    "step_functions instances admission validation recording server __main__",
}


@cache
def _statements(file: Path) -> tuple[ast.Import | ast.ImportFrom, ...]:
    """The imports of a module, which is parsed once for all that ask."""
    nodes = ast.walk(ast.parse(file.read_text(encoding="utf-8")))
    return tuple(node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom))


def _imports(file: Path, top: str) -> Iterator[tuple[str, ...]]:
    """What a module imports of a house, as paths of names below the house's top package."""
    for node in _statements(file):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == top:
            yield from ((*node.module.split(".")[1:], alias.name) for alias in node.names)


@pytest.mark.parametrize("house", FLOORS)
def test_a_package_imports_only_packages_below_it(house: str) -> None:
    floors = ["__init__", *FLOORS[house].split()]
    folder = ROOT / house
    rooms = {file.relative_to(folder).parts[0].removesuffix(".py") for file in folder.rglob("*.py")}
    assert rooms == set(floors)

    climbs = [
        f"{file.relative_to(ROOT)}: {'.'.join(names)}"
        for file in folder.rglob("*.py")
        for names in _imports(file, folder.name)
        if (room := file.relative_to(folder).parts[0].removesuffix(".py")) != names[0] and names[0] in floors
        if floors.index(names[0]) > floors.index(room)
    ]

    assert climbs == []


# A storage's package lies beside the floors of the functions: of the core its pure half may use only these rooms, and
# nothing of the edge. Its `cloud.py` is part of the edge.
PURE_HALF = {"contracts", "models", "metrics", "model"}
BELOW_STORAGES = {"terms", "statistics", "input"}


def test_the_pure_half_of_a_storage_neither_calls_aws_nor_climbs() -> None:
    folder = ROOT / "functions/storages"
    pure = [file for file in folder.rglob("*.py") if PURE_HALF & {*file.relative_to(folder).parts, file.stem}]
    pure = [file for file in pure if file.stem != "cloud"]

    climbs = [
        f"{file.relative_to(ROOT)}: {top}.{'.'.join(names)}"
        for file in pure
        for top in ("matrix", "aws", "storages", "boto3", "botocore")
        for names in _imports(file, top)
        if top in ("aws", "boto3", "botocore")
        or (top == "matrix" and names[0] not in BELOW_STORAGES)
        or (top == "storages" and ("cloud" in names or "clouds" in names))
    ]

    assert {file.parent.name for file in pure if file.stem == "model"} > {"ebs", "efs"}
    assert climbs == []


def test_no_modules_import_each_other_in_a_circle() -> None:
    houses = [*FLOORS, "functions/storages"]
    tops = {Path(house).name for house in houses}
    files = [(house, file) for house in houses for file in (ROOT / house).rglob("*.py")]
    modules = {(Path(house).name, *file.relative_to(ROOT / house).with_suffix("").parts): file for house, file in files}

    def module_of(names: tuple[str, ...]) -> tuple[str, ...] | None:
        """The module that a name is imported from: itself, the folder's `__init__`, or the module that has it."""
        return next((each for each in (names, (*names, "__init__"), names[:-1]) if each in modules), None)

    graph = {
        module: {module_of((top, *names)) for top in tops for names in _imports(file, top)} - {module, None}
        for module, file in modules.items()
    }

    list(TopologicalSorter(graph).static_order())


def test_the_agent_says_the_version_of_the_project():
    with (ROOT / "pyproject.toml").open("rb") as project:
        assert tomllib.load(project)["project"]["version"] == agent.VERSION


def test_what_agents_and_functions_share_imports_nothing_of_ours():
    ours = {path.parent.name for path in ROOT.glob("*/__init__.py")} | {"matrix", "aws", "agent", "cli", "local"}
    climbs = [
        f"{file.relative_to(ROOT)}: {name}"
        for file in (ROOT / "functions/contract").rglob("*.py")
        for name in _packages(file)
        if name in ours or name not in sys.stdlib_module_names | {"contract"}
    ]

    assert climbs == []


@pytest.mark.parametrize(("house", "forbidden"), [("agent", {"matrix", "aws"}), ("functions", {"agent"})])
def test_agents_and_functions_import_nothing_of_each_other_but_contract(house, forbidden):
    climbs = [str(file) for file in (ROOT / house).rglob("*.py") if _packages(file) & forbidden]

    assert climbs == []


def _packages(file: Path) -> set[str]:
    """The packages that a module imports from."""
    names: set[str] = set()
    for node in _statements(file):
        if isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module.partition(".")[0])
        elif isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
    return names


def test_nothing_of_a_matrix_is_found_by_where_it_lies_in_memory():
    # Two equal storages are one, wherever they were written, and an address is given away again.
    by_address = [
        f"{file.relative_to(ROOT)}:{node.lineno}"
        for file in (ROOT / "functions").rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "id"
    ]

    assert by_address == []
