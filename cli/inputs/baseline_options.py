"""The options by which `matrix compare` sets, lists and deletes baselines: names of runs for later comparisons."""

import re
from dataclasses import dataclass
from typing import Annotated

import typer

from cli.inputs import completing
from cli.messages import terminal
from cli.messages.errors import CommandError, ExitCode
from cli.tables import rich_tables
from cli.target import baselines, summaries
from cli.target.place import Place
from cli.target.run_folders import lasting
from matrix.tables.table import Table, TableColumn
from matrix.terms.keys import RUN_PATTERN
from matrix.terms.quantities import instant

SetBaseline = Annotated[
    str | None,
    typer.Option(
        "--set-baseline",
        metavar="NAME",
        help="Do not compare: name the run BASE, for later comparisons and schedules.",
        autocompletion=completing.baseline_names,
    ),
]
ListBaselines = Annotated[bool, typer.Option("--baselines", help="Do not compare: list the baselines.")]
DeleteBaseline = Annotated[
    str | None,
    typer.Option(
        "--delete-baseline",
        metavar="NAME",
        help="Do not compare: delete a baseline; its run stays.",
        autocompletion=completing.baseline_names,
    ),
]


@dataclass(frozen=True)
class Asked:
    """What the options ask for."""

    set_: str | None
    is_list: bool
    delete: str | None

    @property
    def options(self) -> list[str]:
        """The options that are given."""
        given = {"--set-baseline": self.set_ is not None, "--baselines": self.is_list}
        given["--delete-baseline"] = self.delete is not None
        return [option for option, is_given in given.items() if is_given]

    def answer(self, runs: list[str], place: Place, *, as_json: bool) -> None:
        """Set, list or delete; `runs` are those that the command line names."""
        if len(self.options) > 1:
            message = f"{' and '.join(self.options)} exclude each other"
            raise CommandError(message, "use one at a time", ExitCode.BAD_INPUT)
        if len(runs) != (self.set_ is not None):
            takes = "one run" if self.set_ is not None else "no run"
            advice = "`matrix compare RUN --set-baseline NAME`, `--baselines` or `--delete-baseline NAME`"
            raise CommandError(f"{self.options[0]} takes {takes}, got {len(runs)}", advice, ExitCode.BAD_INPUT)
        if self.set_ is not None:
            _set(self.set_, runs[0], place, as_json=as_json)
        elif self.delete is not None:
            _delete(self.delete, place, as_json=as_json)
        else:
            _list(place, as_json=as_json)


def _set(name: str, run: str, place: Place, *, as_json: bool) -> None:
    if not re.fullmatch(RUN_PATTERN, name):
        advice = "write 1 to 80 of A-Z, a-z, 0-9, _ and -, not beginning with -"
        raise CommandError(f"{name!r} cannot be the name of a baseline", advice, ExitCode.BAD_INPUT)
    found = summaries.find(run, place)
    summary = found.summary
    shelf = lasting(found.store)
    before = baselines.put(shelf, name, summary["run"], summary["name"])
    if as_json:
        terminal.print_json(baselines.get(shelf, name))
        return
    changed = f" (before: {before['run']})" if before and before["run"] != summary["run"] else ""
    console = terminal.stdout()
    terminal.print_wrapped(console, f"baseline {name} of {shelf.name} is {summary['run']} now{changed}")


def _list(place: Place, *, as_json: bool) -> None:
    """Without --local, --stack or --region those of this machine where it has runs, else those of the stack."""
    shelf = place.shelf()
    listed = baselines.all_of(shelf)
    if as_json:
        terminal.print_json(listed)
    elif listed:
        heads = (TableColumn("Baseline", "id"), TableColumn("Run", "id"), "Matrix", "Set")
        rows = [(each["name"], each["run"], each["matrix"], instant(each["set_at"])) for each in listed]
        rich_tables.show(terminal.stdout(), Table.of("", heads, rows))
    else:
        terminal.stderr().print(f"{shelf.name} has no baseline yet: {baselines.SETTING.format(name='NAME')}")


def _delete(name: str, place: Place, *, as_json: bool) -> None:
    shelf = place.shelf()
    baselines.delete(shelf, name)
    if as_json:
        terminal.print_json({"deleted": name})
    else:
        terminal.stdout().print(f"baseline {name} of {shelf.name} is deleted; its run stays")
