"""Output of `matrix observe --json`: use of an existing storage, and other storages that would carry it."""

from typing_extensions import TypedDict

from matrix.terms.documents.parts import CostRange, Part


class ObservedMetric(TypedDict):
    """How one metric was distributed over the periods that have a value."""

    name: str
    unit: str
    p50: float
    p90: float
    """Of a balance, of which much is good, the percentiles count from its best end: 90 % of the time at least this."""
    p99: float
    worst: float
    """The highest value; of a balance the lowest."""
    limit: float | None
    """Limit: the provisioned or published one, 100 % of a utilisation, or an empty balance."""
    hours_at_limit: float | None
    covered: float
    """Share of the window that has values."""
    over_time: list[float | None]
    """The worst value in each of equal parts of the window; None where there is none."""


class Carrier(TypedDict):
    """A storage that may carry the load of the observed one."""

    name: str
    storage: Part
    iops: int
    mibps: float
    hours_over: float
    """Hours of the window in which more was asked than it carries, its credits counted."""
    share_within: float
    """Share of the observed time in which it carries the load."""
    usd_month: CostRange


class ObservedDocument(TypedDict):
    """How a storage that exists is used."""

    schema: int
    id: str
    region: str
    name: str
    """Label of the storage with its figures."""
    storage: Part | None
    """Its fields in a matrix. None if a matrix cannot have it."""
    begun: float
    """Epoch seconds: the window, or since it exists."""
    ended: float
    period_s: int
    metrics: list[ObservedMetric]
    read_gib_month: float
    written_gib_month: float
    usd_month: CostRange | None
    """Its current cost."""
    carriers: list[Carrier]
    """Storages that carry everything first, then those that carry most; each group cheapest first."""
    warnings: list[str]
