"""Warnings about the figures of a cell: what is wrong with them, its effect on the result, and what to change."""

import math
import re
from enum import IntEnum
from typing import Annotated, Any, ClassVar, Literal

from matrix.terms.findings.finding import Finding
from matrix.terms.metrics import METRICS, readable
from matrix.terms.quantities import count_of, number, quantity, times

# Half of an interval, as a share of its median, that still reads as a percentage.
WIDEST_AS_PERCENT = 0.5
WORD, DIGIT = re.compile(r"\S+"), re.compile(r"\d")
LONGER = 'use longer steps (more "files", a larger "size" or "dataSize", fio\'s "runtime")'


class Severity(IntEnum):
    """What a warning takes from a figure, the worst first."""

    MISSING = 0
    """Figures are missing."""
    NOT_OF_STORAGE = 1
    """Figures are not the storage's."""
    NOT_STEADY = 2
    """Figures are not those of a steady storage."""
    UNCERTAIN = 3
    """Figures change from value to value, or are not well known."""
    REMARK = 4
    """Nothing is wrong with the figures themselves."""
    QUOTED = 5
    """Sentences of instances and sources."""


class CellWarning(Finding):
    """A doubt about figures of a cell. Without points: about the whole cell."""

    severity: ClassVar[Severity]
    points: list[str] | None = None
    metric: str | None = None
    launches: list[int] | None = None
    """In which launches, where not in all."""

    @property
    def size(self) -> float:
        """How far it goes, as a share; 0 if it has no size."""
        return 0.0

    @property
    def kind(self) -> tuple[str, str]:
        """Warnings of the same kind are grouped."""
        return self.code, ""

    def line(self, cell: str) -> str:
        """Write it with its subject: `CELL: p01, throughput: near the limit of the load generator: …`."""
        points = self.points or []
        where = [*points[:1], *([f"and {len(points) - 1} more points"] if len(points) > 1 else [])]
        about = ", ".join([*where, *([self.metric] if self.metric is not None else [])])
        return readable(f"{cell}: {f'{about}: ' if about else ''}{self._of_launches}{self.sentence}")

    @property
    def _of_launches(self) -> str:
        return f"launch {_listed(self.launches)}: " if self.launches else ""


class Sized(CellWarning, code=""):
    """A warning of which the larger is the worse."""

    share: float
    """How far it goes; in `words` as per cent."""

    @property
    def size(self) -> float:
        """Its share."""
        return self.share

    @property
    def sentence(self) -> str:
        return self.words.format_map({**vars(self), "share": _percent(self.share)})


# --- found in the values of a metric ----------------------------------------------------------------------------------


class SlowFirstRun(Sized):
    """A first repetition that was slower than all later ones."""

    severity = Severity.UNCERTAIN
    repetition: int

    @property
    def sentence(self) -> str:
        return (
            f"repetition {self.repetition} was {times(1 + self.share)} as slow as the median of the later ones, as "
            f"caches were cold, credits full or blocks touched for the first time; {LONGER}"
        )


class Drift(Sized):
    """A steady change over the repetitions; share is its size from the first to the last."""

    severity = Severity.UNCERTAIN
    way: Literal["slower", "faster"]
    repetitions: int
    words = "became {way} by {share} from the first to the last of {repetitions} repetitions; " + LONGER


class Unsteady(Sized):
    """Repetitions of the whole fleet that differ widely without a trend."""

    severity = Severity.UNCERTAIN
    repetitions: int
    words = 'medians of the {repetitions} repetitions differ by {share}; raise "repetitions", or set "launches": 3'


class Autocorrelated(Sized):
    """Repetitions or launches that resemble the ones before them; share is the lag-1 autocorrelation."""

    severity = Severity.UNCERTAIN
    unit: Literal["repetitions", "launches"]
    count: int
    counts_as: int
    """As how many independent ones."""

    @property
    def sentence(self) -> str:
        return (
            f"each of the {self.count} {self.unit} resembles the one before it (lag-1 autocorrelation "
            f'{self.share:.2f}), so they count as {self.counts_as}; set "launches", or repeat on another day'
        )


class LaunchesDiffer(Sized):
    """Launches whose medians differ widely."""

    severity = Severity.UNCERTAIN
    count: int
    words = (
        "medians of the {count} launches differ by {share}, as what you buy will; "
        'raise "launches" to know their middle better'
    )


class WideInterval(Sized):
    """A median that is known to no better than 10 %; share is half of its interval."""

    severity = Severity.UNCERTAIN
    unit: Literal["instances", "repetitions", "launches"]
    """Its limit."""
    needed: int
    """How many of them would halve it."""

    @property
    def sentence(self) -> str:
        # Intervals are symmetric in logarithms: from m / f to m × f, half the width is m (f - 1/f) / 2. "± 97 %" would
        # almost reach 0, so a wide one is written as the factor.
        share = self.share
        width = (
            f"± {_percent(share)}" if share <= WIDEST_AS_PERCENT else f"a factor of {share + math.hypot(share, 1):.2g}"
        )
        return f"the interval of the median is wide ({width}); {self.needed} {self.unit} would halve it"


# --- found in samples and fleets --------------------------------------------------------------------------------------


class FewerInstances(Sized):
    """A fleet that is smaller than its count, at least its quorum. `share` is the missing part."""

    severity = Severity.MISSING
    ran: int
    count: int
    reason: str
    """Why, as EC2 said it."""
    words = (
        "only {ran} of {count} instances were launched, which is another load: {reason}; "
        'lower "count", or raise the quota'
    )


