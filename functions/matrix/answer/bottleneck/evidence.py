"""The evidence for a bottleneck: a cell's result with its stored metrics and limits."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from matrix.samples import cloudwatch
from matrix.storages.metrics import LimitUnit, StorageMetrics
from matrix.storages.models import metrics_of
from matrix.terms.ceilings import REACHED
from matrix.terms.documents.parts import Emulation, Params, StorageFields
from matrix.terms.documents.result import Limit, ResultDocument
from matrix.terms.documents.watched import CloudWatchMetrics
from matrix.terms.findings.bottlenecks import LimitUse

# A limit cannot be exceeded this far, so the counter counts something else: a page cache absorbed or merged the I/O.
MAX_PLAUSIBLE = 1.2
# From this share of a minute on, the minute speaks for the point that was measured in it.
NEARLY_ALL = 0.9


@dataclass(frozen=True)
class Ceiling:
    """A limit of a cell, and how much of it each point used."""

    name: str
    shares: Mapping[str, float]  # by point; 1 is all of it
    use: LimitUse  # with numbers, of the point that used most
    is_reported: bool = False  # by AWS itself, which knows better than a quotient of two figures
    enough: float = REACHED  # the share from which on it binds
    counts: LimitUnit | None = None  # what it limits, where AWS's report denies or confirms a quotient
    shared: Mapping[str, float] = field(default_factory=dict)  # by point, in minutes that it had a part of
    untold: Collection[str] = ()  # points that it may have limited: nobody says whether credits were left

    @property
    def share(self) -> float:
        """The most that was used of it at any time."""
        return max((*self.shares.values(), *self.shared.values()), default=0.0)

    def is_reached(self, point: str) -> bool:
        """Whether it limited a point."""
        return self.shares.get(point, 0.0) >= self.enough

    def may_be_reached(self, point: str) -> bool:
        """Whether it limited someone in a minute that the point had a part of, and no minute is the point's own."""
        return point not in self.shares and self.shared.get(point, 0.0) >= self.enough

    def is_untold(self, point: str) -> bool:
        """Whether nothing tells if it limited a point."""
        return point in self.untold or self.may_be_reached(point)

    def denies(self, other: "Ceiling", point: str) -> bool:
        """Whether AWS reports that a point did not reach the limit, although a quotient of two figures says so."""
        is_same = self.is_reported and not other.is_reported and (self.name, self.counts) == (other.name, other.counts)
        return is_same and self.counts is not None and point in self.shares and not self.is_reached(point)


@dataclass(frozen=True)
class Minutes:
    """How much of a limit was used in the periods of CloudWatch, by point."""

    own: Mapping[str, float]
    """The most in a period that was nearly all the point's."""
    shared: Mapping[str, float]
    """The most in a period of which it had a part."""


@dataclass(frozen=True)
class Evidence:
    """A cell's result as this package reads it. `environment` is that of its run."""

    result: ResultDocument
    environment: str

    @property
    def storage(self) -> StorageFields:
        """The storage as the matrix describes it."""
        return self.result["storage"]

    @property
    def kind(self) -> str:
        """The storage's type."""
        return str(self.storage.get("type"))

    @property
    def metrics(self) -> StorageMetrics:
        """The metrics of this type of storage."""
        return metrics_of(self.kind)

    @property
    def emulation(self) -> Emulation | None:
        """The limits that the engines obey if they emulate a storage, else None."""
        return self.result.get("emulation")

    @property
    def is_on_aws(self) -> bool:
        """Whether volumes, instances and file systems are AWS's, so that their limits hold."""
        return self.environment == "aws"

    @cached_property
    def uses(self) -> dict[str, Mapping[str, float]]:
        """Resource use of one instance at each measured point, by the point's id."""
        return {point["id"]: point["use"] for point in self.result["points"] if point.get("use")}

    @cached_property
    def fleet_uses(self) -> dict[str, Mapping[str, float]]:
        """Resource use of all instances together at each measured point, by the point's id."""
        return {point["id"]: point["fleet_use"] for point in self.result["points"] if point.get("fleet_use")}

    @cached_property
    def params(self) -> dict[str, Params]:
        """The parameters of each point."""
        return {point["id"]: point["params"] for point in self.result["points"]}

    @property
    def kept(self) -> CloudWatchMetrics | None:
        """The metrics that were copied from CloudWatch."""
        return self.result.get("cloudwatch")

    def series(self, name: str) -> list[cloudwatch.Series]:
        """Each series of a metric (`AWS/EBS BurstBalance`); empty if the metric is absent."""
        return cloudwatch.values(self.kept, name)

    @property
    def instance_limits(self) -> Mapping[str, Limit]:
        """EC2's limits of the instance type. Empty if they were not queried."""
        return self.result.get("instance_limits", {})

    @cached_property
    def spans(self) -> list[tuple[str, float, float]]:
        """Point, first start and last end of each repetition: a fleet measures a point together."""
        spans: dict[tuple[str, int], tuple[float, float]] = {}
        for point in self.result["points"]:
            samples = point.get("samples")
            if not samples:
                continue
            columns = (samples["repetition"], samples["started_at"], samples["ended_at"])
            for repetition, start, stop in zip(*columns, strict=True):
                first, last = spans.get((point["id"], repetition), (start, stop))
                spans[point["id"], repetition] = min(first, start), max(last, stop)
        return [(point, start, stop) for (point, _), (start, stop) in spans.items()]

    def points_at(self, begun: float, ended: float) -> dict[str, float]:
        """The points measured between two times (epoch seconds), each with its share of that time."""
        overlaps: dict[str, float] = {}
        for point, start, stop in self.spans:
            together = max(0.0, min(ended, stop) - max(begun, start))
            if together:
                overlaps[point] = overlaps.get(point, 0.0) + together / (ended - begun)
        return overlaps

    def point_at(self, begun: float, ended: float) -> str | None:
        """The point that had nearly all of the time between two times; None if there is none."""
        overlaps = self.points_at(begun, ended)
        return next((point for point, share in overlaps.items() if share >= NEARLY_ALL), None)

    def has_minute(self, name: str, point: str) -> bool:
        """Whether a metric has a value of a period that was nearly all a point's."""
        periods = ((at, at + series.period_s) for series in self.series(name) for at, _ in series)
        return any(self.point_at(begun, ended) == point for begun, ended in periods)

    def minutes(self, used: Iterable[tuple[float, float, float]]) -> Minutes:
        """From (time, period, share of a limit): what the periods say of each point."""
        own: dict[str, float] = {}
        shared: dict[str, float] = {}
        for at, period_s, share in used:
            for point, part in self.points_at(at, at + period_s).items():
                of_point = own if part >= NEARLY_ALL else shared
                of_point[point] = max(of_point.get(point, 0.0), share)
        return Minutes(own, shared)
