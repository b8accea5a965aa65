"""Rules of a whole matrix: combinations of its parts, and its size."""

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product
from typing import Any, cast

from pydantic import ValidationError

from matrix.check import existing, hints, kinds, plan_warnings
from matrix.check.cells import Combination, ParsedMatrix, Unmatched
from matrix.check.objective import metrics_mean_the_same, objective_can_be_judged, objective_can_be_shown
from matrix.check.tags import tag_problems
from matrix.fields import limits
from matrix.fields.fleet import FleetAxis
from matrix.fields.types import AS_GIVEN, InputModel
from matrix.input import workloads
from matrix.input.emulation import emulation_problems
from matrix.input.image import BUILT
from matrix.input.matrix import Inclusion, Selector
from matrix.input.pace import turns_of
from matrix.input.workloads.contract import Clients
from matrix.input.workloads.read import ReadWorkload
from matrix.input.workloads.transfer import SOURCE_BYTES_PER_S, TransferWorkload
from matrix.storages.base import Storage
from matrix.storages.models import MODELS
from matrix.terms.documents.parts import Fleet
from matrix.terms.names import fleet_label
from matrix.terms.problems import Problem, Problems, Weight, check, path_text, shorten
from matrix.terms.quantities import count_of
from matrix.terms.sentences import MAX_NAMED, first_of
from matrix.terms.sizes import format_size

# Step Functions starts children for MANY_CELLS cells; a plan of more has not been tried, which is a warning.
# A plan of more than MAX_CELLS does not fit into the memory of the function that writes it, which is an error.
MANY_CELLS = 10_000
MAX_CELLS = 20_000
# The blackboard numbers steps with four digits.
MAX_STEPS_OF_CELL = 10_000
MAX_STEPS = 200_000
# Plan matrix names all of them in its answer: 70 bytes each of the 256 KiB that a state may pass on.
MAX_FILE_SYSTEMS = 3_000
# A file system needs room for its own structures: XFS about 1%, plus the agent's own files.
USABLE_SHARE = 0.95

_MODELS: Mapping[str, Mapping[str, Any]] = {"storage": MODELS, "workload": workloads.MODELS}


def read_part(axis: str, written: object) -> InputModel | None:
    """Return one entry of a list of the matrix, or None if its fields have wrong types."""
    models = _MODELS.get(axis)
    try:
        if models is None:
            return _OTHERS[axis].model_validate(written)
        kind = written.get("type") if isinstance(written, dict) else None
        return models[kind].model_validate(written) if isinstance(kind, str) and kind in models else None
    except ValidationError:
        return None


def part_problems(document: dict[str, Any]) -> Problems:
    """Yield what is wrong with each storage, workload and fleet that can be read, whatever the others are."""
    for axis in ("storage", "workload", "fleet"):
        for path, written in _written(document, axis):
            part = read_part(axis, written)
            for problem in check(part.rules(), part) if part else ():
                values = {path_text((key,)): value for key, value in written.items()}
                value = shorten(values.get(problem.path)) if problem.value is AS_GIVEN else problem.value
                dot = "" if problem.path.startswith("[") else "."
                yield replace(problem, path=f"{path}{dot}{problem.path}", value=value)


def _written(document: dict[str, Any], axis: str) -> Iterator[tuple[str, Any]]:
    """Yield each element of an axis as written; for storages and workloads also those of `include`."""
    elements, added = document.get(axis), document.get("include")
    for i, element in enumerate(elements if isinstance(elements, list) else []):
        yield f"{axis}[{i}]", element
    for i, inclusion in enumerate(added if isinstance(added, list) else []):
        if isinstance(inclusion, dict) and axis in _MODELS and axis in inclusion:
            yield f"include[{i}].{axis}", inclusion[axis]


def matrix_problems(parsed: ParsedMatrix) -> Problems:
    """Yield the problems of a matrix as a whole."""
    size_problems = list(check([cells_can_be_planned], parsed))
    yield from size_problems
    # More cells or steps than can be planned are not even made.
    if all(problem.is_warning for problem in size_problems):
        yield from check(_RULES, parsed)


