"""The plan of a run, as the functions after Plan matrix read it back."""

from functools import lru_cache
from typing import Any

from aws.records import bucket
from matrix.terms.keys import run_key


@lru_cache(maxsize=4)
def plan_of(run: str) -> dict[str, Any]:
    """Return the run's plan. It never changes once written, so a warm sandbox reads it once."""
    plan = bucket.get(run_key(run, "plan.json"))
    if plan is None:
        raise LookupError(f"run {run} has no plan.json in the bucket")
    return plan


def file_system_of(plan: dict[str, Any], file_system: str) -> dict[str, Any]:
    """Return the plan's entry of one file system."""
    return next(one for one in plan["file_systems"] if one["id"] == file_system)


def image_of(plan: dict[str, Any], image: str) -> dict[str, Any]:
    """Return the plan's entry of one machine image."""
    return next(one for one in plan["images"] if one["id"] == image)


def cell_of(plan: dict[str, Any], cell: str) -> dict[str, Any]:
    """Return the plan's entry of one cell."""
    return next(one for one in plan["cells"] if one["id"] == cell)
