"""The options that answer by themselves, without a command: --version, --schema and --completion."""

import platform
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer


class Shell(StrEnum):
    """The shells that typer has a script for and that run on the supported systems."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


TREE = Path(__file__).resolve().parents[2]
PROGRAM = "matrix"
# The variable by which typer recognises the asking shell; also in the script that it generates.
COMPLETION_VARIABLE = "_MATRIX_COMPLETE"


def _version() -> str:
    """Return the installed version and the folder of template.yaml and events/, as `pip --version` prints its own."""
    # Imported here: it imports email, socket and zipfile, 30 ms that no command needs.
    from importlib.metadata import PackageNotFoundError, version

    try:
        number = version("storage-matrix")
    except PackageNotFoundError:
        number = "(not installed)"
    return f"matrix {number} from {TREE} (Python {platform.python_version()})\n"


def _schema() -> str:
    from matrix.check.schema import schema_text

    return schema_text()


def _completion(shell: Shell) -> str:
    # typer (pinned) offers its scripts only by an option that would write into files of the user.
    from typer._completion_shared import get_completion_script

    return f"{get_completion_script(prog_name=PROGRAM, complete_var=COMPLETION_VARIABLE, shell=shell.value)}\n"


def _answering(text: Callable[..., str], *names: str, **how: Any) -> Any:
    """Return an option that prints a text and ends the command; what it is given is given to `text`, but for a flag."""

    def answer(given: Any) -> None:
        if given:
            typer.echo(text() if given is True else text(given), nl=False)
            raise typer.Exit

    return typer.Option(*names, callback=answer, is_eager=True, **how)


Version = Annotated[bool, _answering(_version, "--version", help="Show the version and end.")]
Schema = Annotated[
    bool, _answering(_schema, "--schema", help="Print the JSON Schema of a matrix, for editors, and end.")
]
Completion = Annotated[
    Shell | None,
    _answering(
        _completion,
        "--completion",
        metavar="SHELL",
        help="Print the script with which bash, zsh or fish completes commands, and end.",
    ),
]
