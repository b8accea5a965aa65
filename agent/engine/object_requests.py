"""The object engine: PUT, GET, HEAD, LIST and DELETE requests to S3, one after another or at a fixed rate.

Keys of its plan:

- `requests`: number by operation; `threads`, `mode`, and `open_loop` for a fixed rate (agent.engine.arrivals);
- `region`, `bucket`, `root` (prefix of all objects), `step` (prefix below it for the objects that this step writes);
- `objects`: number of objects to read; `object_bytes`, `sizes`, `part_bytes` (None: one PUT), `seed` of contents;
- `keys_per_list`, `keys_per_delete`, `prefixes`.

botocore makes one attempt; the engine retries and counts, because botocore would retry silently. The time of an
operation ends when it has succeeded, so it includes the pauses after refusals.
"""

from __future__ import annotations

import logging
import random
import time
from typing import TYPE_CHECKING, Any, Callable

from agent.board.blackboard import ATTEMPTS, READ_TIMEOUT_S, new_client, new_session
from agent.engine import worker_pool
from agent.engine.arrivals import Arrivals
from agent.engine.objects import once
from agent.engine.stamps import stamp
from agent.engine.writes import block_start, draw_pool
from contract import histogram, retryable
from contract.sizes import Sizes

if TYPE_CHECKING:
    from collections.abc import Iterator

    Operate = Callable[[], None]

OPERATIONS = ("put", "get", "head", "list", "delete")
# Kinds of objects, each below a folder of its own: to be read, to be written, to be deleted.
KEPT, WRITTEN, DOOMED, PILOT = "kept", "written", "doomed", "pilot"
_NUMBERS = {KEPT: 0, WRITTEN: 1, DOOMED: 2, PILOT: 3}
# Of one instance and kind.
MAX_OBJECTS = 10_000_000
CHUNK_BYTES = 1 << 20
# S3's responses to requests that come too fast: 503 SlowDown; other services use 429.
THROTTLED = frozenset({429, 503})
# As botocore's standard mode waits (retries/standard.py): a random part of 1, 2, 4, … up to 20 s.
MAX_PAUSE_S = 20.0


class ObjectWrong(Exception):
    """S3's answer differs from the written data."""


class Incomplete(Exception):
    """S3 answered only a part of the request."""

    is_retryable = True


