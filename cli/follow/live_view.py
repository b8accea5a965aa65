"""The live view of a run: an overall bar and a table of file systems and their cells that fits the terminal."""

from collections.abc import Iterable

from rich.console import Console, Group, RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from cli.follow.progress import ENDED_CELLS, NOT_MEASURED, CellProgress, RunProgress
from matrix.terms.figures import rough_duration

STYLES = {
    **dict.fromkeys(("measured", "gone", "SUCCEEDED"), "green"),
    **dict.fromkeys(("failed", "FAILED", "ABORTED", "TIMED_OUT", "unreadable"), "red"),
    **dict.fromkeys(("running", "measuring", "RUNNING"), "cyan"),
    **dict.fromkeys(("planned", NOT_MEASURED, "skipped"), "dim"),
}
# Characters of the table's other columns, with their gaps; the cell's name gets the rest.
STATE_WIDTH, TIME_WIDTH, INSTANCES_WIDTH, STEP_WIDTH, GAPS = 12, 16, 14, 8, 10
LOCAL_TIME_WIDTH = 7
NARROWEST_CELL = 16
# Lines of the terminal that are not cells: head, bar, table head, "more", lines above the view and the prompt.
SHOWN_ERRORS = 2
OTHER_LINES = 8 + SHOWN_ERRORS


def render(progress: RunProgress, console: Console, now: float, environment: str) -> RenderableType:
    """Draw one moment of a run."""
    is_local = environment == "local"
    parts: list[RenderableType] = [_head(progress, environment), _bar(progress, now, is_local)]
    if progress.cells:
        parts.append(_cells(progress, console, now, is_local))
    return Group(*parts, *_errors(progress))


def _errors(progress: RunProgress) -> list[Text]:
    """List the latest failures, a line each, so that nobody waits for a run that cannot succeed."""
    failed = sorted((cell for cell in progress.cells if cell.error), key=lambda cell: cell.finished_at or 0.0)
    lines = [f"{cell.id}: {cell.error.replace(f'{cell.id}: ', '')}" for cell in failed]
    lines += [f"{system.id}: {system.error}" for system in progress.file_systems if system.error]
    return [Text(line, "red", no_wrap=True, overflow="ellipsis") for line in lines[-SHOWN_ERRORS:]]


def _head(progress: RunProgress, environment: str) -> Text:
    status = progress.execution.status
    where = "local cloud, not AWS" if environment == "local" else "AWS"
    words = Text.assemble(
        ("Run ", "bold"), progress.execution.run, "  ", (status, STYLES.get(status, "")), "  ", (where, "dim")
    )
    words.no_wrap, words.overflow = True, "ellipsis"
    return words


def _bar(progress: RunProgress, now: float, is_local: bool) -> RenderableType:
    counts = f"{progress.count('measured')} of {len(progress.cells)} cells measured"
    if progress.count("failed"):
        counts += f", {progress.count('failed')} failed"
    if progress.count("skipped"):
        counts += f", {progress.count('skipped')} skipped"
    times = rough_duration(progress.elapsed_s(now))
    if progress.expected_s and not is_local:
        times += f" of about {rough_duration(progress.expected_s)}"
    fraction = progress.fraction(now)
    grid = Table.grid(padding=(0, 1), expand=True)
    grid.add_column(ratio=1)
    grid.add_column(justify="right", no_wrap=True)
    grid.add_row(ProgressBar(total=1, completed=fraction), f"{fraction:4.0%}  {counts}  {times}")
    return grid


