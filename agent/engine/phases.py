"""The metadata engine: one phase of mdtest's file operations, limited by the storage and not by the tool.

Its plan: the `phase`, `threads`, each worker's `directories`, `prefix` of names, `counts` (files that each worker has,
or is to create) and `renamed` (how many of them have their second name), `file_bytes`, `sizes`, `sync`, `stonewall` and
`at_most_s`, `pilot_directory`, `mode` and `emulation`. Each worker reports its number of files in its own line.
"""

from __future__ import annotations

import errno
import mmap
import os
import time
from collections.abc import Iterator
from typing import Any, Callable, cast

from agent.engine import worker_pool
from agent.engine.creates import CREATE, measure_pilot
from agent.engine.emulation import EmulatedStorage
from contract.sizes import Sizes

# Changes of a directory, which are durable only after fsync of the directory.
CHANGES = frozenset({"create", "rename", "delete"})
# Entries that an emulated storage lists in one operation: a READDIR reply of 32 KiB with about 256 bytes each.
ENTRIES_OF_A_REPLY = 128
DONE = "done"
SECOND_NAME = b"r"

# On an emulated storage it returns when it ended (monotonic ns).
Act = Callable[[bytes], Any]


class Wall:
    """The common end of a phase for all workers of an instance, even if some have not done all of their files."""

    def __init__(self, plan: dict[str, Any]) -> None:
        """Set no limit unless the plan has one in seconds; all workers see when the first one is done."""
        self.most_ns = int((plan.get("at_most_s") or 1e9) * 1e9)
        self._ends_with_first = plan["stonewall"] == "first"
        # Shared with the workers that are forked after this.
        self.reached = mmap.mmap(-1, 1)

    def end(self) -> None:
        """Report that a worker has done all of its files."""
        if self._ends_with_first:
            self.reached[0] = 1


def main() -> None:
    """Prepare, wait at the gate, do the phase, report."""
    plan = worker_pool.read_plan()
    pilot: dict[str, float] = {}
    if plan["mode"] == "auto" and plan["phase"] == "list":
        # Taking a reply's entries apart is all processor: threads would wait for each other's interpreter.
        plan["mode"] = "processes"
    elif plan["mode"] == "auto":
        pilot = measure_pilot(plan)
    wall = Wall(plan)
    plan["directories"] = worker_pool.from_common_folder(plan["directories"])
    worker_pool.work(plan, pilot, lambda number, is_alone: prepare(plan, number, is_alone, wall))


def prepare(plan: dict[str, Any], number: int, is_alone: bool, wall: Wall) -> worker_pool.Loop:
    """Prepare one worker's names and actions before its time starts."""
    folder = plan["directories"][number]
    directory = os.open(folder, os.O_RDONLY)
    prefix = f"{folder}/{plan['prefix']}{number}-"
    if is_alone:  # threads share one working directory
        os.chdir(folder)
        prefix, folder = f"{plan['prefix']}{number}-", "."
    storage = EmulatedStorage.of(plan)
    if plan["phase"] == "list":
        return lambda: worker_pool.Timed.closed(list_all(number, folder, storage))
    names = list(names_of(prefix, plan["counts"][number], plan["renamed"][number]))
    act = paced(act_of(plan, number, directory, is_emulated=storage is not None), plan, storage)
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


def act_on_all(names: list[bytes], act: Act, wall: Wall, *, is_dated: bool = False) -> list[int]:
    """Act on each file until all are done or the wall is reached; returns the clock before the first and after each.

    `is_dated`: an emulated storage says when each act ended.
    """
    now = time.monotonic_ns
    stamps = [now()]
    append, reached, due_ns = stamps.append, wall.reached, stamps[0] + wall.most_ns
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


def act_of(plan: dict[str, Any], number: int, directory: int, *, is_emulated: bool) -> Act:
    """Return the action of the phase on one file."""
    sizes = Sizes(plan["file_bytes"], plan["sizes"])
    each = sizes_of(sizes, number, plan["threads"], plan["counts"][number])
    is_stored_each = plan["sync"] == "each" and not is_emulated
    acts: dict[str, Act] = {
        "create": creating(os.urandom(sizes.largest), is_stored_each, each),
        "stat": cast("Act", os.stat),
        "open-read": reading(each),
        "rename": lambda name: os.rename(name, name + SECOND_NAME),  # noqa: PTH104 pathlib would be the tool's time
        "delete": os.unlink,
    }
    act = acts[plan["phase"]]
    if plan["phase"] not in CHANGES or not is_stored_each:
        return act

    def act_and_store(name: bytes) -> None:
        act(name)
        # The name belongs to the directory, so fsync of the file guarantees nothing about it (POSIX).
        os.fsync(directory)

    return act_and_store


def creating(content: bytes, is_stored: bool, sizes: Iterator[int]) -> Act:
    """Create a file, write as much of the content as the next of `sizes`, and sync it if required."""
    open_, write, close, flags, whole = os.open, os.write, os.close, CREATE, memoryview(content)

    def create_empty(name: bytes) -> None:
        close(open_(name, flags, 0o666))

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

    return create if content or is_stored else create_empty


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
