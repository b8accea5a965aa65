"""What is said of a bottleneck: how much of a limit was used, what to do next, and which limits have no data."""

from typing import Annotated, Any, Literal

from matrix.terms.findings.finding import Finding
from matrix.terms.quantities import instant, number

GIB = 2.0**30
# Names of metrics that a sentence lists.
MAX_ABSENT = 4
# Share of a processor's time; below it, the host's work is noise.
MUCH_STOLEN = 0.05
ALLOWANCES = {
    "bw_in": "bandwidth in",
    "bw_out": "bandwidth out",
    "pps": "packets per second",
    "conntrack": "tracked connections",
}
WHOSE = {
    None: "",
    "baseline": " of the instance type's baseline",
    "maximum": " of the instance type's maximum",
    "client": " of each client",
    "connections": " that EC2 allows the TCP connections of an instance",
    "permitted": " that AWS permitted",
}


# --- how much of a limit was used -------------------------------------------------------------------------------------


class LimitUse(Finding):
    """How much of a limit was used."""

    point: str | None = None
    """The point that used most of it; None where CloudWatch counted."""


class RateUsed(LimitUse, code="rate"):
    """A rate beside its limit."""

    used: float
    limit: float
    unit: str
    """Of both: IOPS, MB/s, Gbit/s …"""
    of: Literal["baseline", "maximum", "client", "connections", "permitted"] | None = None
    """Owner of the limit if it is not the storage's provisioned one: an instance type's baseline or maximum, the limit
    of a client or of its TCP connections, or AWS's permitted throughput in that minute."""
    at: float | None = None
    """When, where CloudWatch counted it."""
    credits_left_bytes: float | None = None

    @property
    def sentence(self) -> str:
        words = f"{number(self.used)} of {number(self.limit)} {self.unit}{WHOSE[self.of]}"
        if self.at is not None:
            words += f" at {instant(self.at)}"
        if self.credits_left_bytes is not None:
            words += f", {number(self.credits_left_bytes / GIB)} GiB of burst credits left"
        return words


class ShareUsed(LimitUse, code="share"):
    """Of which AWS publishes the share that is used."""

    metric: str
    percent: float
    resource: str
    """Which volume, instance or file system."""
    resources: int
    """How many have this metric."""
    at: float
    cache_hits_percent: float | None = None
    """Where the server's cache missed most reads of that minute: how many it had."""

    @property
    def sentence(self) -> str:
        of_one = f" of {self.resource}" if self.resources > 1 else ""
        words = f"{self.metric} {self.percent:.0f} %{of_one} at {instant(self.at)}"
        hits = self.cache_hits_percent
        return words if hits is None else f"{words}, while the cache had {hits:.0f} % of the reads"


class Throttled(LimitUse):
    """A check of AWS that is 1 while it holds somebody back."""

    state = "1"
    metric: str
    resources: list[str]
    """Whom; empty where it held back nobody."""
    first_at: float | None

    @property
    def sentence(self) -> str:
        if not self.resources or self.first_at is None:
            return f"{self.metric} was never {self.state}"
        first, *others = self.resources
        several = f" and {len(others)} more" if others else ""
        return f"{self.metric} was {self.state} for {first}{several}, first at {instant(self.first_at)}"


class Balance(Throttled):
    """A balance of burst credits."""

    state = "used up"


class ToolShare(LimitUse, code="tool"):
    """A point's share of the rate that its tool reaches without a storage."""

    share: float

    @property
    def sentence(self) -> str:
        return f"{100 * self.share:.0f} % of what the tool reaches on this instance without a storage"


