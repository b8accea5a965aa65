"""`matrix completion`: the script with which a shell completes commands, options, runs and cells."""

from enum import StrEnum
from typing import Annotated

import typer


class Shell(StrEnum):
    """The shells that typer has a script for and that run on the supported systems."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


PROGRAM = "matrix"
# The variable by which typer recognises the asking shell; also in the script that it generates.
VARIABLE = "_MATRIX_COMPLETE"


def completion(
    shell: Annotated[Shell, typer.Argument(metavar="SHELL", help="bash, zsh or fish.")],
) -> None:
    """Print the script for shell completion.

    It completes commands, options, runs and cells.

    \b
    For this terminal:   source <(matrix completion bash)
    in fish:             matrix completion fish | source
    For all of them, put that line into ~/.bashrc; for zsh into ~/.zshrc, below
    compinit; for fish into config.fish.

    Example: matrix completion bash
    """
    # typer (pinned) offers its scripts only by an option that would write into files of the user.
    from typer._completion_shared import get_completion_script

    print(get_completion_script(prog_name=PROGRAM, complete_var=VARIABLE, shell=shell.value))
