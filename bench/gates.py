"""`python -m bench.gates`: a fleet's wait for a step, simulated in virtual time. Nothing here runs on AWS.

The protocol is that of agent/board/barrier.py, with its constants and those that plans give a job. S3 is a model with
lognormal times of a request (median and P99), which takes effect at one moment between its sending and its response.
Sometimes a response is lost, and the caller gives up after a second although its write took place. Clocks of instances
differ by 2 ms. Each fleet runs a number of steps, after which its instances are ready at different times.
"""

from __future__ import annotations

import argparse
import heapq
import itertools
import math
import random
import sys
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "functions")]

from contract.gates import SELDOM_S, STANDBY_S, STANDBYS  # noqa: E402 - found by the path above
from matrix.input.pace import GATE_MARGIN_S  # noqa: E402
from matrix.run import gates  # noqa: E402
from matrix.terms.documents.job import BarrierRule  # noqa: E402

Z_OF_P99 = 2.326
CLOCKS_S = 0.002
# Instances are ready for their next step at exponentially distributed times after the first.
MEAN_LATENESS_S = 1.5
GIVE_UP_S = 120.0
# us-east-1, S3 Standard.
USD = {"GET": 0.4e-6, "PUT": 5e-6, "LIST": 5e-6}

Life = Generator[float, None, None]
Asking = Generator[float, None, object]


@dataclass(frozen=True)
class Weather:
    """Behaviour of S3: median and P99 (s) of each kind of request, seconds per listed key, share of lost responses."""

    put: tuple[float, float] = (0.05, 0.35)
    get: tuple[float, float] = (0.03, 0.20)
    list: tuple[float, float] = (0.06, 0.40)
    key_s: float = 5e-5
    lost: float = 1e-4


FAIR = Weather()
SLOW = Weather(put=(0.30, 2.0), get=(0.20, 2.0), list=(0.35, 2.5), lost=1e-3)
LOST = object()


@dataclass
class Step:
    """The events of one fleet at one step; all moments in seconds after the first instance could be ready."""

    instances: int
    margin_s: float
    last_ready: float = 0.0
    start: float = math.inf
    opened: int = 0
    seen: dict[int, float] = field(default_factory=dict)
    clocks: list[float] = field(default_factory=list)
    requests: dict[str, int] = field(default_factory=lambda: dict.fromkeys(USD, 0))
    waited_s: float = 0.0

    @property
    def delay_s(self) -> float:
        """From the last ready instance to the common start."""
        return self.start - self.last_ready

    def begins(self) -> list[float]:
        """The start of each instance: at the start by its own clock, or when it sees the gate."""
        return [max(self.start - self.clocks[who], self.seen[who]) for who in self.seen]

    @property
    def late(self) -> int:
        """Number of instances that saw the gate after its start."""
        return sum(seen > self.start - self.clocks[who] for who, seen in self.seen.items())


class Fleet:
    """A fleet and its S3 in virtual time."""

    def __init__(self, rule: BarrierRule, count: int, weather: Weather, dice: random.Random) -> None:
        """Let `count` instances use the start barrier by a rule."""
        self._rule, self._weather, self._dice = rule, weather, dice
        self._now, self._turns = 0.0, itertools.count()
        self._queue: list[tuple[float, int, Callable[[], object]]] = []
        self._marks: dict[int, float] = {}
        self._gate: float | None = None
        self.step = Step(count, rule["margin_s"])
        self.step.clocks = [dice.uniform(-CLOCKS_S, CLOCKS_S) for _ in range(count)]

    def meet(self, ready_at: list[float], ends_after_mark: int | None = None) -> Step:
        """Simulate one step; the instance `ends_after_mark` ends between its mark and its listing."""
        step = self.step
        step.last_ready = max(at for who, at in enumerate(ready_at) if who != ends_after_mark)
        for who, at in enumerate(ready_at):
            self._begin(self._main(who, is_ending=who == ends_after_mark), at)
        while self._queue and self._queue[0][0] < GIVE_UP_S:
            self._now, _, turn = heapq.heappop(self._queue)
            turn()
        step.start = math.inf if self._gate is None else self._gate
        step.waited_s = sum(seen - ready_at[who] for who, seen in step.seen.items())
        return step

    def _begin(self, life: Life, at: float) -> None:
        def go() -> None:
            pause_s = next(life, None)
            if pause_s is not None:
                self._at(self._now + pause_s, go)

        self._at(at, go)

    def _at(self, moment: float, turn: Callable[[], object]) -> None:
        heapq.heappush(self._queue, (moment, next(self._turns), turn))

    def _ask(self, kind: str, effect: Callable[[], object]) -> Asking:
        """Send a request to S3: it takes effect at one moment; returns its value, or LOST after the time limit."""
        self.step.requests[kind] += 1
        median, p99 = getattr(self._weather, kind.lower())
        took = self._dice.lognormvariate(math.log(median), math.log(p99 / median) / Z_OF_P99)
        took += self._weather.key_s * len(self._marks) if kind == "LIST" else 0.0
        moment, limit = took * self._dice.random(), self._rule["request_s"]
        if took > limit or self._dice.random() < self._weather.lost:
            self._at(self._now + moment, effect)
            yield limit
            return LOST
        yield moment
        value = effect()
        yield took - moment
        return value

    def _main(self, who: int, *, is_ending: bool) -> Life:
        while (yield from self._ask("PUT", lambda: self._marks.setdefault(who, self._now))) is LOST:
            yield self._dice.uniform(0.1, 0.5)
        if is_ending:
            return
        self._begin(self._other(who), self._now)
        list_at = self._now
        while who not in self.step.seen:
            if self._now >= list_at:
                list_at = self._now + (yield from self._list_and_open(who))
            yield from self._look(who)
            yield 2 * self._rule["poll_s"] * self._jitter()

    def _other(self, who: int) -> Life:
        yield self._rule["poll_s"] * self._jitter()
        while who not in self.step.seen:
            yield from self._look(who)
            yield 2 * self._rule["poll_s"] * self._jitter()

    def _look(self, who: int) -> Life:
        if isinstance((yield from self._ask("GET", lambda: self._gate)), float):
            self.step.seen.setdefault(who, self._now)

    def _list_and_open(self, who: int) -> Generator[float, None, float]:
        marks = yield from self._ask("LIST", lambda: set(self._marks))
        if not isinstance(marks, set):
            return self._dice.uniform(0.1, 0.3)
        if len(marks) == self.step.instances:
            start = self._now + self.step.clocks[who] + self._rule["margin_s"]
            if (yield from self._ask("PUT", lambda: self._open(start))) is LOST:
                return self._dice.uniform(0.1, 0.3)
        rank = sum(other < who for other in marks)
        return STANDBY_S * (rank + 1) if rank < STANDBYS else SELDOM_S

    def _open(self, start: float) -> None:
        if self._gate is None:
            self._gate, self.step.opened = start, self.step.opened + 1

    def _jitter(self) -> float:
        return self._dice.uniform(0.9, 1.1)


