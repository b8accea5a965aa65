"""Emulated storages: what a matrix provisions becomes the known truth that local engines keep to.

A local run whose matrix says `"emulate": true` plays its storages: the agent's own engines wait as long as the storage
would make them (agent/engine/emulation.py). The figures test the method, never a storage, so they carry their own
environment and their storages are marked wherever they are named.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, cast

from pydantic import BaseModel

from matrix.input.storages import Storage
from matrix.terms.documents.parts import Emulation
from matrix.terms.problems import InvalidMatrix, Problem, Problems

ENVIRONMENT = "emulated"
# Key of a storage in plan and results, and what its id ends with.
MARK = "emulated"

KIB = 1_024
# Seconds of one read and of one write beside their bytes: EBS's "single-digit milliseconds" and io2's "under 500 µs",
# EFS's 250 µs and 2.7 ms, FSx's "few hundred microseconds" (performance chapters of the three user guides).
READ_AND_WRITE_S = {"ebs": (0.001, 0.001), "efs": (0.000_25, 0.002_7), "fsx-openzfs": (0.000_5, 0.000_5)}
IO2_READ_AND_WRITE_S = (0.000_5, 0.000_5)
HDD_READ_AND_WRITE_S = (0.01, 0.01)
# A larger block counts as several operations (EBS user guide, I/O characteristics; NFS: the rsize of our mounts).
SSD_UNIT_BYTES, HDD_UNIT_BYTES, NFS_UNIT_BYTES = 256 * KIB, 1_024 * KIB, 1_024 * KIB
HDD = {"st1", "sc1"}


@dataclass(frozen=True)
class Truth:
    """What an emulated storage does: of a volume to its instance, of a file system to all instances together."""

    shared: bool
    iops: int
    bytes_per_s: float
    unit_bytes: int
    create_s: float
    create_operations: int  # of a journalled volume a create is no operation of its own
    read_s: float
    write_s: float
    sync_s: float

    def to_document(self) -> Emulation:
        """Return it as the plan, the job and the cell's result have it."""
        return cast("Emulation", asdict(self))


def truth(storage: Storage) -> Truth:
    """Return how fast `storage` is by what is provisioned for it; KeyError for a type that cannot be emulated."""
    volume_type = getattr(storage, "volume_type", None)
    read_s, write_s = READ_AND_WRITE_S[storage.type]
    unit_bytes = SSD_UNIT_BYTES if storage.type == "ebs" else NFS_UNIT_BYTES
    if volume_type == "io2":
        read_s, write_s = IO2_READ_AND_WRITE_S
    if volume_type in HDD:
        read_s, write_s = HDD_READ_AND_WRITE_S
        unit_bytes = HDD_UNIT_BYTES
    return Truth(
        shared=storage.is_shared,
        iops=storage.effective_iops,
        bytes_per_s=float(storage.bandwidth_bytes_per_s),
        unit_bytes=unit_bytes,
        create_s=storage.create_latency_s,
        create_operations=int(storage.is_shared),
        read_s=read_s,
        write_s=write_s,
        sync_s=storage.sync_latency_s,
    )


def marked(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a storage's document as one that nobody takes for a measured one, and that equals none of those."""
    return {**document, MARK: True}


def marked_slug(slug: str) -> str:
    """Return the readable id of an emulated storage: it is in the ids of its cells, tables and charts."""
    return f"{slug}-{MARK}"


def environment_of(name: str, *, is_emulated: bool) -> str:
    """Return the environment that a run's figures carry, in the environment `name` of its stack.

    Raises InvalidMatrix where emulation was asked for and storages are real, or mounted by emulated machines.
    """
    if is_emulated and name != "local":
        where = "AWS" if name == "aws" else f"the environment {name}"
        rule = f"only local runs can emulate their storages, and this is {where}"
        fix = "leave it out to measure the storages, or run it with `matrix run FILE --local`"
        raise InvalidMatrix([Problem("emulate", True, rule, fix)])
    return ENVIRONMENT if is_emulated else name


def emulation_problems(storages: list[Storage], workloads: list[BaseModel]) -> Problems:
    """Yield a problem for each storage that has no known truth, and each workload that other programs would do."""
    for i, storage in enumerate(storages):
        if storage.type not in READ_AND_WRITE_S:
            rule = f"cannot be emulated; can be: {', '.join(READ_AND_WRITE_S)}"
            yield Problem(f"storage[{i}].type", storage.type, rule, "leave it out, or leave out emulate")
    for i, workload in enumerate(workloads):
        refused = [params for params in workload.points() if not can_be_emulated(workload, params)]  # type: ignore[attr-defined]
        if refused:
            field = "tool" if "tool" in refused[0] else "type"
            value = refused[0].get("tool", getattr(workload, "type", None))
            rule = "is not limited by an emulated storage: only the agent's own engines are"
            fix = (
                'write tool "engine"'
                if field == "tool"
                else "use read, or touch or dd with tool engine, or leave out emulate"
            )
            yield Problem(f"workload[{i}].{field}", value, rule, fix)


def can_be_emulated(workload: BaseModel, params: Mapping[str, Any]) -> bool:
    """Return whether the agent's own engines do a point: a workload that has such points says which."""
    says = getattr(workload, "can_be_emulated", None)
    return bool(says and says(params))
