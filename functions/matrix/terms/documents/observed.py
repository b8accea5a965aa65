"""Output of `matrix observe --json`: the use of an existing storage."""

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
    warnings: list[str]
