"""The programs that a cell needs and a fresh machine image lacks. The agent installs them; a baked image has them.

The agent's modules call these programs; a test compares this module and the models with them.
"""

from collections.abc import Sequence

from matrix.input import workloads
from matrix.storages.models import MODELS
from matrix.terms.documents.parts import Params, Part

# By the `tool` of a point, for all workloads; the agent's own engines need no programs.
_OF_TOOL = {
    "parallel": {"parallel"},
    "rsync": {"rsync"},
    "fpsync": {"fpsync", "rsync"},
    "cp+parallel": {"parallel"},
    "fpart+cpio+parallel": {"fpart", "parallel", "cpio"},
}


def of_cell(storage: Part, workload: Part, points: Sequence[Params]) -> set[str]:
    """Return the names of the programs that a storage, a workload and its points' parameters (documents) need."""
    return {*of_storage(storage), *of_work(workload, points)}


def of_storage(storage: Part) -> frozenset[str]:
    """Return the programs that make or mount a storage."""
    return MODELS[storage["type"]].tools(storage)


def of_work_volume() -> set[str]:
    """Return the programs that make a file system on a work volume."""
    return {"mkfs.xfs", "blkid"}


def of_work(workload: Part, points: Sequence[Params]) -> set[str]:
    """Return the programs that a workload and its points' parameters need."""
    of_points = (_OF_TOOL.get(str(params.get("tool")), set()) for params in points)
    engine = {"docker"} if any(params.get("container") for params in points) else set()
    return set(workloads.MODELS[workload["type"]].tools).union(engine, *of_points)
