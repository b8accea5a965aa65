"""Baselines: names for reference runs of comparisons, in the stack's results bucket or on this machine."""

import json
import time
from typing import cast

from cli.messages.errors import CommandError, ExitCode, UnknownRun
from cli.target import known_runs
from cli.target.documents import parsed, readable
from cli.target.place import Place
from cli.target.run_folders import RunStore
from matrix.terms.documents.compared import BaselineDocument
from matrix.terms.keys import BASELINE_PREFIX, baseline_key

SETTING = "`matrix compare RUN --set-baseline {name}`"


def put(store: RunStore, name: str, run: str, matrix: str) -> BaselineDocument | None:
    """Let a baseline name this run; return its former document, None if the baseline is new."""
    before = readable(lambda name: _read(store, name), name)
    document: BaselineDocument = {"schema": 1, "name": name, "run": run, "matrix": matrix, "set_at": time.time()}
    store.put_baseline(name, json.dumps(document, separators=(",", ":")).encode())
    return before


def get(store: RunStore, name: str) -> BaselineDocument:
    """Return a baseline. Raises UnknownRun with the existing names; UnreadableRun if the document is damaged."""
    baseline = _read(store, name)
    if baseline is None:
        raise unknown(store, name)
    return baseline


def all_of(store: RunStore) -> list[BaselineDocument]:
    """Return all baselines, by name; damage is noted."""
    read = (readable(lambda name: _read(store, name), name) for name in store.baselines())
    return [baseline for baseline in read if baseline is not None]


def delete(store: RunStore, name: str) -> None:
    """Delete a baseline, damaged or not; its run stays. Raises UnknownRun with the existing names."""
    if name not in store.baselines():
        raise unknown(store, name)
    store.delete_baseline(name)


def unknown(store: RunStore, name: str) -> UnknownRun:
    """Return the error for a baseline that does not exist."""
    names = store.baselines()
    listed = f"baselines that exist: {', '.join(names)}" if names else f"there is none: {SETTING.format(name='NAME')}"
    near = known_runs.meant(name, names)
    return UnknownRun(f"{store.name} has no baseline {name}", " ".join(filter(None, [near, listed])))


def run_named(written: str, place: Place) -> str:
    """Return the run of the baseline in `baseline:NAME`; any other text is a run's name already."""
    if not written.startswith(BASELINE_PREFIX):
        return written
    name = written.removeprefix(BASELINE_PREFIX)
    if not name:
        raise CommandError(f"{written!r} names no baseline", "write baseline:NAME", ExitCode.BAD_INPUT)
    return get(place.shelf(), name)["run"]


def _read(store: RunStore, name: str) -> BaselineDocument | None:
    body = store.baseline(name) if name in store.baselines() else None
    if body is None:
        return None
    key, advice = baseline_key(name), f"set it again: {SETTING.format(name=name)}"
    return cast("BaselineDocument", parsed(body, key, f"{key} of {store.name}", advice))
