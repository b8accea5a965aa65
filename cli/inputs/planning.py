"""Read a matrix from a file or a pipe and plan it with the same core that the Lambda function uses."""

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from cli.messages.errors import CommandError, ExitCode
from matrix.terms.documents.plan import PlanDocument
from matrix.terms.problems import HERE
from matrix.terms.quantities import count_of

STDIN = Path("-")
# A plan shows this region's prices if none is chosen.
DEFAULT_REGION = "us-east-1"
# Planning refuses larger matrices anyway; the limit keeps gigabytes out of memory.
MAX_FILE_BYTES = 10 * 1024 * 1024


@dataclass
class BadMatrix(Exception):
    """The matrix has problems; the document lists them all."""

    document: dict[str, Any]


@dataclass(frozen=True)
class Planned:
    """A matrix as written, its plan, and its storages in their order, as JSON with sorted keys."""

    matrix: dict[str, Any]
    plan: PlanDocument
    storages: Sequence[str] = ()


def read_and_plan(file: Path, region: str | None) -> Planned:
    """Read and plan a matrix; raises BadMatrix with every problem."""
    return plan_text(read(file), region)


def plan_text(text: bytes, region: str | None, earlier: Any = None) -> Planned:
    """Plan a matrix; `earlier` holds the cells of the run that it resumes. Raises BadMatrix."""
    # pydantic takes a quarter of a second to import, so `matrix --help` must not import it.
    from cli.inputs import fio_here
    from matrix.check.read import check_matrix, parse_json
    from matrix.plan.planning import plan
    from matrix.terms.problems import InvalidMatrix

    try:
        matrix = parse_json(text)
        checked = check_matrix(matrix)
        if refused := list(fio_here.problems(checked.cells)):
            raise InvalidMatrix(refused)
        planned = plan(checked, region=region or DEFAULT_REGION, earlier=earlier)
    except InvalidMatrix as invalid:
        raise BadMatrix(invalid.to_document()) from invalid
    storages = dict.fromkeys(json.dumps(cell.storage.document, sort_keys=True) for cell in checked.cells)
    return Planned(matrix, planned.to_document(), list(storages))


def read(file: Path) -> bytes:
    """Read the text of a matrix without checking it, which planning does."""
    if file == STDIN:
        return sys.stdin.buffer.read(MAX_FILE_BYTES + 1)
    try:
        with file.open("rb") as opened:
            return opened.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        advice = "give the path of a JSON file, or - for standard input; examples are in events/"
        raise CommandError(f"cannot read {file}: {error.strerror}", advice, ExitCode.BAD_INPUT) from error


def show_problems(
    console: Console, file: Path | str, problems: dict[str, Any], outcome: str = "nothing was started"
) -> None:
    """Print every problem: its place, the value, the rule, and a valid replacement."""
    listed = problems["problems"]
    name = "standard input" if file == STDIN else str(file)
    count = len(listed) + problems.get("further_problems", 0)
    console.print(Text(f"{name}: {count_of(count, 'problem')}, {outcome}", "bold red"))
    grid = Table.grid(padding=(0, 1))
    grid.add_column(justify="right")
    grid.add_column(overflow="fold")
    for number, problem in enumerate(listed, 1):
        before, mark, after = str(problem["value"]).partition(HERE)
        if mark:
            grid.add_row(f"{number}.", Text(f"{before}{after}", no_wrap=True))
            grid.add_row("", Text(f"{' ' * len(before)}^", "bold red"))
        else:
            # A problem without a value is about something missing.
            value = "" if problem["value"] is None else f": {json.dumps(problem['value'], ensure_ascii=False)}"
            grid.add_row(f"{number}.", Text.assemble((problem["path"] or "matrix", "bold"), value))
        grid.add_row("", problem["rule"])
        grid.add_row("", Text.assemble(("fix: ", "green"), problem["fix"]))
    console.print(grid)
    if problems.get("further_problems"):
        console.print(f"and {problems['further_problems']} more")
