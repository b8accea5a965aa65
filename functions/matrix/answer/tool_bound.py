"""Points limited by the load generator: their rate is near the tool's own ceiling, so they measure the tool."""

from collections.abc import Sequence
from statistics import median

from matrix.samples.file import FileSample
from matrix.terms.documents.result import PointResult, ToolCeiling
from matrix.terms.findings.warnings import CellWarning, ToolBound
from matrix.terms.metrics import METRICS

# Above half of its tool's ceiling an operation spends more time in the tool than on the storage.
BOUND_SHARE = 0.5


def tool_ceiling(point: str, file_samples: Sequence[FileSample]) -> ToolCeiling | None:
    """Return (ceiling of the tool without a storage, share of it that the point reached). None if unknown.

    Both are medians: of the instances' ceilings, and of all samples' shares of their own instance's ceiling.
    """
    files = {file.instance.id: file for file, _ in file_samples}
    ceilings = {
        # A command's own metrics have no calibrated limit, even if an instance claims one.
        instance: [each for each in file.calibration if point in each.points and each.metric in METRICS]
        for instance, file in files.items()
    }
    calibrated = [(sample, ceiling) for file, sample in file_samples for ceiling in ceilings[file.instance.id]]
    shares = [
        sample.metrics[ceiling.metric] / ceiling.value
        for sample, ceiling in calibrated
        if ceiling.metric in sample.metrics
    ]
    if not shares:
        return None
    share = median(shares)
    return {
        "tool": calibrated[0][0].tool.name or "tool",
        "metric": calibrated[0][1].metric,
        "value": median(ceiling.value for of_instance in ceilings.values() for ceiling in of_instance),
        "share": share,
        "is_bound": share > BOUND_SHARE,
    }


def tool_warnings(points: Sequence[PointResult]) -> list[CellWarning]:
    """Return a warning for each point that measured its tool."""
    return [
        ToolBound(
            points=[point["id"]],
            metric=ceiling["metric"],
            share=ceiling["share"],
            tool=ceiling["tool"],
            ceiling=ceiling["value"],
        )
        for point in points
        if (ceiling := point.get("tool_ceiling")) and ceiling["is_bound"]
    ]
