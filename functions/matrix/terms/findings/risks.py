"""Why the figure of a candidate may promise too much; the doubts about a percentile also say why the median ranks."""

from collections.abc import Sequence
from typing import Annotated, Any

from matrix.terms.findings.credits import OnCredits, describe_credits
from matrix.terms.findings.finding import Finding
from matrix.terms.findings.replication import MIN_LAUNCHES, Shortage, describe_not_replicated
from matrix.terms.quantities import rough_duration, times

MEDIAN = 50.0


class Risk(Finding):
    """Why the figure of a candidate may promise too much."""


class SlowTail(Risk):
    """Values that are at least twice as slow as the percentile that ranks the storages."""

    level: float
    """That percentile."""
    slow: int
    """How many values are at least twice as slow."""
    values: int
    """How many values there are."""
    slowest: float
    """How many times as slow as the percentile the slowest value is."""

    @property
    def sentence(self) -> str:
        verb = "is" if self.slow == 1 else "are"
        level = "the median" if self.level == MEDIAN else f"P{self.level:g}"
        slow = f"{self.slow} of {self.values} values {verb} at least twice as slow as {level}"
        return f"slow tail: {slow}, the slowest {times(self.slowest)} as slow"


class Burst(Risk):
    """A rate that lasts only as long as burst credits."""

    burst: OnCredits

    @property
    def sentence(self) -> str:
        return describe_credits(self.burst)


class JudgedBySustained(Risk):
    """A figure that was converted to that of a job which outlasts its burst credits."""

    burst: OnCredits
    share: float
    """Mean rate over the whole job as a share of the measured rate; below 1."""
    job_s: float
    """Seconds of the objective's job, or of the measured one if that outlasts its credits itself."""

    @property
    def sentence(self) -> str:
        job = f"a job of {rough_duration(self.job_s)}, at {100 * self.share:.2g} % of the rate on average"
        return f"judged for {job}: {describe_credits(self.burst)}"


class NotReplicated(Risk):
    """Too few instances, repetitions or launches for a comparison."""

    shortages: list[Shortage]

    @property
    def sentence(self) -> str:
        return describe_not_replicated(self.shortages)


class LaunchedOnce(Risk):
    """A recommendation by single launches of file systems that AWS places anew each time."""

    words = (
        f"fewer than {MIN_LAUNCHES} launches: another place of a file system, or another hour, may change more than "
        f'the intervals say; set "launches": {MIN_LAUNCHES}'
    )


class NotSteady(Risk):
    """A rate that had not settled when it was measured."""

    period_s: float | None
    """After how many seconds the rate repeats; None where it does not."""

    @property
    def sentence(self) -> str:
        return f"not steady: its rate {f'repeats every {self.period_s:g} s' if self.period_s else 'changed'}"


class TooFewSamples(Risk):
    """Fewer independent values than the percentile needs."""

    level: float
    """The percentile."""
    needed: int
    count: int
    """Effective sample sizes: needed for the percentile, and available."""
    by_launch: bool = False
    """Whether both are of each launch."""

    @property
    def sentence(self) -> str:
        return describe_too_few([self])


class OnlyWorstKnown(Risk):
    """The worst value stands for a percentile that nobody published."""

    level: float
    words = "P{level:g} is not known, this is the worst value"


class SampleSizeUnknown(Risk):
    """A published percentile of an unknown number of values."""

    level: float
    words = "the number of samples behind P{level:g} is not known"


class NoSingleValues(Risk):
    """Only percentiles and the number of values are known."""

    words = "no single values are known: there is no interval, and that instances are independent is assumed"


class CostIncomplete(Risk):
    """A cost that is a lower bound."""

    missing: str
    """The parts that it lacks."""
    words = "its cost is without {missing}"


RiskDocument = Annotated[dict[str, Any], Risk]


def describe_too_few(several: Sequence[TooFewSamples], where: str = ", ") -> str:
    """Write the range of sample sizes: `P90 needs 36 independent values, the fleets have 3 to 18`."""
    fewest, most = min(several, key=lambda each: each.count), max(each.count for each in several)
    have = f"the fleets have {fewest.count} to" if fewest.count < most else f"there {'is' if most == 1 else 'are'}"
    by_launch = " in a launch" if fewest.by_launch else ""
    return f"P{fewest.level:g} needs {fewest.needed} independent values{where}{have} {most}{by_launch}"
