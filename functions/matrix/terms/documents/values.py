"""summary.values.json: the values of a run's points that comparisons judge."""

from typing_extensions import TypedDict

from matrix.terms.documents.parts import Fleet, Params, Part
from matrix.terms.documents.result import Interval, MedianUncertainty


class JudgedPoint(TypedDict):
    """One point of a cell, and a metric that it is judged by: its main one, or that of the objective."""

    id: str
    params: Params
    label: str
    """Its difference from the other points of its cell; with the metric, if that is not its main one."""
    is_primary: bool
    """Whether the metric is the point's main one."""
    metric: str
    unit: str
    higher_is_better: bool
    p50: float | None
    n: int | None
    """How many samples have the metric; None where a source does not tell."""
    interval: Interval | None
    """Of the median."""
    level: float
    """The percentile that is compared beside the median: the objective's, else 90, of rates 10."""
    median_uncertainty: MedianUncertainty | None
    """None where there is none."""
    values: list[list[float | None]] | None
    """A row for each of the cell's instances, a column for each of its repetitions. None where none are known."""


class JudgedCell(TypedDict):
    """One cell of a run."""

    id: str
    state: str
    """measured, failed or skipped."""
    reason: str | None
    """Why it was not measured."""
    storage: Part
    storage_label: str
    """As it is called in sentences."""
    is_shared: bool
    """Whether its instances share the storage."""
    workload: Part
    fleet: Fleet
    is_relaunched: bool
    """Whether it was launched several times."""
    is_own: bool
    """Whether the run has measured it itself, and has not taken it over from an earlier one."""
    instances: list[str]
    launches: list[int]
    """In which launch each of these was, where there were several; else empty."""
    repetitions: list[int]
    points: list[JudgedPoint]
    """None of a cell that was not measured: what survived a failure is no sample of the fleet."""


class ValuesDocument(TypedDict):
    """The values that the points of a run are judged by."""

    schema: int
    run: str
    started_at: float | None
    """Epoch seconds; None of published figures."""
    environment: str
    objective: str | None
    """The metric of the matrix's objective."""
    cells: list[JudgedCell]


def wrong_shape(document: ValuesDocument) -> str:
    """Return which point lacks values of an instance or a repetition, or has too many; empty if none does."""
    for cell in document["cells"]:
        instances, repetitions = len(cell["instances"]), len(cell["repetitions"])
        if len(cell["launches"]) not in (0, instances):
            return f"{cell['id']}: {len(cell['launches'])} launches for {instances} instances"
        for point in cell["points"]:
            rows = point["values"]
            if rows is not None and (len(rows) != instances or not set(map(len, rows)) <= {repetitions}):
                return f"{cell['id']} {point['id']}: not {instances} rows (instances) of {repetitions} (repetitions)"
    return ""
