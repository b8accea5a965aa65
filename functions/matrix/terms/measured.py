"""The measurements of a run: each metric of each point of each cell. Every output is built from them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from matrix.terms.documents.result import MetricResult, PointResult, ResultDocument
from matrix.terms.metrics import metric_title
from matrix.terms.names import describe_workload, fleet_label, point_labels, primary_metric


@dataclass(frozen=True)
class Measured:
    """One metric of one point of one cell."""

    cell: ResultDocument
    point: PointResult
    label: str
    """The difference of the point to the others of its cell: `threads 4`."""
    name: str
    """The name of the metric: `files_per_s`."""
    metric: MetricResult
    is_judged: bool
    """Whether the point is judged by it."""

    @property
    def workload(self) -> str:
        """The workload's type, and of a command its name."""
        return describe_workload(self.cell.get("workload") or {})

    @property
    def instances(self) -> int:
        """The number of instances that worked at the same time."""
        return int(self.cell["fleet"].get("count") or 1)

    @property
    def fleet(self) -> str:
        """Instances and their type: `10 × m6i.4xlarge`."""
        return fleet_label(self.cell["fleet"])

    @property
    def instance_type(self) -> str:
        """The instance type; `instances` if a source does not publish it."""
        return str(self.cell["fleet"].get("instanceType", "instances"))

    @property
    def unit(self) -> str:
        """The metric's unit."""
        return str(self.metric.get("unit", ""))

    @property
    def quantity(self) -> str:
        """The readable name of the metric: `Build time`."""
        return metric_title(self.name, self.workload)

    @property
    def left_out(self) -> str:
        """Why its figures are known to be wrong; empty if they are not."""
        return str(self.cell.get("suspect") or "")


def measured(cells: Iterable[ResultDocument]) -> Iterator[Measured]:
    """Yield every metric of every point, in the order of the cells; nothing for a cell that has no result."""
    for cell in cells:
        points = cell.get("points") or []
        labels = point_labels(points)
        for point in points:
            judged_by = primary_metric(point)
            for name, metric in (point.get("metrics") or {}).items():
                is_judged = judged_by is not None and name == judged_by[0]
                yield Measured(cell, point, labels[point["id"]], name, metric, is_judged)


def judged_metrics(cells: Iterable[ResultDocument]) -> Iterator[Measured]:
    """Yield every point with the one metric that it is judged by."""
    return (each for each in measured(cells) if each.is_judged)