def steps_of(
    count: int, steps: int, weather: Weather = FAIR, *, ends: bool = False, margin_s: float = GATE_MARGIN_S
) -> list[Step]:
    """Return the events of each of `steps` steps; with `ends` the last ready instance ends before its listing."""
    dice = random.Random(f"{count} {weather} {ends}")  # noqa: S311 - the same figures each time
    lived = []
    for _ in range(steps):
        fleet = Fleet(gates.rule(count, margin_s, GIVE_UP_S), count, weather, dice)
        ready_at = [min(dice.expovariate(1 / MEAN_LATENESS_S), 10 * MEAN_LATENESS_S) for _ in range(count)]
        last = max(range(count), key=ready_at.__getitem__)
        lived.append(fleet.meet(ready_at, last if ends else None))
    return lived


def quantile(values: list[float], share: float) -> float:
    """Return the nearest-rank quantile of some values."""
    return sorted(values)[math.ceil(share * len(values)) - 1]


def line(name: str, lived: list[Step]) -> str:
    """Return a row of the table."""
    count = lived[0].instances
    delays, begins = [step.delay_s for step in lived], [step.begins() for step in lived]
    skews = [abs(begun - step.start) for step, begun_at in zip(lived, begins, strict=True) for begun in begun_at]
    needed = [max(step.seen.values()) - (step.start - step.margin_s) for step in lived]
    late = sum(step.late for step in lived) / sum(len(step.seen) for step in lived)
    asked = sum(sum(step.requests.values()) for step in lived) / sum(step.waited_s for step in lived)
    usd = sum(USD[kind] * number for step in lived for kind, number in step.requests.items()) / len(lived)
    return (
        f"| {name} | {count:,} | {len(lived)} | {quantile(delays, 0.5):.1f} / {quantile(delays, 0.99):.1f}"
        f" | {quantile(skews, 0.95) * 1000:.0f} | {late:.2%} | {quantile(needed, 0.99):.1f} of {lived[0].margin_s:.1f}"
        f" | {asked:.1f} | {usd:.4f} |"
    )


HEAD = (
    "| S3 | instances | steps | last ready to start, P50 / P99 (s) | skew, P95 (ms) | late starts"
    " | margin needed, P99 of steps (s) | requests an instance and second | USD a step |\n" + "|---" * 9 + "|"
)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m bench.gates", description=__doc__)
    parser.add_argument(
        "--steps",
        type=int,
        default=30,
        help="steps of each fleet of 50 and more; of 4, four times as many (default: 30)",
    )
    parser.add_argument("--margin", type=float, default=GATE_MARGIN_S, help="the margin of a small fleet, in s")
    asked = parser.parse_args()
    print(HEAD)
    for name, weather, ends in (
        ("usual", FAIR, False),
        ("slow", SLOW, False),
        ("usual; the last one in ends", FAIR, True),
    ):
        for count in (4, 50, 200, 500, 1000):
            steps = asked.steps if count > 4 else 4 * asked.steps  # noqa: PLR2004
            print(line(name, steps_of(count, steps, weather, ends=ends, margin_s=asked.margin)), flush=True)


if __name__ == "__main__":
    main()
