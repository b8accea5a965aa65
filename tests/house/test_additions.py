"""What belongs to one type stands in its module: how many files a new storage or workload touches."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MOST_FILES = 8


@pytest.mark.parametrize(("kind", "example"), [("workload", "metadata"), ("storage", "efs")])
def test_who_adds_a_type_touches_no_more_files_than_contributing_lists(kind, example):
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    [section] = re.findall(rf"^## Add a {kind}$.*?(?=^## )", page, re.MULTILINE | re.DOTALL)

    numbered = re.findall(r"^\d+\. `([^`]+)`", section, re.MULTILINE)

    assert len(numbered) <= MOST_FILES
    for path in numbered:
        assert (ROOT / re.sub("<(type|kind)>", example, path)).is_file(), path


@pytest.mark.parametrize("module", sorted((ROOT / "agent/mounts").glob("[!_]*.py")), ids=lambda path: path.stem)
def test_each_module_of_the_mounts_is_a_kind_that_mypy_holds_against_the_protocol(module):
    statements = [ast.unparse(node) for node in ast.walk(ast.parse(module.read_text())) if isinstance(node, ast.stmt)]

    assert f"_KIND: mounts.MountModule = {module.stem}" in statements
    assert f"from agent.mounts import {module.stem}" in statements
