"""Output of `matrix results --published`: a run's figures beside the published ones."""

from typing_extensions import TypedDict


class Beside(TypedDict):
    """A figure of a run and the published one, with every objection to holding them against each other."""

    cell: str
    storage: str
    instances: int
    point: str
    metric: str
    unit: str
    percentile: str
    ours: float | None
    published: float | None
    date: str | None
    ratio: float | None
    comparable: bool
    why_not: list[str]
    differs: list[str]
    """Differences between them that still allow a comparison."""
    source: str