def cells_can_be_planned(parsed: ParsedMatrix) -> Problems:
    """Yield problems with the sheer number of cells and steps, before anything is expanded."""
    matrix = parsed.matrix
    counts = [count for axis in matrix.fleet for count in axis.count for _ in axis.instance_type]
    cells = len(matrix.storage) * len(matrix.workload) * len(counts) + len(matrix.include)
    cells *= matrix.launches
    sum_ = f"{len(matrix.storage)} storages * {len(matrix.workload)} workloads * {len(counts)} fleets"
    sum_ += f" * {matrix.launches} launches" if matrix.launches > 1 else ""
    if cells > MANY_CELLS:
        rule = f"{sum_} are {cells:,} cells; more than {MANY_CELLS:,} have not been tried"
        fix = "use sweeps inside workloads, or several matrices"
        yield Problem("storage", cells, rule, fix, weight=Weight.NOTE if cells <= MAX_CELLS else None)
    total = 0
    for path, workload in parsed.parts("workload"):
        steps = workload.number_of_points * matrix.repetitions
        total += steps * len(matrix.storage) * len(counts) * matrix.launches
        if steps > MAX_STEPS_OF_CELL:
            repeated = count_of(matrix.repetitions, "repetition")
            rule = f"its sweeps and {repeated} are {steps:,} steps; a cell has at most 10,000"
            yield Problem(path, steps, rule, "sweep less, or repeat less")
    if total > MAX_STEPS:
        rule = f"{total:,} steps over all cells; a plan holds at most {MAX_STEPS:,}"
        yield Problem("repetitions", matrix.repetitions, rule, "measure fewer points, repetitions or cells")
    file_systems = (len(matrix.storage) + len(matrix.include)) * matrix.launches
    if file_systems > MAX_FILE_SYSTEMS:
        rule = (
            f"{file_systems:,} file systems over all launches; Step Functions is told of {MAX_FILE_SYSTEMS:,} at most"
        )
        yield Problem("launches", matrix.launches, rule, "launch less often, or compare fewer storages")
    per_file_system = max([*counts, *(inclusion.fleet.count for inclusion in matrix.include)], default=0)
    at_once = per_file_system * min(matrix.max_concurrent_file_systems, len(matrix.storage) + len(matrix.include))
    if at_once > limits.EC2_AT_ONCE.value:
        rule = f"up to {at_once:,} instances at once; more than {limits.EC2_AT_ONCE.value:,.0f} have not been tried"
        fix = "write a smaller maxConcurrentFileSystems, and check the account's vCPU quota"
        yield Problem("maxConcurrentFileSystems", matrix.max_concurrent_file_systems, rule, fix, weight=Weight.NOTE)


def names_are_different(parsed: ParsedMatrix) -> Problems:
    """Yield a problem for each storage or workload with the name of another one."""
    for axis in ("storage", "workload"):
        first: dict[str, str] = {}
        for path, part in parsed.parts(axis):
            if part.name is not None and first.setdefault(part.name, path) != path:
                rule = f"{first[part.name]} has this name already"
                yield Problem(f"{path}.name", part.name, rule, "give each its own name")


def exclusions_leave_cells(parsed: ParsedMatrix) -> Problems:
    """Yield a problem for each exclusion that matches no cell, and for exclusions that leave none."""
    if not parsed.is_whole:  # it may be meant for a part that could not be read
        return
    for unmatched in parsed.unmatched_exclusions():
        yield Problem(unmatched.path, shorten(unmatched.value), "matches no cell", _correct(unmatched))
    if not parsed.cells:
        yield Problem("exclude", f"a list of {len(parsed.matrix.exclude)}", "leaves no cell to measure", "exclude less")


def _correct(unmatched: Unmatched) -> str:
    """Return how to correct a field of an exclusion: the field, or the value, that was probably meant."""
    key = unmatched.key
    parts = [part.model_dump(mode="json", by_alias=True) for part in unmatched.parts]
    if not parts:
        return "leave it out: the matrix has no such list"
    known = list(dict.fromkeys(name for part in parts for name in part))
    if key not in known:
        meant = hints.meant(key[:60], known)
        return f"did you mean {meant}?" if meant else f"write one of the fields {', '.join(known)}"
    values = dict.fromkeys(json.dumps(part[key]) for part in parts if part.get(key) is not None)
    if not values:
        return "leave it out: the matrix has no value there"
    return f"write a value of the matrix: {shorten(first_of(list(values), MAX_NAMED))}"


