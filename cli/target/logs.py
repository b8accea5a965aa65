"""The instance logs of a cell: log.gz of each instance, from the run's folder or its deployment."""

import time
from collections.abc import Iterator
from pathlib import PurePosixPath

from cli.messages.errors import UnreadableRun
from cli.target.documents import note, readable
from cli.target.run_folders import RunStore
from cli.target.unzipping import MAX_ZIPPED_BYTES, Unzipped
from matrix.run import heartbeats
from matrix.terms.printable import printable

LOG, FAILED, HEARTBEAT, RESULT = "log.gz", "failed.json", "heartbeat", "result.json"


def of_cell(store: RunStore, run: str, cell: str) -> dict[str, Iterator[str]]:
    """Return the lines of each instance's log by the instance's id, failed instances first.

    An unreadable log is noted, and has no lines.
    """
    names = [PurePosixPath(name) for name in store.names(run, _below(cell))]
    failed = {name.parent for name in names if name.name == FAILED}
    logs = sorted((name for name in names if name.name == LOG), key=lambda name: (name.parent not in failed, name))
    return {_instance(name): _lines(store, run, str(name)) for name in logs}


def follow(store: RunStore, run: str, cell: str) -> Iterator[tuple[str, str]]:
    """Yield pairs of instance and line: each new state in a heartbeat, and the lines of the log when it arrives.

    Ends with the run, or as soon as the cell has a result. An instance uploads its log only when it ends.
    """
    statuses: dict[str, str] = {}
    printed: set[str] = set()
    while True:
        # The run's state is read before the files: a file that arrives in between is seen by the next poll.
        is_last = not _goes_on(store, run) or any(store.names(run, f"cells/{cell}/{RESULT}"))
        for name in map(PurePosixPath, store.names(run, _below(cell))):
            instance = _instance(name)
            if name.name == HEARTBEAT and (status := _status(store, run, str(name))) not in (
                "",
                statuses.get(instance),
            ):
                statuses[instance] = status
                yield instance, status
            if name.name == LOG and instance not in printed:
                printed.add(instance)
                yield from ((instance, line) for line in _lines(store, run, str(name)))
        if is_last:
            return
        time.sleep(store.poll_every_s)


def cells_of(store: RunStore, run: str) -> list[str]:
    """Return the cells of a run that have any files; raises UnknownRun if there is no such run."""
    cells = sorted({name.split("/")[1] for name in store.names(run, "cells/")})
    if not cells:
        readable(store.execution, run)
    return cells


def _below(cell: str) -> str:
    return f"cells/{cell}/instances/"


def _instance(name: PurePosixPath) -> str:
    """Return the id of the instance that wrote a file: its folder has the name of its role and its id."""
    return printable(name.parent.name.rpartition(":")[2])


def _goes_on(store: RunStore, run: str) -> bool:
    execution = readable(store.execution, run)
    return execution is not None and execution.is_running


def _status(store: RunStore, run: str, name: str) -> str:
    """Return the state in a heartbeat: `running, step 3 p02`; '' if it is unreadable."""
    try:
        heartbeat = heartbeats.parse(store.content(run, name, heartbeats.MAX_BYTES) or b"", time.time())
    except UnreadableRun:
        return ""
    if heartbeat is None:
        return ""
    step = "" if heartbeat.step is None else f", step {heartbeat.step + 1}"
    return f"[{f'{heartbeat.state}{step} {heartbeat.point}'.strip()}]"


def _lines(store: RunStore, run: str, name: str) -> Iterator[str]:
    try:
        unzipped = Unzipped(store.content(run, name, MAX_ZIPPED_BYTES + 1) or b"")
    except UnreadableRun as damage:
        note(damage)
        return
    # Text from an instance is not trusted: it could clear the terminal.
    yield from (printable(line) for line in unzipped.lines())
    if unzipped.problem:
        where = f"{store.where(run)}{name}"
        note(UnreadableRun(f"{where} {unzipped.problem}", "the instance may have died while it wrote it"))
