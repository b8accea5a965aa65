"""The pages for people name only what exists: commands, make targets, links, files."""

import json
import re
import shlex
from pathlib import Path

import pytest
import typer

from cli.main import app
from matrix.check.read import read_matrix
from matrix.plan.planning import plan

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = sorted(ROOT.glob("*.md")) + sorted((ROOT / "docs").rglob("*.md"))
# `functions/matrix/price/book.py`, but not `functions/<state>.py`.
OURS = re.compile(r"`((?:agent|cli|docs|events|functions|local|statemachine|tests)/[\w/.-]+)`")
LINK = re.compile(r"\]\(([^)\s]+)\)")


def page_id(path):
    return str(path.relative_to(ROOT))


def code(text):
    """The commands of console blocks, and what stands in backticks."""
    blocks = re.findall(r"^\$ ([^\n]+)", text, re.MULTILINE)
    without_blocks = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    return [part.strip() for line in blocks for part in line.split("&&")] + re.findall(r"`([^`\n]+)`", without_blocks)


def anchors(path):
    """The names that GitHub gives to a page's headings."""
    headings = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_every_relative_link_leads_somewhere(page):
    for link in LINK.findall(page.read_text(encoding="utf-8")):
        if re.match(r"https?://|mailto:", link):
            continue
        name, _, anchor = link.partition("#")
        target = page.parent / name if name else page
        assert target.exists(), f"{page.name}: {link}"
        assert not anchor or anchor in anchors(target), f"{page.name}: {link} names no heading"


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_every_make_target_that_a_page_names_exists(page):
    targets = set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))

    named = {line.split()[1] for line in code(page.read_text(encoding="utf-8")) if line.startswith("make ")}

    assert named <= targets


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_every_command_and_option_of_matrix_that_a_page_names_exists(page):
    command = typer.main.get_command(app)

    for line in code(page.read_text(encoding="utf-8")):
        if not line.startswith("matrix "):
            continue
        words = shlex.split(line, comments=True)
        names_command = not words[1].startswith("-")
        assert not names_command or words[1] in command.commands, line
        meant = command
        for word in words[1:]:
            meant = getattr(meant, "commands", {}).get(word, meant)
        options = {option for parameter in meant.params for option in parameter.opts}
        assert {word for word in words if word.startswith("--")} <= options, line


def test_the_matrix_of_the_readme_is_good_and_what_the_readme_says_of_it_is_true():
    example = re.search(r"```json\n(.*?)```", README, re.DOTALL)[1]

    planned = plan(read_matrix(example)).to_document()

    assert (ROOT / json.loads(example)["$schema"]).exists()
    assert len(planned["cells"]) == 4
    assert {len(cell["points"]) for cell in planned["cells"]} == {6}
    assert f"${planned['totals']['cost_usd']['expected']:.2f} here" in README


def test_the_result_of_the_readme_is_one_that_the_demo_has_printed():
    [lines] = re.findall(r"```text\n(.*?)```", README, re.DOTALL)
    printed = (ROOT / "docs" / "demo.md").read_text(encoding="utf-8").splitlines()

    assert lines.splitlines()
    assert set(lines.splitlines()) <= set(printed)


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_every_file_of_ours_that_a_page_names_exists(page):
    named = OURS.findall(page.read_text(encoding="utf-8"))

    assert [path for path in named if not (ROOT / path).exists()] == []
