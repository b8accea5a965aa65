"""What plans of earlier versions left out, because nothing else was possible then: their runs can still be resumed."""

from collections.abc import Mapping
from typing import Any

# Every fleet had 15 minutes until it had to be ready, and every root volume 20 GiB, until builds filled caches of their
# own. Before budgets were reserved, nothing said what a cell may cost at the most but its cost.
READY_WITHIN_S = 900.0
ROOT_VOLUME_GIB = 20


def completed_plan(plan: Mapping[str, Any]) -> dict[str, Any]:
    """Return a plan with what it left out; what is not as a plan has it stays for the check that follows."""
    of_cells: dict[str, Any] = {"ready_within_s": READY_WITHIN_S, "root_volume_gib": ROOT_VOLUME_GIB}
    completed = dict(plan)
    # Before an image was put together on each instance, too, only a baked one had provisions.
    of_images: dict[str, Any] = {"provisions": {}}
    for entries, defaults in (("cells", of_cells), ("file_systems", {}), ("images", of_images)):
        if isinstance(plan.get(entries), list):
            completed[entries] = [_completed(entry, defaults) for entry in plan[entries]]
    return completed


def _completed(entry: Any, defaults: Mapping[str, Any]) -> Any:
    if not isinstance(entry, Mapping):
        return entry
    cost_usd = entry.get("cost_usd")
    most = {"reserve_usd": cost_usd["high"]} if isinstance(cost_usd, Mapping) and "high" in cost_usd else {}
    return {**defaults, **most, **entry}
