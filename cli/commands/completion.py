"""`matrix completion`: what a shell needs to complete commands, options, runs and cells."""

from enum import StrEnum
from typing import Annotated

import typer


class Shell(StrEnum):
    """The shells that typer has a script for, of those that run where we do."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


PROGRAM = "matrix"
# What typer reads which shell asks from; also in the script that it makes.
VARIABLE = "_MATRIX_COMPLETE"


def completion(
    shell: Annotated[Shell, typer.Argument(metavar="SHELL", help="bash, zsh or fish.")],
) -> None:
    """Print the script for shell completion.

    It completes commands, options, runs and cells.

    For this terminal: source <(matrix completion bash), or in fish: matrix completion fish | source
    For all of them: put that line into ~/.bashrc; for zsh into ~/.zshrc, below compinit; for fish into config.fish.

    Example: matrix completion bash
    """
    # typer (pinned) offers its scripts only by an option that would write into files of the user.
    from typer._completion_shared import get_completion_script

    print(get_completion_script(prog_name=PROGRAM, complete_var=VARIABLE, shell=shell.value))
