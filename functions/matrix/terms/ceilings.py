"""The bottlenecks of a run, read from its summary, and the names of limits that are not a storage's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matrix.terms.names import reading_order

if TYPE_CHECKING:
    from matrix.terms.documents.bottleneck import Bottleneck
    from matrix.terms.documents.result import ResultDocument
    from matrix.terms.documents.summary import SummaryDocument

# A ceiling counts as reached from this share on: a workload that starts and ends never uses the last per cent of a
# limit that is enforced by the second.
REACHED = 0.9
NOT_SATURATED = "not saturated"
NOT_KNOWN = "not known"
TOOL = "tool"
PROCESSORS = "client CPU"
HOST = "processors of the host"
INSTANCE_NETWORK = "instance network allowance"
TCP_CONNECTIONS = "TCP connections"
INSTANCE_EBS = "instance EBS allowance"
LARGER_EBS = "take an instance type with more EBS bandwidth and IOPS"


def describe_limit(name: str) -> str:
    """Name a limit as readers know it; documents call the load generator `tool`."""
    return "load generator" if name == TOOL else name


def bottlenecks(summary: SummaryDocument) -> list[tuple[ResultDocument, Bottleneck]]:
    """Return (cell, its bottleneck) in reading order; cells without samples have none."""
    return [(cell, cell["bottleneck"]) for cell in reading_order(summary.get("cells", [])) if cell.get("bottleneck")]
