"""The export engine: writes files and polls until a listing of the bucket shows each as an object.

Its plan: `threads`, each worker's `directories` and their `prefixes` in the bucket, `counts`, `file_bytes`, `region`,
`bucket`, `at_most_s`, `seed`, `mode`. A file's time counts from the return of close() until the response of the listing
that shows it with its size, so it is up to POLL_EVERY_S too long, and never too short.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any, Callable

from agent.board.blackboard import new_client, new_session
from agent.engine import worker_pool
from agent.engine.object_requests import KEPT, Contents
from agent.engine.objects import once

if TYPE_CHECKING:
    # Object sizes by name on a page of a listing.
    Listing = Callable[[], dict[str, int]]

# As functions/matrix/input/workloads/export.py counts the listings.
POLL_EVERY_S = 1.0


class NotVisible(Exception):
    """Files have not become objects in time."""


def main() -> None:
    """Wait at the gate, write, poll, report."""
    plan = worker_pool.read_plan()
    contents = Contents(plan["file_bytes"], None, plan["seed"])
    worker_pool.work(plan, {}, lambda number, _is_alone: prepare(plan, contents, number))


def prepare(plan: dict[str, Any], contents: Contents, number: int) -> worker_pool.Loop:
    """Prepare one worker's client, before its time begins."""
    client = once(lambda: new_client(new_session(plan["region"]), "s3", plan["threads"]))
    prefix = plan["prefixes"][number]

    def sizes() -> dict[str, int]:
        return object_sizes(client, plan["bucket"], prefix)

    first = sum(plan["counts"][:number])

    def loop() -> worker_pool.Timed:
        timed = worker_pool.Timed()
        timed.start_ns = time.monotonic_ns()
        directory, count = plan["directories"][number], plan["counts"][number]
        closed = {str(n): write(f"{directory}/{n}", contents.block(KEPT, first + n, 0)) for n in range(count)}
        until_ns = timed.start_ns + plan["at_most_s"] * worker_pool.SECOND_NS
        seen = wait_until_visible(closed, sizes, plan["file_bytes"], until_ns)
        for name in sorted(seen, key=lambda each: seen[each]):
            timed.due.append(closed[name])
            timed.ended.append(seen[name])
        timed.begun = timed.due
        return timed

    return loop


def object_sizes(client: Any, bucket: str, prefix: str) -> dict[str, int]:
    """Return the sizes of the objects below a prefix by name: one page, since all files of a thread fit into one.

    A directory may be an object, too, whose key is the prefix: that would take the place of a file.
    """
    page = client.list_objects_v2(Bucket=bucket, Prefix=prefix, StartAfter=prefix)
    return {entry["Key"][len(prefix) :]: int(entry["Size"]) for entry in page.get("Contents", [])}


def write(path: str, content: bytes) -> int:
    """Write a file; returns the clock (monotonic ns) after it was closed."""
    file = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
    try:
        view = memoryview(content)
        while view:
            view = view[os.write(file, view) :]
    finally:
        os.close(file)
    return time.monotonic_ns()


def wait_until_visible(closed: dict[str, int], listing: Listing, size: int, until_ns: int) -> dict[str, int]:
    """List until all files are there with their size; return when (monotonic ns) each was seen. Raises NotVisible.

    `closed` are the files, and when each was closed.
    """
    seen: dict[str, int] = {}
    due = time.monotonic()
    while True:
        sizes = listing()
        now_ns = time.monotonic_ns()
        for name in closed.keys() - seen.keys():
            if sizes.get(name) == size:
                seen[name] = now_ns
        if len(seen) == len(closed):
            return seen
        if now_ns > until_ns:
            raise NotVisible(f"{len(closed) - len(seen)} of {len(closed)} files were not objects in time")
        # After a slow listing none is made up for: each is billed, and shows no more than the next.
        due = max(due + POLL_EVERY_S, time.monotonic())
        time.sleep(max(0.0, due - time.monotonic()))
