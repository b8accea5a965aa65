"""Emulated storages: local engines keep to the limits that a matrix provisions, so that the true figures are known.

With `"emulate": true` the agent's own engines wait as long as the storage would make them (agent/engine/emulation.py).
The figures test the analysis and never a storage. So they have their own environment, and the names of their storages
are marked everywhere.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, TypeAlias, cast

from pydantic import Field

from matrix.fields.types import InputModel
from matrix.input.workloads import Workload
from matrix.storages.base import Storage
from matrix.storages.models import MODELS
from matrix.terms.documents.parts import Emulation
from matrix.terms.problems import InvalidMatrix, Problem, Problems
from matrix.terms.sentences import EMULATED, SLOWDOWN

# Key of a storage in plan and results, and the end of its id.
MARK = "emulated"
# Types whose models have the times of blocks.
_EMULATED = [name for name, model in MODELS.items() if "block_times" in vars(model)]


IOPS = ("iops", "read_iops", "write_iops")
THROUGHPUTS = ("bytes_per_s", "read_bytes_per_s")
LATENCIES = ("create_s", "read_s", "write_s", "sync_s")

Seconds = Annotated[int | float, Field(ge=0, le=60)]
Times = Annotated[int | float, Field(gt=0, le=1000)]
Operations = Annotated[int, Field(ge=1, le=10**9)]


class Quirks(InputModel):
    """Deviations of an emulated storage from its provisioned limits, which results must show."""

    times: Times = 1
    """Factor of the time of each operation."""
    tail_share: Annotated[int | float, Field(ge=0, le=1)] = 0
    """Share of the operations that take tailS instead, drawn by chance."""
    tail_s: Seconds = 0
    """Seconds of such an operation."""
    stall_every: Operations | None = None
    """Number of operations after which a shared storage stands still for stallS, again and again."""
    stall_s: Seconds = 0
    """Seconds of a standstill."""
    change_after: Operations | None = None
    """Number of operations after which a shared storage changes for good: credits run out, or a cache has filled."""
    change_times: Times = 1
    """How many times as long each operation takes from then on, and as much of the IOPS and bytes/s it costs."""
    noise: Annotated[int | float, Field(ge=0, le=1)] = 0
    """Standard deviation (of logarithms) of a factor per repetition for the latencies of all instances."""
    slow_times: Times = 1
    """How many times as long operations take on the first instance of a cell that comes to a shared storage."""


# What a matrix may say: whether, how many times as slow all are, or the quirks of storages by their names.
Emulate: TypeAlias = bool | int | Mapping[str, Quirks]


def quirks_of(storage: Storage, emulate: Emulate) -> dict[str, float]:
    """Return the quirks that a matrix sets for a storage, without default values, or how slow all storages are."""
    if isinstance(emulate, int) and not isinstance(emulate, bool):
        return {SLOWDOWN: emulate}
    quirks = emulate.get(storage.name or "") if isinstance(emulate, Mapping) else None
    return quirks.model_dump(exclude_defaults=True) if quirks else {}


def truth(storage: Storage, emulate: Emulate = True) -> Emulation:
    """Return the limits, latencies and quirks of an emulated `storage`: of a volume, or of a file system for all.

    ValueError: the type cannot be emulated.
    """
    block = storage.block_times
    if block is None:
        raise ValueError(f"{storage.type} cannot be emulated")
    known: dict[str, Any] = {
        "shared": storage.traits.is_shared,
        "iops": storage.effective_iops,
        "bytes_per_s": float(storage.bandwidth_bytes_per_s),
        "read_iops": None if block.is_free_of_iops else block.read_iops or storage.effective_iops,
        "read_bytes_per_s": float(block.read_bytes_per_s or storage.bandwidth_bytes_per_s),
        "write_iops": None if block.is_free_of_iops else storage.effective_iops,
        "unit_bytes": block.unit_bytes,
        "create_s": storage.create_latency_s,
        # A create on a journalled volume is not an operation of its own.
        "create_operations": int(storage.traits.is_shared),
        "read_s": block.read_s,
        "write_s": block.write_s,
        "sync_s": storage.sync_latency_s,
    }
    quirks = quirks_of(storage, emulate)
    slowdown = quirks.pop(SLOWDOWN, 1)
    for name in IOPS:
        known[name] = known[name] and max(1, round(known[name] / slowdown))
    for name in THROUGHPUTS:
        known[name] /= slowdown
    for name in LATENCIES:
        known[name] *= slowdown
    return cast("Emulation", known | quirks)


def marked(document: Mapping[str, Any], quirks: Mapping[str, float]) -> dict[str, Any]:
    """Return a storage's document with the mark of emulation, so that it never equals a measured one."""
    return {**document, MARK: dict(quirks) or True}


def marked_slug(slug: str) -> str:
    """Return the readable id of an emulated storage: it is in the ids of its cells, tables and charts."""
    return f"{slug}-{MARK}"


def environment_of(name: str, *, is_emulated: bool) -> str:
    """Return the environment of a run's figures, in the environment `name` of its stack.

    Raises InvalidMatrix if the matrix requests emulation and storages are real, or mounted by emulated machines.
    """
    if is_emulated and name != "local":
        where = "AWS" if name == "aws" else f"the environment {name}"
        rule = f"only local runs can emulate their storages, and this is {where}"
        fix = "leave it out to measure the storages, or run it with `matrix run FILE --local`"
        raise InvalidMatrix([Problem("emulate", True, rule, fix)])
    return EMULATED if is_emulated else name


def emulation_problems(
    storages: Sequence[tuple[str, Storage]],
    workloads: Sequence[tuple[str, Workload]],
    emulate: Emulate,
    *,
    is_whole: bool = True,
) -> Problems:
    """Yield a problem for each storage that has no known truth, and each workload that other programs would do.

    Both come with their paths. Unless they are the whole matrix, a name without a storage is not a problem.
    """
    names = sorted(storage.name for _, storage in storages if storage.name)
    for name in emulate if isinstance(emulate, Mapping) and is_whole else ():
        if name not in names:
            rule = f"is the name of no storage; names: {', '.join(names) or 'none'}"
            yield Problem(f"emulate.{name}", name, rule, "give that storage this `name`, or leave the entry out")
    for path, storage in storages:
        if storage.block_times is None:
            rule = f"cannot be emulated; can be: {', '.join(_EMULATED)}"
            yield Problem(f"{path}.type", storage.type, rule, "leave it out, or leave out emulate")
    for path, workload in workloads:
        refused = [params for params in workload.points() if not workload.can_be_emulated(params)]
        if refused:
            field = "tool" if "tool" in refused[0] else "type"
            value = refused[0].get("tool", workload.type)
            rule = "is not limited by an emulated storage: only the agent's own engines are"
            fix = (
                'write tool "engine"'
                if field == "tool"
                else "use read or metadata, or touch or dd with tool engine, or leave out emulate"
            )
            yield Problem(f"{path}.{field}", value, rule, fix)