def cells_are_different(parsed: ParsedMatrix) -> Problems:
    """Yield a problem for each storage, workload or cell that another one equals."""
    duplicated = False
    for axis in ("storage", "workload"):
        first: dict[str, str] = {}
        for path, part in parsed.parts(axis):
            earlier = first.setdefault(part.fingerprint, path)
            if earlier != path:
                duplicated = True
                rule = f"is the same as {earlier}: its cells would be duplicates"
                yield Problem(path, None, rule, "leave one out, or give both a name")
    if duplicated:
        return
    seen: dict[tuple[str, str, str], str] = {}
    reported: set[str] = set()
    for cell in parsed.cells:
        key = (cell.storage.fingerprint, cell.workload.fingerprint, cell.fleet.fingerprint)
        path = cell.fleet_path.removesuffix(".fleet")
        earlier = seen.setdefault(key, path)
        if earlier != path and path not in reported:
            reported.add(path)
            fleet = fleet_label(cast("Fleet", cell.fleet.document))
            rule = f"makes a cell that {earlier} has already: {fleet} on {cell.storage_name}"
            yield Problem(path, cell.fleet.slug, rule, "leave one out")


def data_fits_on_the_storage(parsed: ParsedMatrix) -> Problems:
    """Yield a problem for each workload that does not fit on a storage of the same cell."""
    largest: dict[tuple[str, str, float | None], Combination] = {}
    for cell in parsed.cells:
        capacity_gib = cell.storage.capacity_gib(cell.fleet.instance_type)
        key = (cell.storage.fingerprint, cell.workload.fingerprint, capacity_gib)
        if key not in largest or cell.fleet.count > largest[key].fleet.count:
            largest[key] = cell
    for cell in largest.values():
        gib = cell.storage.capacity_gib(cell.fleet.instance_type)
        if not gib:
            continue
        instances = cell.fleet.count if cell.storage.traits.is_shared else 1
        stored = max(
            cell.workload.footprint(point, cell.storage, Clients(instances)).stored_bytes
            for point in cell.workload.points()
        )
        usable = 1.0 if cell.workload.wants_device else USABLE_SHARE
        room = gib * 2**30 * usable
        if stored * instances > room:
            of_all = f"{instances} instances * " if instances > 1 else ""
            size_field = cell.workload.size_path
            needed = math.ceil(stored * instances / usable / 2**30)
            yield Problem(
                f"{cell.workload_path}.{size_field}",
                format_size(int(stored)),
                f"{of_all}{format_size(int(stored))} do not fit on {cell.storage_name} ({gib:.0f} GiB)",
                f"write a smaller {size_field}, or {needed} GiB of storage",
            )


def instances_reach_the_storages_zone(parsed: ParsedMatrix) -> Problems:
    """Yield a problem for instances that could not mount a storage from their zone."""
    for cell in parsed.cells:
        why, placement = cell.storage.only_in_its_zone, cell.fleet.placement
        if why is None or placement is None:
            continue
        is_elsewhere = placement == "spread" if isinstance(placement, str) else any(placement[1:])
        if is_elsewhere:
            rule = f"cannot be done on {cell.storage_name}: {why}"
            yield Problem("fleet.placement", placement, rule, "write same-az, or deployment regional")
            return


def image_has_what_is_needed(parsed: ParsedMatrix) -> Problems:
    """Yield a problem for a client or a container that the image cannot have."""
    matrix = parsed.matrix
    is_built = any(cell.workload.document.get("container") == BUILT for cell in parsed.cells)
    if is_built and not (matrix.image and matrix.image.dockerfile):
        rule = f"is missing: a workload runs in {BUILT}, the container image that is built of it"
        yield Problem("image.dockerfile", None, rule, "write a Dockerfile, or another container")
    if matrix.image:
        refused = (cell.storage.refused_by_image(matrix.image.os) for cell in parsed.cells)
        for rule, fix in dict.fromkeys(filter(None, refused)):
            yield Problem("image.os", matrix.image.os, rule, fix)


def server_takes_the_readers(parsed: ParsedMatrix) -> Problems:
    """Yield a problem for each workload that a storage's server would refuse: too many readers, or too much at once."""
    reported: set[tuple[str, str]] = set()
    for cell in parsed.cells:
        if not isinstance(cell.workload, ReadWorkload):
            continue
        path = cell.workload_path
        for problem in _refused_readers(path, cell.storage, cell.workload, cell.fleet.count):
            if (problem.path, problem.rule) not in reported:
                reported.add((problem.path, problem.rule))
                yield problem


