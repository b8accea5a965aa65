"""The metadata engine: one phase of mdtest's file operations, limited by the storage and not by the tool.

Its plan: the `phase`, `threads`, each worker's `directories` and `counts` (files that it has, or is to create),
`pilot_directory`, `mode`, and what differs from `USUALLY`: a `prefix` of names, `renamed` (how many files of each
worker have their second name), `file_bytes`, `sizes`, `sync`, `stonewall`, `at_most_s`, `open_loop`, `emulation`. Each
worker reports its number of files in its own line.
"""

from __future__ import annotations

import errno
import mmap
import os
import time

from agent.engine import worker_pool
from agent.engine.arrivals import Arrivals
from agent.engine.emulation import EmulatedStorage

TYPE_CHECKING = False  # see agent.engine.worker_pool
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, Callable

    from contract.sizes import Sizes

    # On an emulated storage it returns when it ended (monotonic ns).
    Act = Callable[[bytes], Any]

CREATE = os.O_CREAT | os.O_WRONLY
# The plan of empty files that are counted when the kernel has them.
USUALLY: dict[str, Any] = {
    "prefix": "", "renamed": None, "file_bytes": 0, "sizes": "", "sync": "none", "stonewall": "none", "at_most_s": None,
    "open_loop": None, "emulation": None,
}  # fmt: skip
# Changes of a directory, which are durable only after fsync of the directory.
CHANGES = frozenset({"create", "rename", "delete"})
# Entries that an emulated storage lists in one operation: a READDIR reply of 32 KiB with about 256 bytes each.
ENTRIES_OF_A_REPLY = 128
DONE = "done"
SECOND_NAME = b"r"


class Wall:
    """The common end of a phase for all workers of an instance, even if some have not done all of their files."""

    def __init__(self, plan: dict[str, Any]) -> None:
        """Set no limit unless the plan has one in seconds; all workers see when the first one is done."""
        self.most_ns = int((plan.get("at_most_s") or 1e9) * 1e9)
        self._ends_with_first = plan["stonewall"] == "first"
        self.may_cut = self._ends_with_first or bool(plan.get("at_most_s"))
        # Shared with the workers that are forked after this.
        self.reached = mmap.mmap(-1, 1)

    def end(self) -> None:
        """Report that a worker has done all of its files."""
        if self._ends_with_first:
            self.reached[0] = 1


def main() -> None:
    """Prepare, wait at the gate, do the phase, report."""
    plan = {**USUALLY, **worker_pool.read_plan()}
    pilot: dict[str, float] = {}
    if plan["mode"] == "auto" and plan["phase"] == "list":
        # Taking a reply's entries apart is all processor: threads would wait for each other's interpreter.
        plan["mode"] = "processes"
    elif plan["mode"] == "auto":
        pilot = measure_pilot(plan)
    wall, arrivals = Wall(plan), Arrivals.of(plan, sum(plan["counts"]))
    plan["directories"] = worker_pool.from_common_folder(plan["directories"])
    worker_pool.work(plan, pilot, lambda number, is_alone: prepare(plan, number, is_alone, wall, arrivals))


def measure_pilot(plan: dict[str, Any]) -> dict[str, float]:
    """Return wall and processor time of one create, in a directory beside the measured ones."""
    folder = plan["pilot_directory"]
    directory, storage = os.open(folder, os.O_RDONLY), EmulatedStorage.of(plan)
    create = act_of({**plan, "phase": "create", "file_bytes": 0, "sizes": ""}, 0, directory, storage)
    created = []

    def operate(number: int) -> None:
        created.append(f"{folder}/p{number}".encode())
        create(created[-1])

    pilot = worker_pool.measure_pilot(operate)
    for name in created:
        os.unlink(name)  # noqa: PTH108 pathlib would cost the start of the engine 5 ms
    os.close(directory)
    return pilot


def prepare(
    plan: dict[str, Any], number: int, is_alone: bool, wall: Wall, arrivals: Arrivals | None = None
) -> worker_pool.Loop:
    """Prepare one worker's names and actions before its time starts. In an open loop a free worker does what is due."""
    folder = plan["directories"][number]
    directory = os.open(folder, os.O_RDONLY)
    prefix = f"{folder}/{plan['prefix']}{number}-"
    if is_alone:  # threads share one working directory
        os.chdir(folder)
        prefix, folder = f"{plan['prefix']}{number}-", "."
    storage = EmulatedStorage.of(plan)
    if plan["phase"] == "list":
        return lambda: worker_pool.Timed.closed(list_all(number, folder, storage))
    act = act_of(plan, number, directory, storage)
    if arrivals is not None:
        return lambda: arrivals.work(lambda n, due_ns: act_when_due(act, f"{prefix}{n}".encode(), due_ns, storage))
    names = list(names_of(prefix, plan["counts"][number], plan["renamed"][number] if plan["renamed"] else 0))
    settle = settling(plan, directory, storage)

    def loop() -> worker_pool.Timed:
        stamps = act_on_all(names, act, wall, is_dated=storage is not None)
        if settle:
            stamps[-1] = settle() or time.monotonic_ns()
        say_done(number, len(stamps) - 1)
        return worker_pool.Timed.closed(stamps)

    return loop


def names_of(prefix: str, count: int, renamed: int) -> Iterator[bytes]:
    """The names of a worker's files; the first `renamed` of them have their second name."""
    for n in range(count):
        yield f"{prefix}{n}".encode() + (SECOND_NAME if n < renamed else b"")


def act_when_due(act: Act, name: bytes, due_ns: int, storage: EmulatedStorage | None) -> int:
    """Act on a file that was due at this moment; returns the clock (monotonic ns) after it."""
    if storage is None:
        act(name)
        return time.monotonic_ns()
    storage.arrive(due_ns)
    return int(act(name))


