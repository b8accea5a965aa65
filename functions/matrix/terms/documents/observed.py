"""What `matrix observe --json` prints: how a storage that exists is used, and what else would carry that."""

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
    """Where it ends: what is provisioned or published, 100 % of a utilisation, an empty balance."""
    hours_at_limit: float | None
    covered: float
    """Share of the window that has values."""
    over_time: list[float | None]
    """The worst value in each of equal parts of the window; None where there is none."""


class Carrier(TypedDict):
    """A storage beside what was asked of the observed one."""

    name: str
    storage: Part
    iops: int
    mibps: float
    hours_over: float
    """Hours of the window in which more was asked than it carries, its credits counted."""
    share_within: float
    """Share of the observed time in which it carries what was asked."""
    usd_month: CostRange


class ObservedDocument(TypedDict):
    """How a storage that exists is used."""

    schema: int
    id: str
    region: str
    name: str
    """What it is, with its figures."""
    storage: Part | None
    """As a matrix would write it; None for what a matrix cannot have."""
    begun: float
    """Epoch seconds: the window, or since it exists."""
    ended: float
    period_s: int
    metrics: list[ObservedMetric]
    read_gib_month: float
    written_gib_month: float
    usd_month: CostRange | None
    """What it costs as it is."""
    carriers: list[Carrier]
    """Those that carry everything first, then those that carry most; the cheapest first."""
    warnings: list[str]