def _refused_readers(path: str, storage: Storage, workload: ReadWorkload, count: int) -> Problems:
    threads, of = max(workload.threads), storage.traits.words.label.lower()
    if storage.traits.most_readers and threads * count > storage.traits.most_readers:
        rule = f"{count_of(count, 'instance')} of {count_of(threads, 'thread')} are {threads * count:,} readers"
        rule += f" of one {of}; at most {storage.traits.most_readers:,}"
        yield Problem(f"{path}.threads", threads, rule, "write fewer threads, or a smaller fleet")
    most = storage.traits.most_answer_bytes
    for batch, size in product(workload.batch, workload.request_size):
        if batch > 1 and most is None:
            rule = f"only a file server takes several requests at once; {storage.traits.words.label} takes one"
            yield Problem(f"{path}.batch", batch, rule, "leave it out, and write the size of one read as requestSize")
            return
        if most and batch * size > most:
            rule = f"{batch:,} requests of {format_size(size)} are one answer of a {of}, which a thread holds in"
            yield Problem(
                f"{path}.batch",
                batch,
                f"{rule} memory; at most {format_size(most)}",
                "write fewer, or a smaller requestSize",
            )
            return


def source_is_as_fast_as_the_storage(parsed: ParsedMatrix) -> Problems:
    """Yield a warning for each transfer to storages that are faster than the volume with the data."""
    faster: dict[str, dict[str, float]] = {}
    for cell in parsed.cells:
        if isinstance(cell.workload, TransferWorkload):
            share = Clients(cell.fleet.count).bytes_per_s(cell.storage)
            if share > SOURCE_BYTES_PER_S:
                share_of = faster.setdefault(cell.workload_path, {})
                name = cell.storage_name
                share_of[name] = max(share_of.get(name, 0.0), share)
    for path, shares in faster.items():
        most = "; ".join(f"{name} takes up to {share / 2**20:,.0f}" for name, share in shares.items())
        rule = (
            f"its files are read from their volume at {SOURCE_BYTES_PER_S / 2**20:.0f} MiB/s, but of each instance "
            f"{most}: where a tool is that fast, this measures that volume"
        )
        fix = f"take results near {SOURCE_BYTES_PER_S / 1e6:.0f} MB/s for the source's, and dd or fio for the storage's"
        yield Problem(f"{path}.type", "transfer", rule, fix, weight=Weight.UNFAIR)


def file_systems_are_filled_once(parsed: ParsedMatrix) -> Problems:
    """Yield a problem if one shared file system would have to be filled in two ways."""
    first: dict[str, Any] = {}
    reported: set[str] = set()
    for cell in parsed.cells:
        if not cell.storage.traits.is_shared or not cell.workload.populate_seconds:
            continue
        earlier = first.setdefault(cell.storage.fingerprint, cell.workload)
        if earlier.fingerprint != cell.workload.fingerprint and cell.storage.fingerprint not in reported:
            reported.add(cell.storage.fingerprint)
            rule = f"two workloads populate {cell.storage_name}; a file system is populated once"
            fix = "populate both caches in one command, or use two matrices"
            yield Problem("workload", f"{earlier.slug}, {cell.workload.slug}", rule, fix)


def history_has_room_for_the_cells(parsed: ParsedMatrix) -> Problems:
    """Yield a problem if a storage has more cells than the history of one execution holds."""
    count = Counter(cell.storage.fingerprint for cell in parsed.cells)
    most = max(count.values(), default=0)
    if turns_of(most) <= 2 * most:
        rule = f"{most} cells on one storage do not fit into the 25,000 events of one execution"
        fix = "measure less, or give the storage more than once with different names"
        yield Problem("fleet", f"{most} cells", rule, fix)


def tags_are_taken(parsed: ParsedMatrix) -> Problems:
    """Yield a problem for each tag that AWS would refuse."""
    return tag_problems(parsed.matrix.tags)


def storages_can_be_emulated(parsed: ParsedMatrix) -> Problems:
    """Yield a problem for each part that cannot be emulated, if that is asked for."""
    matrix = parsed.matrix
    if matrix.emulate:
        yield from emulation_problems(parsed.storages, parsed.workloads, matrix.emulate, is_whole=parsed.is_whole)


_OTHERS: Mapping[str, type[InputModel]] = {"fleet": FleetAxis, "include": Inclusion, "exclude": Selector}
_RULES = (
    tags_are_taken,
    objective_can_be_judged,
    objective_can_be_shown,
    names_are_different,
    exclusions_leave_cells,
    cells_are_different,
    data_fits_on_the_storage,
    *plan_warnings.RULES,
    *kinds.RULES,
    image_has_what_is_needed,
    instances_reach_the_storages_zone,
    server_takes_the_readers,
    source_is_as_fast_as_the_storage,
    file_systems_are_filled_once,
    *existing.RULES,
    metrics_mean_the_same,
    history_has_room_for_the_cells,
    storages_can_be_emulated,
)