class Contents:
    """Contents of objects: incompressible, different for each object and part, and equal for the same seed."""

    def __init__(self, object_bytes: int, part_bytes: int | None, seed: int, sizes: str = "") -> None:
        """Draw the random pool from which all contents are cut. `object_bytes` is the mean of a distribution."""
        self._sizes = Sizes(object_bytes, sizes)
        self._largest = self._sizes.largest
        self.block_bytes = max(1, min(part_bytes or self._largest, self._largest))
        self._seed = seed
        self._pool = draw_pool(self.block_bytes, "random", seed)

    def size(self, number: int) -> int:
        """Return the bytes of an object."""
        return self._sizes.of(number)

    @property
    def blocks(self) -> int:
        """Number of parts of an object. 1: one PUT."""
        return max(1, -(-self._largest // self.block_bytes))

    def block(self, kind: str, number: int, block: int) -> bytes:
        """Part `block` of an object."""
        size = min(self.block_bytes, self.size(number) - block * self.block_bytes)
        own = stamp(self._seed, _NUMBERS[kind] * MAX_OBJECTS + number, block)[:size]
        first = (_NUMBERS[kind] * MAX_OBJECTS + number) * self.blocks
        start = block_start(first + block, self.block_bytes, len(self._pool))
        return b"".join((own, self._pool[start + len(own) : start + size]))

    def check(self, kind: str, number: int, chunks: Iterator[bytes]) -> int:
        """Compare read with written bytes, and return their number.

        Raises ObjectWrong.
        """
        at, block, expected, whole = 0, -1, b"", self.size(number)
        for chunk in chunks:
            # Slices of bytes are compared as memory is, memoryviews item by item.
            done = 0
            while done < len(chunk):
                inside = at - max(block, 0) * self.block_bytes
                if inside == len(expected):
                    if at >= whole:
                        raise ObjectWrong(f"object {number} is longer than its {whole} bytes")
                    block, inside = block + 1, 0
                    expected = self.block(kind, number, block)
                size = min(len(chunk) - done, len(expected) - inside)
                if chunk[done : done + size] != expected[inside : inside + size]:
                    raise ObjectWrong(f"object {number} has other bytes than were written, from byte {at} on")
                done, at = done + size, at + size
        if at != whole:
            raise ObjectWrong(f"object {number} ended after {at} of {whole} bytes")
        return at


class Counts:
    """Counts of one worker's requests: attempts, refusals, bytes and objects."""

    def __init__(self) -> None:
        self.refused: dict[str, int] = {}  # by code: attempts that failed and were repeated
        self.throttled = 0  # of these, refused as too many
        self.attempts = 0  # HTTP requests that S3 answered or refused
        self.read_bytes = self.written_bytes = 0
        self.objects: dict[str, int] = dict.fromkeys(OPERATIONS, 0)

    def failed(self, error: Exception) -> None:
        """Count an attempt that is repeated."""
        answer: dict[str, Any] = getattr(error, "response", None) or {}
        code = str(answer.get("Error", {}).get("Code") or type(error).__name__)
        self.refused[code] = self.refused.get(code, 0) + 1
        self.throttled += answer.get("ResponseMetadata", {}).get("HTTPStatusCode") in THROTTLED


class Bucket:
    def __init__(self, plan: dict[str, Any], contents: Contents, *, chance: random.Random) -> None:
        self._client = once(lambda: client_of(plan))
        self._plan, self._contents, self._chance = plan, contents, chance
        self._bucket = plan["bucket"]
        self._walk = Walk(self, plan)
        self.counts = Counts()

    def key(self, kind: str, number: int) -> str:
        """Return the key of an object. Consecutive objects are distributed over the prefixes."""
        return f"{folder_of(self._plan, kind, number % self._plan['prefixes'])}{number:08d}"

    def operation(self, name: str, number: int) -> Operate:
        """Return the timed part of an operation. Its data is made here, before its time."""
        if name == "put":
            return self.putting(WRITTEN, number)
        if name == "get":
            return lambda: self.get(KEPT, number)
        if name == "head":
            return lambda: self.head(KEPT, number)
        if name == "list":
            return self._walk.next_page
        return self.deleting(DOOMED, number)

    def putting(self, kind: str, number: int) -> Operate:
        """PUT an object: in one request, or in parts one after another."""
        key, contents = self.key(kind, number), self._contents
        if contents.blocks > 1:
            return lambda: self._put_parts(kind, number, key)
        body = contents.block(kind, number, 0)

        def put() -> None:
            self.ask("put_object", Key=key, Body=body)
            self.counts.written_bytes += len(body)
            self.counts.objects["put"] += 1

        return put

    def _put_parts(self, kind: str, number: int, key: str) -> None:
        upload = self.ask("create_multipart_upload", Key=key)["UploadId"]
        try:
            parts = []
            for block in range(self._contents.blocks):
                body = self._contents.block(kind, number, block)
                answer = self.ask("upload_part", Key=key, UploadId=upload, PartNumber=block + 1, Body=body)
                parts.append({"PartNumber": block + 1, "ETag": answer["ETag"]})
                self.counts.written_bytes += len(body)
            self.ask("complete_multipart_upload", Key=key, UploadId=upload, MultipartUpload={"Parts": parts})
        except Exception:
            # Parts of an incomplete upload cost money.
            self._client.abort_multipart_upload(Bucket=self._bucket, Key=key, UploadId=upload)
            raise
        self.counts.objects["put"] += 1

    def get(self, kind: str, number: int) -> None:
        """GET a whole object and compare it."""
        key = self.key(kind, number)

        def read() -> int:
            body = self._client.get_object(Bucket=self._bucket, Key=key)["Body"]
            return self._contents.check(kind, number, body.iter_chunks(CHUNK_BYTES))

        self.counts.read_bytes += self._repeated(read)
        self.counts.objects["get"] += 1

    def head(self, kind: str, number: int) -> None:
        """HEAD an object; its size must be right."""
        size = self.ask("head_object", Key=self.key(kind, number))["ContentLength"]
        if size != self._contents.size(number):
            raise ObjectWrong(f"object {number} has {size} bytes by HEAD, not {self._contents.size(number)}")
        self.counts.objects["head"] += 1

    def list_page(self, prefix: str, token: str | None) -> dict[str, Any]:
        """LIST one page of the keys below a prefix (ListObjectsV2)."""
        more = {"ContinuationToken": token} if token else {}
        page: dict[str, Any] = self.ask("list_objects_v2", Prefix=prefix, MaxKeys=self._plan["keys_per_list"], **more)
        self.counts.objects["list"] += int(page["KeyCount"])
        return page

    def deleting(self, kind: str, number: int) -> Operate:
        """DELETE one object, or `keys_per_delete` objects by one request (DeleteObjects)."""
        batch = self._plan["keys_per_delete"]
        keys = [self.key(kind, each) for each in range(number * batch, (number + 1) * batch)]

        def delete() -> None:
            if batch == 1:
                self.ask("delete_object", Key=keys[0])
            else:
                self.delete_all(keys)
            self.counts.objects["delete"] += len(keys)

        return delete

    def delete_all(self, keys: list[str]) -> None:
        """Delete keys by DeleteObjects. It may refuse some keys, which are tried again."""
        left = keys

        def delete() -> None:
            nonlocal left
            asked = {"Objects": [{"Key": key} for key in left], "Quiet": True}
            kept = self._client.delete_objects(Bucket=self._bucket, Delete=asked).get("Errors", [])
            left = [entry["Key"] for entry in kept]
            if kept:
                raise Incomplete(f"DeleteObjects kept {len(kept)} objects, the first for {kept[0].get('Code')}")

        self._repeated(delete)

    def ask(self, call: str, **parameters: Any) -> Any:
        """Call S3, and retry errors that may be temporary."""
        return self._repeated(lambda: getattr(self._client, call)(Bucket=self._bucket, **parameters))

    def _repeated(self, attempt: Callable[[], Any]) -> Any:
        for left in reversed(range(ATTEMPTS)):
            self.counts.attempts += 1
            try:
                return attempt()
            except Exception as err:
                if not left or not retryable.verdict(err).is_retryable:
                    raise
                self.counts.failed(err)
            time.sleep(self._chance.random() * min(MAX_PAUSE_S, 2.0 ** (ATTEMPTS - 1 - left)))
        raise AssertionError("unreachable")


class Walk:
    """One worker's position in the listings: page by page, prefix by prefix, then from the start again."""

    def __init__(self, bucket: Bucket, plan: dict[str, Any]) -> None:
        self._bucket, self._plan = bucket, plan
        self._prefix, self._token, self._seen = 0, "", 0

    def next_page(self) -> None:
        """List the next page. Raises ObjectWrong if a complete listing lacks objects of its prefix."""
        page = self._bucket.list_page(folder_of(self._plan, KEPT, self._prefix), self._token)
        self._seen += int(page["KeyCount"])
        self._token = page.get("NextContinuationToken", "")
        if self._token:
            return
        wanted = worker_pool.share(self._plan["objects"], self._plan["prefixes"])[self._prefix]
        if self._seen != wanted:
            raise ObjectWrong(f"a listing had {self._seen} objects, and {wanted} are there")
        self._prefix, self._seen = (self._prefix + 1) % self._plan["prefixes"], 0


def folder_of(plan: dict[str, Any], kind: str, prefix: int) -> str:
    """Return the prefix of objects of a kind. Objects to read stay for later steps."""
    place = plan["root"] if kind == KEPT else f"{plan['root']}/{plan['step']}"
    return f"{place}/{kind}/{prefix:03d}/"


def client_of(plan: dict[str, Any]) -> Any:
    """Return a client that makes one attempt for each call, with a connection for each thread."""
    return new_client(new_session(plan["region"]), "s3", plan["threads"], request_s=READ_TIMEOUT_S)


def draw(plan: dict[str, Any]) -> list[tuple[str, int]]:
    """Return all operations in random order: (operation, object number), exactly as many of each as planned.

    PUTs and DELETEs take the next object of their kind, GETs and HEADs a random one of those to read.
    """
    chance = random.Random(plan["order"])  # noqa: S311 no secret
    names = [name for name in OPERATIONS for _ in range(plan["requests"].get(name, 0))]
    chance.shuffle(names)
    following = dict.fromkeys(OPERATIONS, 0)
    drawn = []
    for name in names:
        number = following[name]
        following[name] += 1
        drawn.append((name, chance.randrange(plan["objects"]) if name in ("get", "head") else number))
    return drawn


def main() -> None:
    """Prepare, wait at the gate, ask, report."""
    plan = worker_pool.read_plan()
    # Retries are counted; a log line for each would fill the disk if S3 refuses thousands.
    logging.getLogger("agent").setLevel(logging.ERROR)
    contents = Contents(plan["object_bytes"], plan["part_bytes"], plan["seed"], plan["sizes"])
    operations = draw(plan)
    pilot = measure_pilot(plan, contents)
    arrivals = Arrivals.of(plan, len(operations))
    worker_pool.work(plan, pilot, lambda number, _is_alone: prepare(plan, contents, operations, number, arrivals))


def measure_pilot(plan: dict[str, Any], contents: Contents) -> dict[str, float]:
    """Measure wall and processor time of one operation. For deletes and mixes a HEAD, which changes nothing."""
    bucket = Bucket(plan, contents, chance=random.Random())  # noqa: S311 no secret
    [name, *others] = plan["requests"]
    if others or name == "delete":
        there = KEPT if plan["objects"] else DOOMED
        return worker_pool.measure_pilot(lambda _: bucket.head(there, 0))
    if name == "put":
        return worker_pool.measure_pilot(lambda number: bucket.putting(PILOT, number)())
    return worker_pool.measure_pilot(lambda number: bucket.operation(name, number % plan["objects"])())


def prepare(
    plan: dict[str, Any],
    contents: Contents,
    operations: list[tuple[str, int]],
    number: int,
    arrivals: Arrivals | None,
) -> worker_pool.Loop:
    """Prepare one worker's client and requests before its time starts."""
    bucket = Bucket(plan, contents, chance=random.Random(f"{plan['order']} {number}"))  # noqa: S311 no secret
    times: dict[str, list[int]] = {name: [] for name in plan["requests"]}

    def loop() -> worker_pool.Timed:
        if arrivals is None:
            timed = work_closed(bucket, operations[number :: plan["threads"]], times)
        else:
            timed = arrivals.work(lambda place, due_ns: work_due(bucket, operations[place], due_ns, times))
        worker_pool.report(requests_report(bucket.counts, times))
        return timed

    return loop


def work_closed(bucket: Bucket, operations: list[tuple[str, int]], times: dict[str, list[int]]) -> worker_pool.Timed:
    """Do operations one after another. The time of each starts when its data has been made."""
    now, timed = time.monotonic_ns, worker_pool.Timed()
    timed.start_ns = now()
    for name, number in operations:
        operate = bucket.operation(name, number)
        begun_ns = now()
        operate()
        ended_ns = now()
        timed.due.append(begun_ns)
        timed.ended.append(ended_ns)
        times[name].append(ended_ns - begun_ns)
    timed.begun = timed.due
    return timed


def work_due(bucket: Bucket, operation: tuple[str, int], due_ns: int, times: dict[str, list[int]]) -> int:
    """Do an operation. Its time counts from `due_ns`. Return the clock (ns) after it."""
    name, number = operation
    bucket.operation(name, number)()
    ended_ns = time.monotonic_ns()
    times[name].append(ended_ns - due_ns)
    return ended_ns


def requests_report(counts: Counts, times: dict[str, list[int]]) -> dict[str, Any]:
    """Return one worker's report beside its times: latencies by operation, and counts."""
    return {
        "by_operation": {
            name: {"bins": histogram.from_latencies(latencies), "longest_ns": max(latencies, default=0)}
            for name, latencies in times.items()
        },
        "refused": counts.refused,
        "throttled": counts.throttled,
        "attempts": counts.attempts,
        "read_bytes": counts.read_bytes,
        "written_bytes": counts.written_bytes,
        "objects": counts.objects,
    }
