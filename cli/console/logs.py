"""The end of an instance log for the browser, with a limit on its size."""

from collections import deque

from typing_extensions import TypedDict

from cli.console.sources import Source
from cli.target.unzipping import LARGEST_ZIPPED_BYTES, Unzipped
from matrix.terms.printable import printable

LINES = 500
LONGEST_LINE = 20_000


class InstanceLog(TypedDict):
    """The last lines."""

    lines: list[str]
    note: str


def instance_lines(source: Source, run: str, cell: str, instance: str) -> InstanceLog:
    """Return the last lines of an instance's log. It uploads one when it ends."""
    below = f"cells/{cell}/instances/"
    names = [name for name, _ in source.traces.listing(run, below)]
    name = next((name for name in names if name.partition("/")[0].endswith(f":{instance}") and _is_log(name)), None)
    stored = source.commands.content(run, f"{below}{name}", LARGEST_ZIPPED_BYTES + 1) if name else None
    if stored is None:
        return {"lines": [], "note": "an instance uploads its log when it ends"}
    unzipped, number = Unzipped(stored), 0
    last: deque[str] = deque(maxlen=LINES)
    for line in unzipped.lines():
        last.append(printable(line[:LONGEST_LINE]))
        number += 1
    cut = f"the last {LINES} of {number:,} lines" if number > LINES else ""
    problem = f"the log {unzipped.problem}" if unzipped.problem else ""
    return {"lines": list(last), "note": "; ".join(filter(None, [cut, problem]))}


def _is_log(name: str) -> bool:
    return name.partition("/")[2] == "log.gz"
