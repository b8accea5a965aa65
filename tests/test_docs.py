"""The pages: links lead somewhere, commands exist, and the examples of matrices can be planned."""

import itertools
import json
import re
import shlex
from pathlib import Path

import pytest
import typer

from cli.main import NAMES, app
from matrix.answer.rows import COLUMNS
from matrix.check.read import read_matrix
from matrix.plan.planning import plan
from matrix.terms.problems import InvalidMatrix

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted(ROOT.glob("*.md")) + sorted((ROOT / "docs").rglob("*.md"))
LINK = re.compile(r"\]\(([^)\s]+)\)")


def name(path):
    return str(path.relative_to(ROOT))


def anchors(path):
    """The names that GitHub gives to a page's headings."""
    headings = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_relative_link_leads_somewhere(page):
    broken = []
    for link in LINK.findall(page.read_text(encoding="utf-8")):
        if re.match(r"https?://|mailto:", link):
            continue
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)

    assert broken == []


def test_every_error_by_name_is_in_the_page_of_errors():
    """Results show these names, so a user looks for them."""
    page = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
    sources = [ROOT / "functions/matrix/terms/errors.py", ROOT / "agent/errors.py"]

    names = {found for source in sources for found in re.findall(r"^class (\w+)\(", source.read_text(), re.MULTILINE)}

    bases = {"StorageMatrixError", "Named", "AgentError", "Interruption"}
    assert {each for each in names - bases if f"`{each}`" not in page} == set()


def test_the_table_of_athena_has_the_columns_of_the_rows():
    page = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
    table = re.search(r"EXTERNAL TABLE IF NOT EXISTS points \((.*?)\n\)", page, re.DOTALL)[1]

    assert dict(column.split() for column in table.split(",")) == COLUMNS


def commands(text):
    """The words of each command of `matrix` in a block of a shell or in backticks, up to a pipe or redirection."""
    blocks = "\n".join(re.findall(r"```(?:console|sh|yaml)\n(.*?)```", text, re.DOTALL)).replace("\\\n", " ")
    lines = re.findall(r"^(?:\$ |[ -]*run: )?(?:\.venv/bin/)?(matrix .*)", blocks, re.MULTILINE)
    lines += re.findall(r"`(matrix [^`\n]+)`", re.sub(r"```.*?```", "", text, flags=re.DOTALL))
    for line in lines:
        words = shlex.split(line, comments=True)
        yield list(itertools.takewhile(lambda word: word not in ("|", ">", ">>", "<", "&&", "||"), words))


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_command_of_a_page_exists_and_has_its_options(page):
    for words in commands(page.read_text(encoding="utf-8")):
        matrix = typer.main.get_command(app)
        assert not words[1].islower() or words[1][0] == "-" or words[1] in NAMES, words
        meant = matrix.get_command(None, words[1]) or matrix
        for word in words[2:]:
            meant = getattr(meant, "commands", {}).get(word, meant)
        options = {"--help", *(option for parameter in meant.params for option in parameter.opts)}
        assert {word.partition("=")[0] for word in words if word.startswith("--")} <= options, words


STORAGES = [
    {"type": "efs"},
    {"type": "ebs", "volumeType": "gp3", "sizeGiB": 200},
    {"type": "s3"},
    {"type": "s3-express"},
]
WORKLOADS = [
    {"type": "touch", "files": 64},
    {"type": "read", "requestSize": "8KiB", "requests": 1024},
    {"type": "command", "name": "copy", "command": "true"},
]
FLEETS = [{"instanceType": "m6i.large", "count": 2}, {"instanceType": "m6i.large", "count": 1}]


def examples():
    """Each JSON block of a page that is a matrix, or a part of one: storages, workloads, fleets."""
    for page in PAGES:
        for number, block in enumerate(
            re.findall(r"```json\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL), 1
        ):
            document = json.loads(block if block.lstrip().startswith("{") else f"{{{block}}}")
            if document.keys() & {"storage", "workload", "fleet"}:
                yield pytest.param(document, id=f"{name(page)}-{number}")


def problems(document):
    """The rules that a matrix breaks; none if it can be planned."""
    try:
        plan(read_matrix(json.dumps(document)))
    except InvalidMatrix as error:
        return [f"{problem.path}: {problem.rule}" for problem in error.problems]
    return []


@pytest.mark.parametrize("example", examples())
def test_every_example_can_be_planned(example):
    """A matrix as it stands; of a part each storage or workload with one of the others."""
    parts = [example]
    if not example.keys() >= {"storage", "workload"}:
        parts = [{**example, axis: [one]} for axis in ("storage", "workload") for one in example.get(axis, [])]

    for part in parts or [example]:
        tried = [
            problems({"name": "example", "storage": [storage], "workload": [workload], "fleet": [fleet], **part})
            for storage, workload, fleet in itertools.product(STORAGES, WORKLOADS, FLEETS)
        ]
        assert [] in tried, tried