def _cells(progress: RunProgress, console: Console, now: float, is_local: bool) -> RenderableType:
    """Draw the cells below their file systems."""
    names = {cell.id: short_name(cell) for cell in progress.cells}
    # Plans are made for AWS: what a cell would take there says nothing of how long it takes here.
    time_width = LOCAL_TIME_WIDTH if is_local else TIME_WIDTH
    figures_width = max([INSTANCES_WIDTH, *(len(cell.measured.p50) for cell in progress.cells if cell.measured)])
    fixed = STATE_WIDTH + time_width + figures_width + STEP_WIDTH + GAPS
    longest = max(map(len, [*names.values(), *(cell.file_system for cell in progress.cells)]))
    name_width = max(NARROWEST_CELL, min(longest, console.width - fixed))
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold", pad_edge=False)
    table.add_column("File system, cell", width=name_width, no_wrap=True)
    table.add_column("State", width=STATE_WIDTH, no_wrap=True)
    table.add_column("Time" if is_local else "Time/expected", width=time_width, no_wrap=True)
    table.add_column("Instances/P50", min_width=figures_width, no_wrap=True)
    table.add_column("Step/n", width=STEP_WIDTH, no_wrap=True)
    states = {system.id: system.state for system in progress.file_systems}
    shown, hidden = choose(progress.cells, max(3, console.height - OTHER_LINES))
    for system, cells in by_file_system(shown).items():
        table.add_row(Text(shorten(system, name_width), "bold"), _state(states.get(system, "planned")))
        for cell in cells:
            name = shorten(names[cell.id], name_width)
            last = (cell.instance_words(), cell.step_words())
            if cell.measured:
                last = (cell.measured.p50, cell.measured.n)
            table.add_row(name, _state(cell.state), _time(cell, now, is_local=is_local), *last)
    return Group(table, Text(hidden_words(hidden), "dim")) if hidden else table


def _state(state: str) -> Text:
    return Text(state, STYLES.get(state, ""))


def short_name(cell: CellProgress) -> str:
    """Shorten a cell's id by its file system's, which stands above it in the table."""
    return f"  {cell.id.removeprefix(f'{cell.file_system}.')}"


def by_file_system(cells: Iterable[CellProgress]) -> dict[str, list[CellProgress]]:
    """Group cells by file system, in the order of the plan."""
    groups: dict[str, list[CellProgress]] = {}
    for cell in cells:
        groups.setdefault(cell.file_system, []).append(cell)
    return groups


def _time(cell: CellProgress, now: float, *, is_local: bool) -> str:
    elapsed = cell.elapsed_s(now)
    if is_local:
        return "–" if elapsed is None else rough_duration(elapsed)
    expected = rough_duration(cell.expected_s)
    return f"{rough_duration(elapsed)} / {expected}" if elapsed is not None else f"– / {expected}"


def choose(cells: tuple[CellProgress, ...], lines: int) -> tuple[list[CellProgress], list[CellProgress]]:
    """Choose the cells that fit the lines: those under way, then failed, the latest ended, the next planned."""
    chosen: list[CellProgress] = []
    for cell in sorted(cells, key=_rank):
        # Each file system takes a line too.
        if len(chosen) + 1 + len(by_file_system([*chosen, cell])) > lines:
            break
        chosen.append(cell)
    names = {cell.id for cell in chosen}
    return [cell for cell in cells if cell.id in names], [cell for cell in cells if cell.id not in names]


def _rank(cell: CellProgress) -> tuple[int, float]:
    if cell.state not in (*ENDED_CELLS, "planned", NOT_MEASURED):
        return 0, 0.0
    if cell.state == "failed":
        return 1, 0.0
    return (3, 0.0) if cell.state in ("planned", NOT_MEASURED) else (2, -(cell.finished_at or 0.0))


def hidden_words(hidden: list[CellProgress]) -> str:
    """Say what the table leaves out: `and 12 more: 4 measured, 8 planned`."""
    states: dict[str, int] = {}
    for cell in hidden:
        states[cell.state] = states.get(cell.state, 0) + 1
    counts = ", ".join(f"{count} {state}" for state, count in sorted(states.items()))
    return f"and {len(hidden)} more: {counts}"


def shorten(name: str, width: int) -> str:
    """Shorten a name in its middle: names of cells differ at both ends."""
    if len(name) <= width:
        return name
    head = (width - 1) // 2
    return f"{name[:head]}…{name[len(name) - (width - 1 - head) :]}"
