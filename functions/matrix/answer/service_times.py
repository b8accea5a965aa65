"""How long AWS took for a storage: until it was available, mounted, and gone again."""

from collections.abc import Iterable, Iterator, Mapping
from statistics import median
from typing import Any

from matrix.storages.models import existing_id
from matrix.terms.documents.plan import PlanDocument
from matrix.terms.documents.result import ResultDocument
from matrix.terms.documents.summary import ServiceTime

# Metrics by the states of a file system's row between whose first moments they are.
STATES = {"available_s": ("creating", "ready"), "deleted_s": ("deleting", "gone")}


def service_times(
    plan: PlanDocument, rows: Iterable[Mapping[str, Any]], results: Mapping[str, ResultDocument]
) -> list[ServiceTime]:
    """Return the times of each storage of a plan, over all that were made of it; `rows` are those of file systems.

    A file system that existed before was not created, and volumes are created with their instance: both have no such
    time.
    """
    by_id = {row["file_system"]: row for row in rows}
    seconds: dict[str, dict[str, list[float]]] = {}
    first: dict[str, str] = {}
    for planned in plan["file_systems"]:
        storage, row = planned["storage"], by_id.get(planned["id"], {})
        name = first.setdefault(repr(storage), planned["id"])
        of_storage = seconds.setdefault(name, {})
        if row.get("resource_ids") and not existing_id(storage):
            for metric, took_s in _between_states(row):
                of_storage.setdefault(metric, []).append(took_s)
        for cell in planned["cells"]:
            mounted_s = results[cell].get("mounted_s") if cell in results else None
            of_storage.setdefault("mounted_s", []).extend(mounted_s or [])
    storages = {planned["id"]: planned["storage"] for planned in plan["file_systems"]}
    return [
        {
            "file_system": name,
            "storage": storages[name],
            "metric": metric,
            "n": len(values),
            "p0": min(values),
            "p50": median(values),
            "p100": max(values),
        }
        for name, of_storage in seconds.items()
        for metric in ("available_s", "mounted_s", "deleted_s")
        if (values := of_storage.get(metric))
    ]


def _between_states(row: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    for metric, (begin, end) in STATES.items():
        if f"{begin}_at" in row and f"{end}_at" in row:
            yield metric, float(row[f"{end}_at"]) - float(row[f"{begin}_at"])
