"""The command `matrix`."""

import gc
import os
import re
import signal
import sys
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
import typer.main
from typer.core import TyperGroup

from cli.inputs.answering_options import COMPLETION_VARIABLE, Completion, Schema, Version
from cli.messages import terminal
from cli.messages.errors import CommandError, ExitCode
from cli.messages.explain import explain
from cli.target import documents, known_runs

# What one wants to do, with an example, and the commands for it; of `matrix --help`.
GROUPS = {
    "Start": ("matrix run events/local/first.json --local", ("demo", "new", "plan", "verify", "run")),
    "Watch": ("matrix watch latest", ("watch", "stop", "runs")),
    "Read": ("matrix results latest", ("results", "report", "compare")),
    "Clean up": ("matrix reap --dry-run --stack storage-matrix", ("reap",)),
    "More": ("matrix observe vol-0123456789abcdef0", ("import", "observe", "history", "logs")),
}
# `local up` is for programs that start executions themselves: no user needs it first.
NAMES = [*(name for _, names in GROUPS.values() for name in names), "local"]
# The name of a command is that of its module and function, but for these.
MODULES = {"local": "local_up", "import": "import_files"}
MORE = """\b
`matrix COMMAND --help` has an example of each; --json prints the answer for
scripts. Exit codes: 0 good, 1 failed, 2 mistakes in the input, 3 interrupted,
4 measured, but no storage reaches the objective.
`matrix local up` keeps the local cloud, for aws, sam and SDKs.
Documentation: docs/cli.md
"""


class Help(TyperGroup.context_class.formatter_class):  # type: ignore[name-defined,misc]
    """Help in which `FILE` is not `{FILE} <path>`, and a range is in words."""

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        """Write the arguments that a command needs without braces; dots behind one mean several."""
        super().write_usage(prog, re.sub(r"\{([^}…]*)…?\}", r"\1", args), prefix)

    def write_dl(self, rows: Sequence[tuple[str, str]], *args: Any, **how: Any) -> None:
        """Write names without Python's types; the values of a choice stay."""
        plain = [
            (
                re.sub(r"\[?(\S+?)…?\]? <(?:str|path|int range|list\[.*\])>$", r"\1", name),
                re.sub(r"(\d+)<=x<=(\d+)", r"\1 to \2", words),
            )
            for name, words in rows
        ]
        super().write_dl(plain, *args, **how)


# All commands have this context.
TyperGroup.context_class.formatter_class = Help


class Commands(TyperGroup):
    """The commands by what one wants to do, each imported when it is asked for; their errors are explained here."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 (click names it)
        return NAMES

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        return _command(cmd_name) if cmd_name in NAMES else None

    def invoke(self, ctx: Any) -> Any:
        """Run a command; it fails where it could not read a document, even where it showed all others."""
        damage = documents.start_of_command()
        try:
            outcome = self._explained(ctx)
        except typer.Exit as end:
            if end.exit_code or not damage:
                raise
        finally:
            for error in damage:
                terminal.say_error(error)
        if damage:
            raise typer.Exit(ExitCode.FAILED)
        return outcome

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write each group with its example and its commands, all in one column, before the options."""
        longest = max(map(len, NAMES))
        for title, (example, names) in GROUPS.items():
            with formatter.section(f"{title}, such as `{example}`"):
                formatter.write_dl(
                    [(name.ljust(longest), _command(name).get_short_help_str(formatter.width)) for name in names]
                )
        super().format_options(ctx, formatter)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """They stand before the options."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find a command; of one that there is not, name the nearest."""
        if self.get_command(ctx, args[0]) is None and not args[0].startswith("-"):
            options = [name for option in self.params for name in option.opts]
            near = known_runs.meant(args[0], [*NAMES, *options]) or "see them all: `matrix --help`"
            ctx.fail(f"there is no command {args[0]!r}; {near}")
        return super().resolve_command(ctx, args)

    def _explained(self, ctx: Any) -> Any:
        try:
            if callable(signal.getsignal(signal.SIGINT)):  # until here, Ctrl-C ended the process at once
                signal.signal(signal.SIGINT, signal.default_int_handler)
            return super().invoke(ctx)
        except (typer.Exit, typer.Abort):
            raise
        except BrokenPipeError:
            # The reader closed our output, as in `matrix results | head`: it has what it wanted, so nothing failed.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(ExitCode.MEASURED) from None
        except KeyboardInterrupt:
            terminal.say_error(CommandError("interrupted", "nothing goes on unless a run was said to have started"))
            raise typer.Exit(ExitCode.INTERRUPTED) from None
        except Exception as error:
            if ctx.params.get("debug") or _is_usage(error):
                raise
            failure = explain(error)
            terminal.say_error(failure)
            raise typer.Exit(failure.code) from None


@cache
def _command(name: str) -> Any:
    """Import a command: all of them together take longer than numpy and pydantic."""
    function = MODULES.get(name, name)
    module = import_module(f"cli.commands.{function}")
    family = getattr(module, "app", None)  # of commands below it
    if family is None:
        family = typer.Typer(add_completion=False, rich_markup_mode=None)
        family.command(name)(getattr(module, function))
    command = typer.main.get_command(family)
    command.name = name
    return command


def _is_usage(error: Exception) -> bool:
    """Whether typer raised the error, for a command that was written wrongly; typer then shows it best."""
    return hasattr(error, "exit_code") and hasattr(error, "format_message")


# The collector looks for circles after so many new objects, and at older ones after so many looks. Documents have no
# circles: with Python's 700, reading those of a large run took twice the time.
COLLECTED_AFTER = (200_000, 30, 30)

app = typer.Typer(
    name="matrix",
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=MORE,
)


@app.callback()
def matrix(
    debug: Annotated[bool, typer.Option("--debug", envvar="MATRIX_DEBUG", help="Show tracebacks of errors.")] = False,
    version: Version = False,
    schema: Schema = False,
    completion: Completion = None,
) -> None:
    """Find out which AWS storage to use: a matrix of storages x workloads x fleets, measured on real instances."""


def main() -> None:
    """Run the command line; --debug may stand anywhere."""
    gc.set_threshold(*COLLECTED_AFTER)
    # A script may have closed them (`>&-`); Python then has none, and each print would fail.
    sys.stdout = sys.stdout or Path(os.devnull).open("w")  # noqa: SIM115 (open until the end)
    sys.stderr = sys.stderr or Path(os.devnull).open("w")  # noqa: SIM115
    terminal.escape_what_has_no_letter()
    if COMPLETION_VARIABLE in os.environ:
        # A shell asks what to complete; typer knows shells only once it was told to.
        from typer._completion_classes import completion_init

        completion_init()
    arguments = sys.argv[1:]
    is_debug = "--debug" in arguments
    rest = [argument for argument in arguments if argument != "--debug"]
    app(["--debug", *rest] if is_debug else rest)
