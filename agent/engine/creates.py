"""The create engine: open(O_CREAT) and close, as fast as the storage and not the tool allows."""

from __future__ import annotations

import os
import time

from agent.engine import worker_pool
from agent.engine.arrivals import Arrivals
from agent.engine.emulation import EmulatedStorage

TYPE_CHECKING = False  # see agent.engine.worker_pool
if TYPE_CHECKING:
    from typing import Any

CREATE = os.O_CREAT | os.O_WRONLY


def main() -> None:
    """Prepare, wait at the gate, create, report."""
    plan = worker_pool.read_plan()
    arrivals = Arrivals.of(plan, plan["files"])
    pilot = measure_pilot(plan)
    plan["directories"] = worker_pool.from_common_folder(plan["directories"])
    worker_pool.work(plan, pilot, lambda number, is_alone: prepare(plan, number, is_alone, arrivals))


def measure_pilot(plan: dict[str, Any]) -> dict[str, float]:
    """Return wall and processor time of one create, in a directory beside the measured ones."""
    storage = EmulatedStorage.of(plan)
    directory, sync = os.open(plan["pilot_directory"], os.O_RDONLY), plan["sync"]
    created = []

    def create(number: int) -> None:
        name = f"{plan['pilot_directory']}/p{number}"
        create_all([name.encode()], storage, sync, directory)
        created.append(name)

    pilot = worker_pool.measure_pilot(create)
    for name in created:
        os.unlink(name)  # noqa: PTH108 pathlib would cost the start of the engine 5 ms
    os.close(directory)
    return pilot


def prepare(plan: dict[str, Any], number: int, is_alone: bool, arrivals: Arrivals | None = None) -> worker_pool.Loop:
    """Make one worker's names before its time starts. In an open loop each due create goes to a free worker."""
    prefix = f"{plan['directories'][number]}/{number}-"
    directory, sync = os.open(plan["directories"][number], os.O_RDONLY), plan["sync"]
    if is_alone:  # threads share one working directory
        os.chdir(plan["directories"][number])
        prefix = f"{number}-"
    storage = EmulatedStorage.of(plan)
    if arrivals is not None:
        return lambda: arrivals.work(lambda n, due_ns: create_due(f"{prefix}{n}", due_ns, storage, sync, directory))
    names = [f"{prefix}{n}".encode() for n in range(worker_pool.share(plan["files"], plan["threads"])[number])]
    return lambda: worker_pool.Timed.closed(create_all(names, storage, sync, directory))


def create_due(name: str, due_ns: int, storage: EmulatedStorage | None, sync: str, directory: int) -> int:
    """Create a file that was due at this moment; returns the clock (monotonic ns) after it."""
    if storage is not None:
        storage.arrive(due_ns)
    return create_all([name.encode()], storage, sync, directory)[-1]


def create_all(names: list[bytes], storage: EmulatedStorage | None, sync: str, directory: int) -> list[int]:
    """Create the files; returns the clock (monotonic ns) before the first and after each.

    `sync` decides when a create is complete: "none" when the kernel has it, "each" when file and name are on the
    storage. With "end" only the last create waits until all are on the storage.
    """
    now, open_, close, fsync, flags = time.monotonic_ns, os.open, os.close, os.fsync, CREATE
    stamps: list[int] = [now()]
    append = stamps.append
    if storage is not None:
        for name in names:
            due_ns = storage.create()
            close(open_(name, flags, 0o666))
            ended_ns = storage.wait(due_ns)
            if sync == "each":
                ended_ns = storage.wait(storage.synchronise())
            append(ended_ns)
        if sync == "end":
            stamps[-1] = storage.wait(storage.synchronise())
        return stamps
    if sync == "each":
        for name in names:
            file = open_(name, flags, 0o666)
            fsync(file)
            close(file)
            # The name belongs to the directory, so fsync of the file guarantees nothing about it (POSIX).
            fsync(directory)
            append(now())
        return stamps
    for name in names:
        close(open_(name, flags, 0o666))
        append(now())
    if sync == "end":
        fsync(directory)
        stamps[-1] = now()
    return stamps
