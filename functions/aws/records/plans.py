"""The plan of a run, as the functions after Plan matrix read it back."""

from functools import lru_cache

from aws.records import bucket
from matrix.terms.documents import reading
from matrix.terms.documents.plan import PlanCell, PlanDocument, PlanFileSystem, PlanImage
from matrix.terms.keys import run_key

# Built while Lambda initialises a sandbox, and not in its first call: nearly each function reads the plan.
reading.adapter(PlanDocument)


@lru_cache(maxsize=4)
def plan_of(run: str) -> PlanDocument:
    """Return the run's plan. It never changes once written, so a warm sandbox reads it once."""
    plan = bucket.read(run_key(run, "plan.json"), PlanDocument)
    if plan is None:
        raise LookupError(f"run {run} has no plan.json in the bucket")
    return plan


def file_system_of(plan: PlanDocument, file_system: str) -> PlanFileSystem:
    """Return the plan's entry of one file system."""
    return next(planned for planned in plan["file_systems"] if planned["id"] == file_system)


def image_of(plan: PlanDocument, image: str) -> PlanImage:
    """Return the plan's entry of one machine image."""
    return next(planned for planned in plan["images"] if planned["id"] == image)


def cell_of(plan: PlanDocument, cell: str) -> PlanCell:
    """Return the plan's entry of one cell."""
    return next(planned for planned in plan["cells"] if planned["id"] == cell)
