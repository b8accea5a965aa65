"""Which ceiling each cell of a run hit, read from the run's summary."""

from collections.abc import Mapping
from typing import Any

from matrix.terms.documents.result import Bottleneck, ResultDocument
from matrix.terms.documents.summary import SummaryDocument
from matrix.terms.names import reading_order

LARGER_EBS = "take an instance type with more EBS bandwidth and IOPS"
PROVISIONAL = "CloudWatch's metrics may still arrive: `matrix report` looks again"


def bottlenecks(summary: SummaryDocument) -> list[tuple[ResultDocument, Bottleneck]]:
    """Return (cell, its bottleneck) in reading order; cells without samples and older runs have none."""
    return [(cell, cell["bottleneck"]) for cell in reading_order(summary.get("cells", [])) if cell.get("bottleneck")]


def by_ceiling(summary: SummaryDocument) -> dict[str, list[tuple[ResultDocument, Bottleneck]]]:
    """Return (cell, its bottleneck) by the ceiling's name, the most frequent first; 100 cells hit three or four."""
    groups: dict[str, list[tuple[ResultDocument, Bottleneck]]] = {}
    for cell, bottleneck in bottlenecks(summary):
        groups.setdefault(bottleneck["name"], []).append((cell, bottleneck))
    return dict(sorted(groups.items(), key=lambda item: -len(item[1])))


def why_not(bottleneck: Mapping[str, Any]) -> str:
    """Write how much was used of each ceiling that was not hit: `client CPU 12 %, volume throughput 9 %`."""
    highest: dict[str, float] = {}
    for other in bottleneck["others"]:
        highest[other["name"]] = max(highest.get(other["name"], 0.0), other["share"])
    return ", ".join(f"{name} {100 * share:.0f} %" for name, share in highest.items())
