"""What belongs to one type stands in its module: how many files a new storage or workload touches."""

import ast
import re
from pathlib import Path

import pytest

from storages.models import MODELS

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


# Modules beside a type's own that name it or its model. Each is one that a new type might have to touch as well: the
# figures may only fall. `ebs`, `efs` and `s3` are also names of services, of which quotas, clients and copies speak.
KNOWN_BY = {"ebs": 19, "efs": 18, "file-server": 8, "fsx-openzfs": 11, "instance-store": 5, "s3": 14}


def _knowing(kind: str) -> set[str]:
    """Modules of functions and agent that have the type's name as a text, or import its model's module."""
    module = kind.replace("-", "_")
    own = {f"functions/storages/{name}.py" for name in ("models", "clouds", f"{module}/model", f"{module}/cloud")}
    own.add(f"agent/mounts/{module}.py")
    knows = re.compile(rf"""(["']){kind}\1|^from storages\.{module}(\.model)? import""", re.MULTILINE)
    files = [*(ROOT / "functions").rglob("*.py"), *(ROOT / "agent").rglob("*.py")]
    knowing = {str(file.relative_to(ROOT)) for file in files if knows.search(file.read_text(encoding="utf-8"))}
    return knowing - own


def test_fewer_and_fewer_modules_know_a_type_of_storage():
    knowing = {kind: _knowing(kind) for kind in KNOWN_BY}

    assert {kind: files for kind, files in knowing.items() if len(files) > KNOWN_BY[kind]} == {}
    assert set(KNOWN_BY) == set(MODELS)
    prices = {file for files in knowing.values() for file in files if file.startswith("functions/matrix/price/")}
    assert prices == {"functions/matrix/price/pricing_api.py"}  # every instance has a root volume of gp3
