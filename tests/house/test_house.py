"""No two modules import each other. import-linter holds the floors: `[tool.importlinter]` of pyproject.toml."""

import tomllib
from graphlib import TopologicalSorter
from pathlib import Path

import grimp

import agent

ROOT = Path(__file__).parents[2]


def test_no_modules_import_each_other_in_a_circle() -> None:
    graph = grimp.build_graph("agent", "aws", "cli", "contract", "local", "matrix", cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) - {module} for module in graph.modules}

    order = list(TopologicalSorter(imports).static_order())

    assert order.index("matrix.terms.names") < order.index("matrix.plan.planning")


def test_the_agent_says_the_version_of_the_project() -> None:
    with (ROOT / "pyproject.toml").open("rb") as project:
        assert tomllib.load(project)["project"]["version"] == agent.VERSION