class LaunchMissing(CellWarning):
    """A launch that was not measured, while others were."""

    severity = Severity.MISSING
    of: int
    """How many launches there were."""
    reason: str

    @property
    def sentence(self) -> str:
        return f"launch {_listed(self.launches)} of {self.of} was not measured: {self.reason}"

    @property
    def _of_launches(self) -> str:
        return ""


class Unreadable(CellWarning):
    """Files that could not be read."""

    severity = Severity.MISSING
    what: Literal["latencies", "bundles"]
    """`bundles`: files of many steps; their latencies were then read step by step."""
    files: int
    reason: str
    """Of the first."""

    @property
    def kind(self) -> tuple[str, str]:
        """Files of the same content."""
        return self.code, self.what

    @property
    def sentence(self) -> str:
        lost = {
            "latencies": "latency histograms are left out",
            "bundles": "files of many steps are damaged: latencies were read step by step, throughput over time is "
            "lost",
        }
        return f"{self.files} {lost[self.what]}; the first: {self.reason}"


class ToolBound(Sized):
    """A point near the rate that its tool reaches without a storage. `share` of that rate."""

    severity = Severity.NOT_OF_STORAGE
    tool: str
    ceiling: float
    """Rate of the tool, in the metric's unit."""

    @property
    def sentence(self) -> str:
        unit = METRICS[self.metric or ""].unit
        return (
            f"near the limit of the load generator: {_percent(self.share)} of what {self.tool} reaches on "
            f"these instances without a storage ({quantity(self.ceiling, unit)}); {self._advice}"
        )

    @property
    def _advice(self) -> str:
        if self.tool != "engine":
            return "use tool engine, where there is one, or more instances"
        if self.metric != "mb_per_s":
            return "take instances with more or faster processors, or more of them"
        # The engine makes a call for each page or block; io_uring submits many with one, in each of fio's jobs.
        fio = "take fio with direct, ioengine io_uring and an iodepth of 32 or more, which asks for many with one call"
        return f"{fio}, or instances with more or faster processors"


class Behind(Sized):
    """An open loop that completed fewer operations than were due. `share` is the missing part."""

    severity = Severity.NOT_OF_STORAGE
    done_per_s: float
    offered_per_s: float

    @property
    def sentence(self) -> str:
        return (
            f"{_percent(1 - self.share)} of what was due was done ({number(self.done_per_s)} of "
            f"{number(self.offered_per_s)}/s): these are latencies of an overload, and in an open loop they grow with "
            "the step; lower the rate"
        )


class NotSteady(Sized):
    """A point whose rate had not settled; share is that of its samples."""

    severity = Severity.NOT_STEADY
    unsteady: int
    judged: int
    period_s: float | None = None
    """Of the swings, where most of them swing."""

    @property
    def sentence(self) -> str:
        samples = f"{self.unsteady} of {self.judged} samples"
        if self.period_s is not None:
            return (
                f"not steady: the rate swings every {self.period_s:g} s in {samples}, so the figure depends on "
                "how many swings a step holds; let steps last ten of them"
            )
        return (
            f"not steady (SNIA PTS): over the last 56 % of {samples} the rate rose or fell by more than a tenth, or "
            f'varied by more than a fifth; {LONGER}, or set "precondition"'
        )


class SteadyLate(Sized):
    """A point that was steady only late, and at another rate."""

    severity = Severity.NOT_STEADY
    from_s: float
    ratio: float
    """The steady rate as a share of the whole step's."""

    @property
    def sentence(self) -> str:
        return (
            f"steady from second {self.from_s:g} on, at {_percent(self.ratio)} of the whole step's rate: the figure "
            f"holds what was before, a burst or a cold start; {LONGER}"
        )


class Overhead(Sized):
    """Share of a sample's time that was not the work itself, at the worst point."""

    severity = Severity.REMARK
    words = (
        "up to {share} of the time was not the work itself (programs starting, a ramp, their end): rates and costs "
        "exclude it, shares of processor, network and disk include it; " + LONGER
    )


class NoBottleneck(CellWarning):
    """The search for the bottleneck failed."""

    severity = Severity.REMARK
    reason: str
    words = "no bottleneck was looked for: {reason}"


# --- quoted ----------------------------------------------------------------------------------------------------------


class Quoted(CellWarning, code=""):
    """A sentence of an instance or a source."""

    severity = Severity.QUOTED
    text: str

    @property
    def kind(self) -> tuple[str, str]:
        """Texts are alike if only words with digits differ."""
        return self.code, WORD.sub(_without_digits, self.text)

    words = "{text}"


class OfSamples(Quoted):
    """Warnings that instances wrote about their samples."""

    samples: int
    """How many samples have it."""

    @property
    def sentence(self) -> str:
        return f"{self.text} ({count_of(self.samples, 'sample')})"


class OfSource(Quoted):
    """Doubts about published figures."""


WarningDocument = Annotated[dict[str, Any], CellWarning]


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _listed(launches: list[int] | None) -> str:
    return ", ".join(map(str, launches or []))


def _without_digits(word: re.Match[str]) -> str:
    """Return the word, or nothing if it has a digit.

    A pattern for such words alone would take the square of a long word's time.
    """
    return "" if DIGIT.search(word[0]) else word[0]
