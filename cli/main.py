"""The command `matrix`."""

import gc
import os
import re
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from cli.commands import baseline, local_up
from cli.commands.compare import compare
from cli.commands.completion import VARIABLE, completion
from cli.commands.costs import costs
from cli.commands.demo import demo
from cli.commands.explore import explore
from cli.commands.fit import fit
from cli.commands.history import history
from cli.commands.import_fio import import_fio
from cli.commands.import_logs import import_logs
from cli.commands.import_published import import_published
from cli.commands.logs import logs
from cli.commands.new import new
from cli.commands.observe import observe
from cli.commands.plan import plan
from cli.commands.reap import reap
from cli.commands.report import report
from cli.commands.results import results
from cli.commands.run import run
from cli.commands.runs import runs
from cli.commands.schema import schema
from cli.commands.stop import stop
from cli.commands.verify import verify
from cli.commands.version import show_version
from cli.commands.watch import watch
from cli.messages import terminal
from cli.messages.errors import CommandError, ExitCode
from cli.messages.explain import explain
from cli.target import documents, known_runs

# What one wants to do, with an example, and the commands for it; of `matrix --help`.
GROUPS = {
    "Start": (
        "matrix run events/local-demo.json --local",
        (demo, new, plan, verify, run),
    ),
    "Watch": (
        "matrix watch latest",
        (watch, logs, stop, runs),
    ),
    "Read": (
        "matrix results latest",
        (results, report, costs, observe, fit, import_fio, import_logs, import_published),
    ),
    "Compare": (
        "matrix compare baseline:nightly latest --threshold 10%",
        (compare, baseline.app, history, explore),
    ),
    "Clean up": (
        "matrix reap --dry-run --stack storage-matrix",
        (reap,),
    ),
    "Develop": (
        "matrix local up",
        (local_up.app, schema, completion),
    ),
}
MORE = """\b
`matrix COMMAND --help` has an example of each; --json prints the answer for
scripts. Exit codes: 0 good, 1 failed, 2 mistakes in the input, 3 interrupted,
4 measured, but no storage reaches the objective.
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
    """The commands by what one wants to do; an error of any of them is explained here."""

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

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 (click names it)
        """Write each group with its example and its commands, all in one column."""
        longest = max(map(len, self.commands))
        for title, (example, grouped) in GROUPS.items():
            with formatter.section(f"{title}, such as `{example}`"):
                names = map(_name, grouped)
                shown = [
                    (name.ljust(longest), self.commands[name].get_short_help_str(formatter.width)) for name in names
                ]
                formatter.write_dl(shown)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find a command; of one that there is not, name the nearest."""
        if self.get_command(ctx, args[0]) is None and not args[0].startswith("-"):
            near = known_runs.meant(args[0], self.commands) or "see them all: `matrix --help`"
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


# Commands that have commands of their own.
FAMILIES = {id(local_up.app): "local", id(baseline.app): "baseline"}


def _name(command: Any) -> str:
    return FAMILIES.get(id(command)) or command.__name__.replace("_", "-")


def _is_usage(error: Exception) -> bool:
    """Whether typer raised the error, for a command that was written wrongly; typer then shows it best."""
    return hasattr(error, "exit_code") and hasattr(error, "format_message")


def _show_version(is_wanted: bool) -> None:
    if is_wanted:
        show_version()
        raise typer.Exit


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
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and end.")
    ] = False,
) -> None:
    """Find out which AWS storage to use: a matrix of storages x workloads x fleets, measured on real instances."""


for _, commands in GROUPS.values():
    for command in commands:
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=_name(command))
        else:
            app.command()(command)


def main() -> None:
    """Run the command line; --debug may stand anywhere."""
    gc.set_threshold(*COLLECTED_AFTER)
    # A script may have closed them (`>&-`); Python then has none, and each print would fail.
    sys.stdout = sys.stdout or Path(os.devnull).open("w")  # noqa: SIM115 (open until the end)
    sys.stderr = sys.stderr or Path(os.devnull).open("w")  # noqa: SIM115
    terminal.escape_what_has_no_letter()
    if VARIABLE in os.environ:
        # A shell asks what to complete; typer knows shells only once it was told to.
        from typer._completion_classes import completion_init

        completion_init()
    arguments = sys.argv[1:]
    is_debug = "--debug" in arguments
    rest = [argument for argument in arguments if argument != "--debug"]
    app(["--debug", *rest] if is_debug else rest)
