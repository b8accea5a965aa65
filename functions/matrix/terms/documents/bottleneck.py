"""The bottleneck of a cell: the limit that held it back, the evidence, and limits without data."""

from typing import Literal, NotRequired

from typing_extensions import TypedDict

from matrix.terms.findings.credits import OnCredits


class RateUsed(TypedDict):
    """A rate beside its limit, of the point that used most of it."""

    code: Literal["rate"]
    used: float
    limit: float
    unit: str
    """Of both: IOPS, MB/s, Gbit/s …"""
    point: NotRequired[str]
    of: NotRequired[Literal["baseline", "maximum", "client", "connections", "permitted"]]
    """Owner of the limit if it is not the storage's provisioned one: an instance type's baseline or maximum, the limit
    of a client or of its TCP connections, or AWS's permitted throughput in that minute."""
    at: NotRequired[float]
    """When, where CloudWatch counted it."""
    credits_left_bytes: NotRequired[float]


class ShareUsed(TypedDict):
    """Of which AWS publishes the share that is used."""

    code: Literal["share"]
    metric: str
    percent: float
    resource: str
    """Which volume, instance or file system."""
    resources: int
    """How many have this metric."""
    at: float
    cache_hits_percent: NotRequired[float]
    """Where the server's cache missed most reads of that minute: how many it had."""


class Throttling(TypedDict):
    """Of which AWS says whether it held somebody back: a check that is 1, or a balance that is used up."""

    code: Literal["throttled", "balance"]
    metric: str
    resources: list[str]
    """Whom; empty where it held back nobody."""
    first_at: float | None


class ToolShare(TypedDict):
    """A point's share of the rate that its tool reaches without a storage."""

    code: Literal["tool"]
    share: float
    point: str


class ProcessorUse(TypedDict):
    """How busy the processors were at the busiest point, as shares of their time."""

    code: Literal["processors"]
    machine: float
    worker: float | None
    """Of one worker; None where it was not counted."""
    stolen: float
    """CPU time taken by the host (steal)."""
    point: str


class PacketsHeld(TypedDict):
    """Packets that EC2 queued or dropped because an instance exceeded its allowance."""

    code: Literal["packets"]
    allowance: str
    """bw_in, bw_out, pps or conntrack, as ENA counts them."""
    per_s: float
    point: str


LimitUse = RateUsed | ShareUsed | Throttling | ToolShare | ProcessorUse | PacketsHeld


class OtherLimit(TypedDict):
    """A limit that is not the bottleneck, with the reason."""

    name: str
    share: float
    use: LimitUse


class Waiting(TypedDict):
    """Little's law: so many workers, waiting so long for each operation, explain the rate of a point."""

    workers: float
    latency_s: float
    point: str


class NextStep(TypedDict):
    """A step that would confirm or raise the limit."""

    code: Literal["raise", "use-aws", "load-more", "know-limits", "see-metrics"]
    metric: NotRequired[str]
    """Metric that showed the limit, if any. The advice may depend on it."""
    larger_type: NotRequired[str]
    """The smallest instance type of the family that is always as fast as the storage."""


class Unseen(TypedDict):
    """A limit without data. A missing figure never counts as zero."""

    code: Literal[
        "not-read", "not-asked", "not-of-aws", "no-values", "storage-use", "storage-limits", "tool-limit",
        "instance-limits", "network-allowances",
    ]  # fmt: skip
    """The first four are of CloudWatch."""
    error: NotRequired[str]
    metrics: NotRequired[list[str]]
    may_arrive: NotRequired[bool]


class OfLaunches(TypedDict):
    """In how many launches of a cell the same limit was reached."""

    same: int
    launches: int


class Bottleneck(TypedDict):
    """Which limit held a cell back."""

    name: str
    """One limit, "not saturated" or "not known"."""
    uses: list[LimitUse]
    """How the limit of this name was seen to be reached."""
    share: float | None
    waiting: NotRequired[Waiting]
    """Where no limit was reached."""
    next: NextStep
    others: list[OtherLimit]
    """The limits that were not it, the most used first."""
    unseen: list[Unseen]
    points: dict[str, str]
    """By point: its own limit."""
    of_launches: NotRequired[OfLaunches]
    is_provisional: bool
    """Whether metrics may still arrive."""
    on_credits: NotRequired[dict[str, list[OnCredits]]]
    """Rates above sustained limits, by point."""
    server_cache: NotRequired[dict[str, float]]
    """By point: per cent of its reads that the server's cache answered (FSx)."""