class ProcessorUse(LimitUse, code="processors"):
    """How busy the processors were at the busiest point, as shares of their time."""

    machine: float
    worker: float | None
    """Of one worker; None where it was not counted."""
    stolen: float
    """CPU time taken by the host (steal)."""

    @property
    def sentence(self) -> str:
        words = f"processors {100 * self.machine:.0f} % busy"
        if self.worker is not None and self.worker > self.machine:
            words = f"each worker computes {100 * self.worker:.0f} % of the time ({words})"
        return words + (f", {100 * self.stolen:.0f} % taken by the host" if self.stolen >= MUCH_STOLEN else "")


class PacketsHeld(LimitUse, code="packets"):
    """Packets that EC2 queued or dropped because an instance exceeded its allowance."""

    allowance: str
    """bw_in, bw_out, pps or conntrack, as ENA counts them."""
    per_s: float
    share: float
    """Of all packets in the directions that the allowance limits: at most, where only bytes were counted."""

    @property
    def sentence(self) -> str:
        allowance = ALLOWANCES.get(self.allowance, self.allowance)
        return f"EC2 queued or dropped {number(self.per_s)} packets/s ({100 * self.share:.2g} %) for {allowance}"


# --- what to do next --------------------------------------------------------------------------------------------------


class NextStep(Finding):
    """A step that would confirm or raise the limit."""


class Raise(NextStep):
    """Raise the limit. How depends on the type of storage, so its model has the advice."""

    metric: str | None = None
    """Metric that showed the limit, if any. The advice may depend on it."""
    larger_type: str | None = None
    """The smallest instance type of the family that is always as fast as the storage."""
    words = "{larger_type} is the smallest of its family that is always as fast as the storage"


class UseAws(NextStep):
    """The instances were processes of one machine."""

    words = "run it on AWS: here all instances share one machine"


class LoadMore(NextStep):
    """No limit was reached."""

    words = "use more threads, a deeper queue or more instances to find where it ends"


class KnowLimits(NextStep):
    """The storage was this machine's disk."""

    words = "run it on AWS, or with emulate: true for a storage whose limits are known"


class SeeMetrics(NextStep):
    """Nothing was counted."""

    words = "look at the storage's own metrics; docs/method.md lists them"


# --- limits without data ----------------------------------------------------------------------------------------------


class Unseen(Finding):
    """A limit without data. A missing figure never counts as zero."""


class NotRead(Unseen):
    """A run that was analysed without CloudWatch."""

    words = "CloudWatch: not read"


class NotAsked(Unseen):
    """A request to CloudWatch that failed."""

    error: str
    words = "CloudWatch: could not be asked ({error})"


class NotOfAws(Unseen):
    """Storages and instances of this machine."""

    words = "CloudWatch: has nothing of storages and instances that are not AWS's"


class NoValues(Unseen):
    """Metrics that CloudWatch has no values of."""

    metrics: list[str]
    may_arrive: bool
    """Whether they were read too early to be complete."""

    @property
    def sentence(self) -> str:
        more = len(self.metrics) - MAX_ABSENT
        listed = ", ".join(self.metrics[:MAX_ABSENT]) + (f" and {more} more" if more > 0 else "")
        return f"CloudWatch: has no values of {listed}{'; they may still arrive' if self.may_arrive else ''}"


class StorageUse(Unseen):
    """The use of AWS's storage."""

    words = "use of the storage: neither counters nor metrics show it"


class StorageLimits(Unseen):
    """The limits of this machine's disk."""

    words = "limits of the storage: none are known of this machine's disk"


class ToolLimit(Unseen):
    """The rate of the tool without a storage."""

    words = "the tool's own limit: it was not calibrated"


class InstanceLimits(Unseen):
    """The bandwidth of the instance type."""

    words = "limits of the instance type: EC2 did not say them"


class NetworkAllowances(Unseen):
    """Packets beyond the instance's allowances."""

    words = "EC2's network allowances: neither the network card nor ethtool counts them"


LimitUseDocument = Annotated[dict[str, Any], LimitUse]
NextStepDocument = Annotated[dict[str, Any], NextStep]
UnseenDocument = Annotated[dict[str, Any], Unseen]
