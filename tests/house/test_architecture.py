"""ARCHITECTURE.md names every package and every decision."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("room", ["matrix", "aws"])
def test_the_architecture_names_every_package_of_the_functions_and_no_other(room):
    [section] = re.findall(rf"^### functions/{room}:.*?(?=^###? )", PAGE, re.MULTILINE | re.DOTALL)

    packages = {path.parent.name for path in (ROOT / "functions" / room).glob("*/__init__.py")}

    assert set(re.findall(r"^\| `(\w+)/` \|", section, re.MULTILINE)) == packages


@pytest.mark.parametrize("room", ["agent", "cli", "local"])
def test_the_architecture_names_every_package_of_a_program(room):
    [section] = re.findall(rf"^### {room}:.*?(?=^###? )", PAGE, re.MULTILINE | re.DOTALL)

    packages = {path.parent.name for path in (ROOT / room).glob("*/__init__.py")}

    assert packages == set(re.findall(r"`(\w+)/`", section))


def test_every_decision_is_in_the_index_by_its_own_title():

    for decision in sorted((ROOT / "docs" / "adr").glob("*.md")):
        title = decision.read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")
        assert f"(docs/adr/{decision.name}) | {title} |" in PAGE
