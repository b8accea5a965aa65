"""`matrix new`: a matrix to begin with, by questions or by options."""

import contextlib
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

import typer

from cli.commands.plan import report_problems
from cli.inputs import options, planning
from cli.messages import terminal
from cli.messages.errors import CommandError, ExitCode
from cli.tables import plan_tables
from matrix.terms.quantities import rough_duration

# Written beside the matrix, whose first line names it.
SCHEMA = "matrix.schema.json"
NAME, STORAGES, COUNTS, REPETITIONS = "my-matrix", "ebs,efs", "1,10", "3"


def new(
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="Where to write it (default: NAME.json), or - for stdout.")
    ] = None,
    name: Annotated[str | None, typer.Option("--name", metavar="NAME", help=f"Its name (default: {NAME}).")] = None,
    storage: Annotated[
        str | None, typer.Option("--storage", metavar="TYPES", help=f"Types of storage (default: {STORAGES}).")
    ] = None,
    workload: Annotated[
        str | None, typer.Option("--workload", metavar="TYPES", help="Types of workload (default: touch, or read).")
    ] = None,
    instance_type: Annotated[
        str | None, typer.Option("--instance-type", metavar="TYPE", help="EC2 instance type (default: m6i.large).")
    ] = None,
    count: Annotated[
        str | None, typer.Option("--count", metavar="NUMBERS", help=f"Sizes of the fleet (default: {COUNTS}).")
    ] = None,
    repetitions: Annotated[
        str | None,
        typer.Option("--repetitions", metavar="NUMBER", help=f"How often to measure (default: {REPETITIONS})."),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Write a matrix for you to edit.

    It asks for what you leave out; a script gets the defaults. The matrix passes `matrix plan`, and its cost is shown.
    Separate several types or numbers by commas. --json prints the file's path, its time and its cost; not with -, which
    prints the matrix.

    Example: matrix new small-files.json --storage ebs,efs --workload touch --count 1,10
    """
    if as_json and file == planning.STDIN:
        raise CommandError("both - and --json want stdout", "leave one out: the matrix is JSON", ExitCode.BAD_INPUT)
    # The models need pydantic: a quarter of a second for which `matrix --help` must not wait.
    from cli.inputs import starting

    draft = starting.Draft()
    draft.name = _answer(name, "What shall it be called?", NAME, lambda words: draft.problems("name", words))
    _explain("Storages", starting.storage_kinds(), storage)
    draft.storages = _listed(
        _answer(storage, "Which of these, separated by commas?", STORAGES,
                lambda words: draft.problems("storages", _listed(words)))
    )  # fmt: skip
    _explain("Workloads", starting.workload_kinds(), workload)
    draft.workloads = _listed(
        _answer(workload, "What shall be done on them?", starting.usual_workload(draft.storages),
                lambda words: draft.problems("workloads", _listed(words)))
    )  # fmt: skip
    draft.instance_type = _answer(
        instance_type, "On which instance type?", starting.usual_instance_type(draft.storages),
        lambda words: draft.problems("instance_type", words),
    )  # fmt: skip
    draft.counts = _numbers(
        "--count",
        _answer(count, "On how many instances at once?", COUNTS,
                lambda words: _no_numbers(words) or draft.problems("counts", _numbers("--count", words))),
    )  # fmt: skip
    [draft.repetitions] = _numbers(
        "--repetitions",
        _answer(repetitions, "How often is it measured?", REPETITIONS,
                lambda words: _no_numbers(words) or draft.problems("repetitions", _numbers("--repetitions", words)[0])),
    )[:1]  # fmt: skip
    path = file or Path(f"{draft.name}.json")
    text = starting.text(draft.document(schema=SCHEMA if path != planning.STDIN else None))
    try:
        planned = planning.plan_text(text.encode(), None)
    except planning.BadMatrix as bad:
        report_problems(path, bad, as_json)
        raise typer.Exit(ExitCode.BAD_INPUT) from None
    _write(path, text)
    if path != planning.STDIN:
        _write_schema(path.with_name(SCHEMA))
    totals = planned.plan["totals"]
    console = terminal.stderr()
    takes = f"{totals['cells']} cells, about {rough_duration(totals['expected_s'])}"
    terminal.print_wrapped(console, f"{takes}, {plan_tables.cost_sentence(planned.plan)} on AWS")
    if as_json:
        measured = {name: totals[name] for name in ("cells", "expected_s", "cost_usd")}
        terminal.print_json({"matrix": str(path), "schema": str(path.with_name(SCHEMA)), **measured})
    if path != planning.STDIN:
        beside = f" and {SCHEMA}, by which editors complete it"
        terminal.print_wrapped(console, f"Written: {path}{beside}. Next: matrix plan {path}")
        terminal.print_wrapped(console, f"         try it on this machine: matrix run {path} --local")


def _answer(option: str | None, question: str, usual: str, problems: Callable[[str], Sequence[str]]) -> str:
    """Return the value of an option, else the user's answer, else the default.

    An answer that has `problems` is requested again with them, so earlier answers are not lost.
    """
    if option is not None or not _can_be_asked():
        return usual if option is None else option
    while True:
        answer = str(typer.prompt(question, default=usual, err=True)).strip()
        wrong = problems(answer)
        if not wrong:
            return answer
        for line in wrong:
            terminal.print_wrapped(terminal.stderr(), f"  {line}")


def _no_numbers(answer: str) -> list[str]:
    try:
        _numbers("it", answer)
    except CommandError as error:
        return [f"{answer!r} is not a number: {error.advice}"]
    return []


def _can_be_asked() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


def _explain(title: str, kinds: dict[str, str], option: str | None) -> None:
    if option is None and _can_be_asked():
        console = terminal.stderr()
        console.print(f"{title}:")
        for kind, words in kinds.items():
            terminal.print_wrapped(console, f"  {kind:<20} {words}")


def _listed(answer: str) -> list[str]:
    return [word.strip() for word in answer.split(",") if word.strip()]


def _numbers(option: str, answer: str) -> list[int]:
    words = _listed(answer)
    if not words or not all(word.isascii() and word.isdecimal() for word in words):
        raise CommandError(f"{option}: {answer!r} is not a number", "for example 1,10", ExitCode.BAD_INPUT)
    return [int(word) for word in words]


def _write_schema(path: Path) -> None:
    """Write the schema that the matrix names beside it, for completion in editors; an existing file stays."""
    from matrix.check.schema import schema_text

    with contextlib.suppress(FileExistsError), path.open("x", encoding="utf-8") as opened:
        opened.write(schema_text())


def _write(path: Path, text: str) -> None:
    if path == planning.STDIN:
        typer.echo(text, nl=False)
        return
    try:
        with path.open("x", encoding="utf-8") as opened:
            opened.write(text)
    except FileExistsError:
        raise CommandError(f"{path} is there already", "give another FILE, or remove it", ExitCode.BAD_INPUT) from None