def act_on_all(names: list[bytes], act: Act, wall: Wall, *, is_dated: bool = False) -> list[int]:
    """Act on each file until all are done or the wall is reached; returns the clock before the first and after each.

    `is_dated`: an emulated storage says when each act ended.
    """
    now = time.monotonic_ns
    stamps = [now()]
    append, reached, due_ns = stamps.append, wall.reached, stamps[0] + wall.most_ns
    if not (is_dated or wall.may_cut):
        # In memory a create takes 2 us; a look at the wall would take 3 % of that.
        for name in names:
            act(name)
            append(now())
        return stamps
    for name in names:
        ended_ns = act(name)
        stamp = ended_ns if is_dated else now()
        append(stamp)
        if stamp >= due_ns or reached[0]:
            break
    else:
        wall.end()
    return stamps


def sizes_of(sizes: Sizes, number: int, workers: int, count: int) -> Iterator[int]:
    """Return the size of each file of a worker: the same in all phases, however many files the one before has done."""
    return iter([sizes.of(n * workers + number) for n in range(count)])


def act_of(plan: dict[str, Any], number: int, directory: int, storage: EmulatedStorage | None) -> Act:
    """Return the action of the phase on one file, no faster than an emulated storage."""
    is_stored_each = plan["sync"] == "each" and storage is None
    largest, each = sizes_in(plan, number)
    acts: dict[str, Act] = {
        "create": creating(os.urandom(largest), is_stored_each, each),
        "stat": os.stat,
        "open-read": reading(each),
        "rename": lambda name: os.rename(name, name + SECOND_NAME),  # noqa: PTH104 pathlib would be the tool's time
        "delete": os.unlink,
    }
    act = acts[plan["phase"]]
    if plan["phase"] not in CHANGES or not is_stored_each:
        return paced(act, plan, storage)

    def act_and_store(name: bytes) -> None:
        act(name)
        # The name belongs to the directory, so fsync of the file guarantees nothing about it (POSIX).
        os.fsync(directory)

    return act_and_store


def sizes_in(plan: dict[str, Any], number: int) -> tuple[int, Iterator[int]]:
    """Return the largest size of the plan's files, and that of each file of a worker."""
    count = plan["counts"][number]
    if not plan["file_bytes"]:
        return 0, iter([0] * count)
    from contract.sizes import Sizes  # here, because it takes 8 ms, which engines for empty files save

    sizes = Sizes(plan["file_bytes"], plan["sizes"])
    return sizes.largest, sizes_of(sizes, number, plan["threads"], count)


def creating(content: bytes, is_stored: bool, sizes: Iterator[int]) -> Act:
    """Create a file, write as much of the content as the next of `sizes`, and sync it if required."""
    open_, write, close, flags, whole = os.open, os.write, os.close, CREATE, memoryview(content)

    def create_empty(name: bytes) -> None:
        file = open_(name, flags, 0o666)
        if is_stored:
            os.fsync(file)
        close(file)

    def create(name: bytes) -> None:
        part = whole[: next(sizes)]
        file = open_(name, flags, 0o666)
        try:
            if part and write(file, part) != len(part):
                raise OSError(errno.EIO, f"{name!r} took less than its {len(part)} bytes")
            if is_stored:
                os.fsync(file)
        finally:
            close(file)

    return create if content else create_empty


def reading(sizes: Iterator[int]) -> Act:
    """Open a file and read it to its end, which is that of the next of `sizes`."""
    open_, read, close, flags = os.open, os.read, os.close, os.O_RDONLY

    def read_whole(name: bytes) -> None:
        size = next(sizes)
        file = open_(name, flags)
        try:
            content = read(file, size + 1)
        finally:
            close(file)
        if len(content) != size:
            raise OSError(errno.EIO, f"{name!r} has {len(content)} of {size} bytes")

    return read_whole


def paced(act: Act, plan: dict[str, Any], storage: EmulatedStorage | None) -> Act:
    """Act no faster than an emulated storage: a change takes the time of a create, a lookup that of a read."""
    if storage is None:
        return act
    is_change, size = plan["phase"] in CHANGES, plan["file_bytes"] if plan["phase"] == "open-read" else 0
    is_stored_each = is_change and plan["sync"] == "each"

    def act_in_time(name: bytes) -> int:
        due_ns = storage.create() if is_change else storage.read(size)
        act(name)
        ended_ns = storage.wait(due_ns)
        return storage.wait(storage.synchronise()) if is_stored_each else ended_ns

    return act_in_time


def settling(plan: dict[str, Any], directory: int, storage: EmulatedStorage | None) -> Callable[[], int | None] | None:
    """Return the final sync of a worker, which returns its end as an act does. None: no sync at the end."""
    if plan["sync"] != "end" or plan["phase"] not in CHANGES:
        return None
    return (lambda: os.fsync(directory)) if storage is None else (lambda: storage.wait(storage.synchronise()))


def list_all(number: int, folder: str, storage: EmulatedStorage | None) -> list[int]:
    """List a directory once: names only, as `ls` and `find -name` ask for them."""
    stamps, ended_ns = [time.monotonic_ns()], 0
    count = 0
    with os.scandir(folder) as entries:
        for _ in entries:
            if storage is not None and count % ENTRIES_OF_A_REPLY == 0:
                ended_ns = storage.wait(storage.read(0))
            count += 1
    stamps.append(ended_ns or time.monotonic_ns())
    say_done(number, count)
    return stamps


def say_done(number: int, count: int) -> None:
    """Report the number of files that a worker processed, for later phases. Listed files are those that existed."""
    worker_pool.report({"number": number, DONE: count})
