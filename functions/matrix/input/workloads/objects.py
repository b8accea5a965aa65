"""Requests to an object store: PUT, GET, HEAD, LIST and DELETE of whole objects, each alone or mixed."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from matrix.fields.types import Rule, Size, Sweep
from matrix.input.workloads.contract import Clients
from matrix.input.workloads.open_loop import OpenLoopModel, a_limit_has_its_rates
from matrix.input.workloads.sizes import EQUAL, SizesField, a_list_has_all_sizes, is_listed, sizes_of, total_bytes
from matrix.input.workloads.sweeps import Footprint, Params, combinations, values_are_different
from matrix.storages.base import Storage
from matrix.terms.metrics import latencies
from matrix.terms.open_loop import HIGHEST_RATE, RATE
from matrix.terms.problems import Problems
from matrix.terms.sizes import UNITS, format_size

Operation = Literal["put", "get", "head", "list", "delete"]
MIX = "mix"
OPERATIONS: tuple[Operation, ...] = ("put", "get", "head", "list", "delete")
# Default of `warp mixed` (https://github.com/minio/warp, README; its STAT is a HEAD).
USUAL_MIX: Mapping[Operation, int] = {"get": 45, "head": 30, "put": 15, "delete": 10}
# Operations on objects that exist before the measurement.
LOOKING = ("get", "head", "list")
# S3 user guide, multipart upload limits: parts of 5 MiB to 5 GiB, the last may be smaller, 10,000 at the most.
MIN_PART_BYTES, MAX_PARTS = 5 * UNITS["MiB"], 10_000
# Each thread has the data that it sends in memory.
MAX_SENT_BYTES = 64 * UNITS["MiB"]
# S3 API: of a page of ListObjectsV2, of one DeleteObjects.
MAX_KEYS = 1_000
# As in agent/workloads/objects.py: threads that put objects before the measurement, objects read again after it.
WORKERS, READ_AGAIN = 16, 16
# Requests by which the engine sees whether threads or processes suit: 0.1 s of them, and one more for each instance.
PILOT = 10
# Processor time of botocore for one request, on as many processors as the smallest usual instance has.
CLIENT_S, PROCESSORS = 0.0015, 2


class ObjectsWorkload(OpenLoopModel):
    """Makes requests for whole objects, as `warp` and `elbencho` do; primary metric requests_per_s."""

    primary_metric: ClassVar[str] = "requests_per_s"
    open_loop_metric: ClassVar[str] = "request_lat_p99_us"
    yields: ClassVar[frozenset[str]] = frozenset(
        {
            *("requests_per_s", "objects_per_s", "mb_per_s", "longest_stall_s", HIGHEST_RATE),
            *("throttled_requests", "failed_requests"),
            *latencies("request", *OPERATIONS),
        }
    )
    size_field: ClassVar[str] = "objectSize"
    operations_field: ClassVar[str] = "requests"
    setting_apart: ClassVar[tuple[str, ...]] = ("sizes",)

    type: Literal["objects"]
    """Kind of workload."""
    operation: Sweep[Literal["put", "get", "head", "list", "delete", "mix"]] = Field(default=list(OPERATIONS))
    """Requests: one operation, or a mix of operations by weights."""
    mix: Annotated[
        dict[Operation, Annotated[int, Field(ge=1, le=1_000)]] | None,
        Field(min_length=2, examples=[{"get": 70, "put": 30}]),
    ] = None
    """Weights of the operations of `mix`; unless given 45 get, 30 head, 15 put and 10 delete, as warp has it."""
    requests: Annotated[Sweep[Annotated[int, Field(ge=1, le=1_000_000)]], Field(examples=[10_000])]
    """Requests that each instance makes in one step, over all its threads. A PUT in parts counts as one."""
    objects: Annotated[int, Field(ge=1, le=1_000_000)] = 1_000
    """Objects of each instance that GET, HEAD and LIST find; they are put before the time."""
    object_size: Sweep[Size] = Field(default=[65_536])
    """Size of each object."""
    sizes: Annotated[SizesField, Field(examples=[{"lognormal": 1.5}])] = EQUAL
    """All objects have this size, or it is the mean of a distribution; or sizes with weights."""
    part_size: Annotated[Size | None, Field(examples=["8MiB"])] = None
    """Larger objects are put in parts of this size, one after the other by each thread. Default: in one request."""
    keys_per_list: Annotated[int, Field(ge=1, le=MAX_KEYS)] = MAX_KEYS
    """Keys of one page of a listing (MaxKeys); a LIST request is a page."""
    keys_per_delete: Annotated[int, Field(ge=1, le=MAX_KEYS, examples=[1_000])] = 1
    """Objects that one DELETE request deletes: 1 by DeleteObject, more by DeleteObjects."""
    prefixes: Sweep[Annotated[int, Field(ge=1, le=999)]] = Field(default=[1])
    """Prefixes below which the objects of each instance lie, equally many in each: S3 bounds requests by prefix."""
    threads: Sweep[Annotated[int, Field(ge=1, le=1_024)]] = Field(default=[1])
    """Requests at once on each instance."""

    def points(self) -> list[Params]:
        """Return the parameters of each point, without parameters that do not apply to its operation."""
        swept = combinations(
            {
                "operation": self.operation,
                "requests": self.requests,
                "object_bytes": [sizes_of(size, self.sizes).mean_bytes for size in self.object_size],
                "prefixes": self.prefixes,
                "threads": self.threads,
            }
        )
        apart = self.set_apart(self.document)
        return self.with_rates([self._with_what_it_needs(point) | apart for point in swept])

    def _with_what_it_needs(self, point: Params) -> Params:
        counts = self._counts(point)
        more: Params = {}
        if point["operation"] == MIX:
            more["mix"] = ", ".join(f"{name} {count}" for name, count in counts.items())
        if any(name in counts for name in LOOKING):
            more["objects"] = self.objects
        if self.part_size is not None and point["object_bytes"] > self.part_size:
            more["part_bytes"] = self.part_size
        if "list" in counts:
            more["keys_per_list"] = self.keys_per_list
        if "delete" in counts:
            more["keys_per_delete"] = self.keys_per_delete
        return {name: value for name, value in point.items() if name != "prefixes" or value > 1} | more

    def _counts(self, params: Params) -> dict[str, int]:
        """Return the number of requests of each operation at a point, by the largest-remainder method."""
        requests = int(params["requests"])
        if params["operation"] != MIX:
            return {str(params["operation"]): requests}
        weights = self.mix or USUAL_MIX
        total = sum(weights.values())
        counts: dict[str, int] = {name: requests * weight // total for name, weight in weights.items()}
        by_remainder = sorted(weights, key=lambda name: -(requests * weights[name] % total))
        for name in by_remainder[: requests - sum(counts.values())]:
            counts[name] += 1
        return {name: count for name, count in counts.items() if count}

    def operations(self, params: Params) -> float:
        return float(params["requests"])

    def latencies_of(self, operation: str, params: Params, storage: Storage, clients: Clients) -> float:
        """Return the requests of an operation, or of the whole mix."""
        if operation == "request":
            return super().latencies_of(operation, params, storage, clients)
        return float(self._counts(params).get(operation, 0))

    def footprint(self, params: Params, storage: Storage, clients: Clients) -> Footprint:
        """Return the expected footprint of one instance: requests by billing class, and bytes.

        PUT and LIST are one class, GET and HEAD the other; DELETE is free. Requests before and after the measured time
        are included: preparing PUTs, and checking LISTs and GETs.
        """
        counts, size = self._counts(params), params["object_bytes"]
        sharing, bytes_per_s = clients.sharing(storage), clients.bytes_per_s(storage, params["threads"])
        put, got, headed, listed = (counts.get(name, 0) for name in ("put", "get", "head", "list"))
        # Those to be read are put once for all points of a size that read.
        looking = [point for point in self.points() if "objects" in point and point["object_bytes"] == size]
        objects = params.get("objects", 0)
        kept = objects / len(looking) if objects else 0.0
        doomed = counts.get("delete", 0) * params.get("keys_per_delete", 1)
        again = min(put, READ_AGAIN)
        put_bytes, doomed_bytes, kept_bytes = (total_bytes(n, size, self.sizes) for n in (put, doomed, objects))
        got_bytes = got * kept_bytes / max(1, objects)
        listing = 3 * params.get("prefixes", 1) + (put + doomed) / MAX_KEYS
        each = self._requests_of_a_put(params)
        changing_s = (put * each + counts.get("delete", 0)) * storage.create_latency_s
        waiting_s = (changing_s + (got + headed + listed) * storage.read_latency_s) / params["threads"]
        requests = put * each + got + headed + listed + counts.get("delete", 0)
        working_s = max(
            waiting_s + (put_bytes + got_bytes) / bytes_per_s,
            requests * sharing / storage.effective_iops,
            requests * CLIENT_S / min(PROCESSORS, params["threads"]),
            self.paced_s(params),
        )
        making_s = each * max(storage.create_latency_s / WORKERS, CLIENT_S) + size / bytes_per_s
        return Footprint(
            working_s + doomed * making_s,
            read_bytes=got_bytes + again * put_bytes / max(1, put),
            written_bytes=put_bytes + doomed_bytes,
            stored_bytes=put_bytes + doomed_bytes + self._kept_bytes,
            read_requests=got + headed + again + PILOT,
            write_requests=(put + doomed) * each + listed + listing + PILOT,
            making_s=kept * making_s,
            made_bytes=kept_bytes * kept / max(1, objects),
            made_requests=kept * each,
        )

    @staticmethod
    def _requests_of_a_put(params: Params) -> int:
        """One; in parts one for each and one more to begin and to complete."""
        part = params.get("part_bytes")
        return -(-params["object_bytes"] // part) + 2 if part else 1

    @property
    def _kept_bytes(self) -> int:
        """Objects to be read stay until the cell ends, of each size and number of prefixes."""
        kinds = {(point["object_bytes"], point.get("prefixes")) for point in self.points() if "objects" in point}
        return sum(total_bytes(self.objects, size, self.sizes) for size, _ in kinds)

    @property
    def wants_objects(self) -> bool:
        """Whether it asks for objects, which a file system has not: it does."""
        return True

    @classmethod
    def judged_by(cls, params: Params, workload: dict[str, Any]) -> str:
        """Return the metric that a point is judged by; in an open loop of one operation its own P99."""
        if RATE in params and params["operation"] != MIX:
            return f"{params['operation']}_lat_p99_us"
        return super().judged_by(params, workload)

    @classmethod
    def rules(cls) -> tuple[Rule, ...]:
        return (
            a_mix_is_asked_for,
            only_deletes_are_batched,
            each_thread_has_a_request,
            each_prefix_has_an_object,
            what_is_sent_fits_into_memory,
            drawn_objects_have_no_parts,
            a_list_stands_alone,
            parts_are_those_of_s3,
            a_limit_has_its_rates,
            values_are_different,
        )


def a_mix_is_asked_for(part: ObjectsWorkload) -> Problems:
    """Yield a problem for weights of a mix that no point has."""
    if part.mix is not None and MIX not in part.operation:
        yield part.problem("mix", "has the weights of operation mix, which is not asked for", 'write operation "mix"')


def only_deletes_are_batched(part: ObjectsWorkload) -> Problems:
    """Yield a problem for batches of deletes that no point makes."""
    if part.keys_per_delete > 1 and not any(_has(part, operation, "delete") for operation in part.operation):
        rule = "is for operation delete, and for a mix that has it"
        yield part.problem("keysPerDelete", rule, 'write operation "delete" too, or leave it out')


def _has(part: ObjectsWorkload, operation: str, wanted: str) -> bool:
    return wanted in (part.mix or USUAL_MIX) if operation == MIX else operation == wanted


def each_thread_has_a_request(part: ObjectsWorkload) -> Problems:
    """Yield a problem if a thread would have no request."""
    least, most = min(part.requests), max(part.threads)
    if least < most:
        yield part.problem("requests", f"leaves some of {most} threads without one", f"write {most} or more")


def each_prefix_has_an_object(part: ObjectsWorkload) -> Problems:
    """Yield a problem if a listing of a prefix would be empty."""
    most = max(part.prefixes)
    if part.objects < most:
        yield part.problem(
            "objects", f"leaves some of {most} prefixes empty", f"write {most} or more", value=part.objects
        )


def what_is_sent_fits_into_memory(part: ObjectsWorkload) -> Problems:
    """Yield a problem for an object, or a part of one, that is too large for each thread to hold."""
    limit = format_size(MAX_SENT_BYTES)
    rule = f"each thread holds what it sends; at most {limit} at once"
    if part.part_size is not None and part.part_size > MAX_SENT_BYTES:
        yield part.problem("partSize", rule, f'write "{limit}" or less')
    elif part.sizes != EQUAL and (largest := sizes_of(max(part.object_size), part.sizes).largest) > MAX_SENT_BYTES:
        field = "sizes" if is_listed(part.sizes) else "objectSize"
        most = MAX_SENT_BYTES * max(part.object_size) // largest
        fix = f'write "{limit}" or less' if is_listed(part.sizes) else f'write "{format_size(most)}" or less'
        yield part.problem(field, f"{rule}, and the largest has {format_size(largest)}", fix)
    elif part.part_size is None and max(part.object_size) > MAX_SENT_BYTES:
        yield part.problem("objectSize", rule, 'write partSize "8MiB", or a smaller size')


def drawn_objects_have_no_parts(part: ObjectsWorkload) -> Problems:
    """Yield a problem for drawn sizes of objects in parts."""
    if part.sizes != EQUAL and part.part_size is not None:
        rule = "objects of drawn sizes are put in one request each"
        yield part.problem("partSize", rule, 'leave it out, or write sizes "equal"')


def a_list_stands_alone(part: ObjectsWorkload) -> Problems:
    """Yield a problem for a size of the objects beside sizes with weights."""
    yield from a_list_has_all_sizes(part, part.sizes, "object_size", "objectSize")


def parts_are_those_of_s3(part: ObjectsWorkload) -> Problems:
    """Yield a problem for parts that S3 refuses, and for parts of objects that have none."""
    if part.part_size is None:
        return
    if part.part_size < MIN_PART_BYTES:
        rule = "S3 takes no smaller parts than 5 MiB, the last one apart"
        yield part.problem("partSize", rule, 'write "5MiB" or more')
        return
    largest = max(part.object_size)
    if largest <= part.part_size:
        rule = f"no object is larger: the largest has {format_size(largest)}"
        yield part.problem("partSize", rule, "leave it out, or write a larger objectSize")
    elif largest > MAX_PARTS * part.part_size:
        rule = f"S3 takes {MAX_PARTS:,} parts of an object at the most, {format_size(largest)} would be more"
        yield part.problem("partSize", rule, f'write "{format_size(-(-largest // MAX_PARTS))}" or more')
