"""`matrix new`: a matrix to begin with, by questions or by options."""

import contextlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.commands.plan import report_problems
from cli.inputs import options, planning
from cli.messages import terminal
from cli.messages.errors import CommandError, ExitCode
from cli.tables import plan_tables
from matrix.terms.documents.parts import Part
from matrix.terms.quantities import count_of, rough_duration

if TYPE_CHECKING:
    from cli.inputs.starting import Draft
    from matrix.terms.documents.parts import Part

# Written beside the matrix, whose first line names it.
SCHEMA = "matrix.schema.json"
NAME, STORAGES, COUNTS, REPETITIONS = "my-matrix", "ebs,efs", "1,10", "3"
SECONDS = "60"
# A question is asked again after this, with more words.
MORE = "?"


def new(
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="Where to write it (default: NAME.json), or - for stdout.")
    ] = None,
    name: Annotated[str | None, typer.Option("--name", metavar="NAME", help=f"Its name (default: {NAME}).")] = None,
    storage: Annotated[
        str | None, typer.Option("--storage", metavar="TYPES", help=f"Types of storage (default: {STORAGES}).")
    ] = None,
    workload: Annotated[
        str | None, typer.Option("--workload", metavar="TYPES", help="Types of workload (default: touch, or read).")
    ] = None,
    command: Annotated[
        str | None, typer.Option("--command", metavar="COMMAND", help="Your own command: implies --workload command.")
    ] = None,
    prepare: Annotated[
        str | None, typer.Option("--prepare", metavar="COMMAND", help="What runs before it, without being timed.")
    ] = None,
    seconds: Annotated[
        str | None, typer.Option("--seconds", metavar="NUMBER", help=f"How long it takes (default: {SECONDS}).")
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
    job_file: Annotated[
        Path | None, typer.Option("--from", metavar="JOB.FIO", help="A fio job file: its sections are the workload.")
    ] = None,
    values: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A variable of this file, or an option of all its jobs."),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Write a matrix for you to edit.

    It asks for what you leave out; a script gets the defaults. The matrix passes `matrix plan`, and its cost is shown.
    Separate several types or numbers by commas. --json prints the file's path, its time and its cost; not with -, which
    prints the matrix.

    Example: matrix new unpack.json --storage ebs,efs --command "tar xf /usr/src/linux.tar" --count 1,10
    """
    if as_json and file == planning.STDIN:
        raise CommandError("both - and --json want stdout", "leave one out: the matrix is JSON", ExitCode.BAD_INPUT)
    # The models need pydantic: a quarter of a second for which `matrix --help` must not wait.
    from cli.inputs import starting

    draft = starting.Draft()
    draft.name = _answer(
        name, "Name of the matrix", NAME, lambda words: draft.problems("name", words), "a-z, 0-9 and -: for files, ids"
    )
    storages = _explained("Storage types", starting.storage_kinds(), storage)
    draft.storages = _listed(
        _answer(storage, "Which of these, separated by commas?", STORAGES,
                lambda words: draft.problems("storages", _listed(words, [*starting.storage_kinds()])), storages),
        [*starting.storage_kinds()],
    )  # fmt: skip
    if job_file:
        if workload is not None or command is not None:
            raise CommandError("--from is the workload, and so is another option", "leave one out", ExitCode.BAD_INPUT)
        draft.given = _of_job_file(job_file, values or [])
    else:
        _choose_workloads(draft, workload, command, prepare, seconds)
    machine = starting.usual_instance_type(draft.storages)
    draft.instance_type = _answer(
        instance_type, f"Which EC2 instance type? ({machine}: {starting.describe_machine(machine)})", machine,
        lambda words: draft.problems("instance_type", words), "all types: https://aws.amazon.com/ec2/instance-types/",
    )  # fmt: skip
    draft.counts = _numbers(
        "--count",
        _answer(count, "How many instances at once? Several sizes by commas", COUNTS,
                lambda words: _no_numbers(words) or draft.problems("counts", _numbers("--count", words)),
                "each size is measured on each storage with instances of its own"),
    )  # fmt: skip
    [draft.repetitions] = _numbers(
        "--repetitions",
        _answer(repetitions, "How many repetitions?", REPETITIONS,
                lambda words: _no_numbers(words) or draft.problems("repetitions", _numbers("--repetitions", words)[0]),
                "a difference can be shown from 3 on; more give narrower intervals"),
    )[:1]  # fmt: skip
    path = file or Path(f"{draft.name}.json")
    text = starting.text(draft.document(schema=SCHEMA if path != planning.STDIN else None))
    try:
        planned = planning.plan_text(text.encode(), None)
    except planning.BadMatrix as bad:
        report_problems(path, bad, as_json)
        raise typer.Exit(ExitCode.BAD_INPUT) from None
    totals = planned.plan["totals"]
    console = terminal.stderr()
    takes = f"{count_of(totals['cells'], 'cell')}, about {rough_duration(totals['expected_s'])}"
    terminal.print_wrapped(console, f"{takes}, {plan_tables.cost_sentence(planned.plan)} on AWS")
    _write(path, text)
    if path == planning.STDIN:
        return
    _write_schema(path.with_name(SCHEMA))
    if as_json:
        measured = {name: totals[name] for name in ("cells", "expected_s", "cost_usd")}
        terminal.print_json({"matrix": str(path), "schema": str(path.with_name(SCHEMA)), **measured})
    lines = ["Written:", f"  {path}", f"  {path.with_name(SCHEMA)} (editors complete fields by it)"]
    for line in [*lines, "Next:", f"  matrix plan {path}", f"  matrix run {path} --local"]:
        console.print(line, soft_wrap=True)


def _own_command(draft: "Draft", command: str | None, prepare: str | None, seconds: str | None) -> Part:
    """Return the fields of the user's command by options and answers; empty if it is the example."""
    from cli.inputs import starting

    example = starting.WORKLOADS[starting.COMMAND]["command"]

    command = _answer(
        command, "Which command? It runs on each instance, in an empty folder on the storage", example,
        lambda words: draft.problems("own", starting.own_command(words, "", int(SECONDS))),
        "a shell command, which is timed; $JOBS is the number of processors",
    )  # fmt: skip
    if command == example:
        return {}
    prepare = _answer(prepare, "What runs before it, not timed? (Enter: nothing)", "", lambda _: [],
                      "for example git clone … or the making of its files")  # fmt: skip
    seconds = _answer(seconds, "About how many seconds does it take?", SECONDS, _no_numbers,
                      "for the cost and the deadline; the result has the real time")  # fmt: skip
    return starting.own_command(command, prepare, _numbers("--seconds", seconds)[0])


def _of_job_file(path: Path, values: Sequence[str]) -> "Part":
    """Return the workload of a fio job file, and print which of its lines change."""
    from cli.inputs import starting

    given = dict(value.partition("=")[::2] for value in values)
    workload, changes = starting.of_job_file(planning.read(path).decode(errors="replace"), path.parent, given)
    for line in changes:
        terminal.print_wrapped(terminal.stderr(), f"Changed: {line}")
    return workload


def _choose_workloads(
    draft: "Draft", workload: str | None, command: str | None, prepare: str | None, seconds: str | None
) -> None:
    from cli.inputs import starting

    if command is not None:
        workload = ",".join(filter(None, [workload, starting.COMMAND]))
    kinds = [*starting.workload_kinds()]
    workloads = _explained("Workloads", starting.workload_kinds(), workload)
    draft.workloads = _listed(
        _answer(workload, "Which workload?", starting.usual_workload(draft.storages),
                lambda words: draft.problems("workloads", _listed(words, kinds)), workloads),
        kinds,
    )  # fmt: skip
    if starting.COMMAND in draft.workloads:
        draft.own = _own_command(draft, command, prepare, seconds)


def _answer(option: str | None, question: str, usual: str, problems: Callable[[str], Sequence[str]], more: str) -> str:
    """Return the value of an option, else the user's answer, else the default.

    An answer that has `problems` is requested again with them, so earlier answers are not lost; `?` shows `more`.
    """
    if option is not None or not terminal.can_ask():
        return usual if option is None else option
    while True:
        answer = str(typer.prompt(question, default=usual, err=True, show_default=bool(usual))).strip()
        wrong = more.splitlines() if answer == MORE else problems(answer)
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


def _explained(title: str, kinds: dict[str, str], option: str | None) -> str:
    """Show the types that can be chosen, numbered; return them as text."""
    lines = [f"{number:>2}  {kind:<20} {words}" for number, (kind, words) in enumerate(kinds.items(), start=1)]
    if option is None and terminal.can_ask():
        console = terminal.stderr()
        console.print(f"{title}:")
        for line in lines:
            terminal.print_wrapped(console, f"  {line}")
    return "\n".join(lines)


def _listed(answer: str, kinds: Sequence[str] = ()) -> list[str]:
    """Return the words between commas; a number stands for one of `kinds`, counted from 1."""
    words = [word.strip() for word in answer.split(",") if word.strip()]
    numbers = {str(number): kind for number, kind in enumerate(kinds, start=1)}
    return [numbers.get(word, word) for word in words]


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
