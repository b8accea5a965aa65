"""The options that several commands share, so that they read the same everywhere."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from cli.inputs import completing
from cli.messages.errors import CommandError, ExitCode

MatrixFile = Annotated[
    Path, typer.Argument(metavar="FILE", help="The matrix: a JSON file, or - to read it from standard input.")
]
RunName = Annotated[
    str,
    typer.Argument(
        metavar="RUN",
        help="The run's name, as `matrix run` and `matrix runs` show it.",
        autocompletion=completing.runs,
    ),
]
RunOrLatest = Annotated[
    str,
    typer.Argument(
        metavar="RUN",
        help="The run's name or its beginning, `latest`, or `baseline:NAME`.",
        autocompletion=completing.compared,
    ),
]
Cell = Annotated[
    str,
    typer.Argument(
        metavar="CELL", help="The cell's id, as `matrix watch` and results show it.", autocompletion=completing.cells
    ),
]
Local = Annotated[bool, typer.Option("--local", help="Use the local cloud on this machine: no AWS account, no cost.")]
Stack = Annotated[
    str | None,
    typer.Option("--stack", metavar="NAME", help="Use this CloudFormation stack on AWS (default: storage-matrix)."),
]
Region = Annotated[
    str | None, typer.Option("--region", metavar="REGION", help="AWS region (default: your AWS configuration's).")
]
Web = Annotated[
    bool, typer.Option("--web", help="Also show it in the browser: the matrix, the graph and each fleet, live.")
]
Verbose = Annotated[
    bool, typer.Option("--verbose", help="Print a line for each change of state instead of the live view.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON on stdout, for scripts; progress goes to stderr.")]


class Format(StrEnum):
    """How a command writes rows."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"


Chosen = TypeVar("Chosen", bound=StrEnum)


def chosen_format(format_: Chosen, *, as_json: bool) -> Chosen:
    """Return the format of an answer: --json is short for --format json, and goes with no other but the table."""
    if as_json and format_ not in ("table", "json"):
        raise CommandError(f"--json and --format {format_} exclude each other", "leave one out", ExitCode.BAD_INPUT)
    return type(format_)("json") if as_json else format_
