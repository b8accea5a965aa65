"""baseline.json: a name for the run that later runs are compared with."""

from typing_extensions import TypedDict


class BaselineDocument(TypedDict):
    """A name for the run that later runs are compared with."""

    schema: int
    name: str
    run: str
    matrix: str
    """Name of the run's matrix."""
    set_at: float
