"""Which ceiling each cell hit, as a reader of a run's summary sees it."""

from typing import Any

from matrix.terms.names import reading_order

PROVISIONAL = "CloudWatch's metrics may still arrive: `matrix report` looks again"


def bottlenecks(summary: dict[str, Any]) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Return (cell, its bottleneck) in reading order; cells without samples and older runs have none."""
    return [(cell, cell["bottleneck"]) for cell in reading_order(summary.get("cells", [])) if cell.get("bottleneck")]


def by_ceiling(summary: dict[str, Any]) -> dict[str, list[tuple[dict[str, Any], dict[str, Any]]]]:
    """Return the same by the ceiling's name, the most frequent first: a run of 100 cells hits three or four."""
    groups: dict[str, list[tuple[dict[str, Any], dict[str, Any]]]] = {}
    for cell, found in bottlenecks(summary):
        groups.setdefault(found["name"], []).append((cell, found))
    return dict(sorted(groups.items(), key=lambda item: -len(item[1])))


def why_not(found: dict[str, Any]) -> str:
    """Write how much was used of each ceiling that was not the one: `client CPU 12 %, volume throughput 9 %`."""
    highest: dict[str, float] = {}
    for one in found["others"]:
        highest[one["name"]] = max(highest.get(one["name"], 0.0), one["share"])
    return ", ".join(f"{name} {100 * share:.0f} %" for name, share in highest.items())
