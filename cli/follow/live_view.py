"""The live view of a run: an overall bar with time and cost, and a line for each storage."""

from collections.abc import Iterable

from rich.console import Console, Group, RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from cli.follow.progress import NOT_MEASURED, STOPPED, CellProgress, RunProgress, describe_time
from matrix.terms.grouping import grouped
from matrix.terms.quantities import rough_duration

STYLES = {
    **dict.fromkeys(("measured", "gone", "SUCCEEDED"), "green"),
    **dict.fromkeys(("failed", "FAILED", "ABORTED", "TIMED_OUT", "unreadable"), "red"),
    **dict.fromkeys(("running", "measuring", "RUNNING"), "cyan"),
    **dict.fromkeys(("planned", NOT_MEASURED, "skipped"), "dim"),
}
COUNT_WIDTH = 8
NARROWEST_NAME = 16
# Lines of the terminal that are not storages: head, bar, time, "more", lines above the view and the prompt.
SHOWN_ERRORS = 2
OTHER_LINES = 8 + SHOWN_ERRORS


def render(progress: RunProgress, console: Console, now: float, environment: str) -> RenderableType:
    """Draw one moment of a run."""
    is_local = environment == "local"
    parts: list[RenderableType] = [
        _head(progress, environment),
        _bar(progress, now),
        _time_and_cost(progress, now, is_local=is_local),
    ]
    if progress.cells:
        parts.append(_storages(progress, console))
    return Group(*parts, *_errors(progress))


def _errors(progress: RunProgress) -> list[Text]:
    """List the latest failures, one line each, so that the user can stop a run that cannot succeed."""
    failed = sorted((cell for cell in progress.cells if cell.error), key=lambda cell: cell.finished_at or 0.0)
    alike = grouped((cell.error, cell) for cell in failed)
    lines = [
        f"{progress.name_of(cells[0]) if len(cells) == 1 else f'{len(cells)} cells'}: {why}"
        for why, cells in alike.items()
    ]
    lines += [
        f"{progress.name_of_storage(system.id)}: {system.error}" for system in progress.file_systems if system.error
    ]
    return [Text(line, "red", no_wrap=True, overflow="ellipsis") for line in lines[-SHOWN_ERRORS:]]


def _head(progress: RunProgress, environment: str) -> Text:
    status = progress.execution.status
    where = "local cloud, not AWS" if environment == "local" else "AWS"
    words = Text.assemble(
        ("Run ", "bold"), progress.execution.run, "  ", (status, STYLES.get(status, "")), "  ", (where, "dim")
    )
    words.no_wrap, words.overflow = True, "ellipsis"
    return words


def _bar(progress: RunProgress, now: float) -> RenderableType:
    fraction = progress.fraction(now)
    grid = Table.grid(padding=(0, 1), expand=True)
    grid.add_column(ratio=1)
    grid.add_column(justify="right", no_wrap=True)
    grid.add_row(ProgressBar(total=1, completed=fraction), f"{fraction:4.0%}  {progress.counts()}")
    return grid


def _time_and_cost(progress: RunProgress, now: float, *, is_local: bool) -> Text:
    """Format elapsed time, time left and cost so far; a local run is free, so its cost is the estimate for AWS."""
    words = [describe_time(progress, now)]
    # Plans estimate durations on AWS, not of local runs.
    if progress.expected_s and progress.left_s(now) is None and not is_local:
        words[0] += f" of about {rough_duration(progress.expected_s)}"
    if progress.cost:
        words.append(f"$0 here (on AWS {progress.cost})" if is_local else progress.cost)
    return Text("  ".join(words), "dim", no_wrap=True, overflow="ellipsis")


def _storages(progress: RunProgress, console: Console) -> RenderableType:
    """Draw a line for each storage: how many of its cells have ended, and its running cell or its latest figure."""
    cells = by_file_system(progress.cells)
    states = {system.id: system.state for system in progress.file_systems}
    # The head of the view says where it runs.
    names = [progress.name_of_storage(system) for system in cells]
    width = max(NARROWEST_NAME, min(max(map(len, names)), 2 * console.width // 5))
    drawn: list[Text] = []
    lines = list(zip(cells.items(), names, strict=True))
    # If the terminal is too short, show running storages first, then planned ones, in the plan's order.
    room = max(3, console.height - OTHER_LINES)
    shown = sorted(sorted(range(len(lines)), key=lambda at: _rank(lines[at][0][1]))[:room])
    for at in shown:
        (system, own), name = lines[at]
        ended = sum(cell.has_ended for cell in own)
        line = Text(no_wrap=True, overflow="ellipsis")
        line.append(f"{shorten(name, width):<{width}}  ", "bold")
        line.append(f"{f'{ended} of {len(own)}':<{COUNT_WIDTH}}")
        drawn.append(line.append_text(_news(own, states.get(system, "planned"))))
    hidden = len(lines) - len(shown)
    return Group(*drawn, *([Text(f"and {hidden} more storages", "dim")] if hidden else []))


def _rank(cells: list[CellProgress]) -> int:
    """Return 0 for a storage that is being measured, 1 for a planned one, 2 for a finished one."""
    if any(_is_under_way(cell) for cell in cells):
        return 0
    return 2 if all(cell.has_ended for cell in cells) else 1


def _is_under_way(cell: CellProgress) -> bool:
    return not cell.has_ended and cell.state not in ("planned", NOT_MEASURED, STOPPED)


def _news(cells: list[CellProgress], state: str) -> Text:
    """Write the running cell, the latest figure, and how many cells failed; else the state of the storage."""
    words = Text()
    for cell in filter(_is_under_way, cells):
        # The least important stands last: a narrow terminal cuts it off.
        now = ", ".join(filter(None, [cell.live, cell.describe_state(), cell.describe_points()]))
        words.append(f"{short_name(cell)}: {now}  ", "cyan")
    measured = [cell for cell in cells if cell.measured]
    if measured:
        last = max(measured, key=lambda cell: cell.finished_at or 0.0)
        latest = "" if last.measured is None else f"P50 {last.measured.p50}, n {last.measured.n}"
        words.append(f"{latest} ({short_name(last)})  ", "green")
    if failed := sum(cell.state == "failed" for cell in cells):
        words.append(f"{failed} failed", "red")
    return words if words.plain else _state(state)


def _state(state: str) -> Text:
    return Text(state, STYLES.get(state, ""))


def short_name(cell: CellProgress) -> str:
    """Name a cell by workload and fleet; one without a plan by its id without its file system's."""
    return cell.fleet or cell.id.removeprefix(f"{cell.file_system}.")


def by_file_system(cells: Iterable[CellProgress]) -> dict[str, list[CellProgress]]:
    """Group cells by file system, in the order of the plan."""
    groups: dict[str, list[CellProgress]] = {}
    for cell in cells:
        groups.setdefault(cell.file_system, []).append(cell)
    return groups


def shorten(name: str, width: int) -> str:
    """Shorten a name in its middle: names of cells differ at both ends."""
    if len(name) <= width:
        return name
    head = (width - 1) // 2
    return f"{name[:head]}…{name[len(name) - (width - 1 - head) :]}"
