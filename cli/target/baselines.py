"""Baselines: names for the runs that later ones are compared with, in the stack's results bucket or on this machine."""

import json
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol, cast

from cli.messages.errors import CommandError, ExitCode, UnknownRun
from cli.target import deployment, known_runs
from cli.target.documents import parsed, readable
from cli.target.place import Place
from cli.target.run_store import RunStore
from cli.target.service import Service
from cli.target.workdir import workdir
from local.keeping.files import write_whole
from matrix.terms.documents.baseline import BaselineDocument
from matrix.terms.keys import BASELINE_PREFIX, BASELINES, baseline_key


class Shelf(Protocol):
    """Where baselines are kept."""

    @property
    def name(self) -> str:
        """What it is called in messages."""

    def put(self, key: str, body: bytes) -> None:
        """Keep a document."""

    def get(self, key: str) -> bytes | None:
        """Return a document; None where there is none."""

    def delete(self, key: str) -> None:
        """Delete a document."""

    def names(self) -> list[str]:
        """Return the names of the baselines, in order."""


@dataclass(frozen=True)
class OfStack:
    """The baselines of a stack on AWS."""

    service: Service

    @property
    def name(self) -> str:
        """What it is called in messages."""
        return f"the stack {self.service.deployment.stack}"

    def put(self, key: str, body: bytes) -> None:
        """Keep a document."""
        self._bucket.put_object(Bucket=self._bucket_name, Key=key, Body=body, ContentType="application/json")

    def get(self, key: str) -> bytes | None:
        """Return a document; None where there is none."""
        try:
            return cast("bytes", self._bucket.get_object(Bucket=self._bucket_name, Key=key)["Body"].read())
        except self._bucket.exceptions.NoSuchKey:
            return None

    def delete(self, key: str) -> None:
        """Delete a document."""
        self._bucket.delete_object(Bucket=self._bucket_name, Key=key)

    def names(self) -> list[str]:
        """Return the names of the baselines, in order."""
        pages = self._bucket.get_paginator("list_objects_v2").paginate(Bucket=self._bucket_name, Prefix=BASELINES)
        keys = (listed["Key"] for page in pages for listed in page.get("Contents", []))
        return sorted({key.removeprefix(BASELINES).partition("/")[0] for key in keys})

    @property
    def _bucket(self) -> Any:
        return self.service.deployment.client("s3")

    @property
    def _bucket_name(self) -> str:
        return self.service.deployment.outputs["BucketName"]


@dataclass(frozen=True)
class OfMachine:
    """The baselines of this machine, in .local/; a local cloud that is up gets each change too, for its functions."""

    name: str = "this machine"

    def put(self, key: str, body: bytes) -> None:
        """Keep a document."""
        write_whole(workdir() / key, body, workdir(), is_lasting=True)
        for running in _running():
            running.put(key, body)

    def get(self, key: str) -> bytes | None:
        """Return a document; None where there is none."""
        path = workdir() / key
        # We never write links, so a link is somebody else's.
        return path.read_bytes() if path.is_file() and not path.is_symlink() else None

    def delete(self, key: str) -> None:
        """Delete a document."""
        shutil.rmtree((workdir() / key).parent)
        for running in _running():
            running.delete(key)

    def names(self) -> list[str]:
        """Return the names of the baselines, in order."""
        return sorted(path.parent.name for path in (workdir() / BASELINES).glob("*/baseline.json"))


def _running() -> Iterator[OfStack]:
    if deployment.is_local_cloud_running():
        yield OfStack(Service(deployment.running_local_cloud()))


def shelf(place: Place) -> Shelf:
    """Return the baselines of the place that the options name: without any, this machine's where it has runs."""
    return OfMachine() if place.is_here else OfStack(place.service())


def shelf_of(store: RunStore) -> Shelf:
    """Return the baselines of the place in which a run was found."""
    return OfStack(store) if isinstance(store, Service) and not store.is_here else OfMachine()


def put(place: Shelf, name: str, run: str, matrix: str) -> BaselineDocument | None:
    """Let a baseline be a run; return what it was before, None where it is new."""
    before = readable(lambda name: _read(place, name), name)
    document: BaselineDocument = {"schema": 1, "name": name, "run": run, "matrix": matrix, "set_at": time.time()}
    place.put(baseline_key(name), json.dumps(document, separators=(",", ":")).encode())
    return before


def get(place: Shelf, name: str) -> BaselineDocument:
    """Return a baseline. Raises UnknownRun with the names that exist; UnreadableRun where the document is damaged."""
    baseline = _read(place, name)
    if baseline is None:
        raise unknown(place, name)
    return baseline


def all_of(place: Shelf) -> list[BaselineDocument]:
    """Return all baselines, by name; damage is noted."""
    read = (readable(lambda name: _read(place, name), name) for name in place.names())
    return [baseline for baseline in read if baseline is not None]


def delete(place: Shelf, name: str) -> None:
    """Delete a baseline, damaged or not; its run stays. Raises UnknownRun with the names that exist."""
    if name not in place.names():
        raise unknown(place, name)
    place.delete(baseline_key(name))


def unknown(place: Shelf, name: str) -> UnknownRun:
    """Return the error for a name that no baseline has."""
    names = place.names()
    listed = f"baselines that exist: {', '.join(names)}" if names else "there is none: `matrix baseline set NAME RUN`"
    near = known_runs.meant(name, names)
    return UnknownRun(f"{place.name} has no baseline {name}", " ".join(filter(None, [near, listed])))


def run_named(written: str, place: Place) -> str:
    """Return the run that `baseline:NAME` is; any other name is that of a run already."""
    if not written.startswith(BASELINE_PREFIX):
        return written
    name = written.removeprefix(BASELINE_PREFIX)
    if not name:
        raise CommandError(f"{written!r} names no baseline", "write baseline:NAME", ExitCode.BAD_INPUT)
    return get(shelf(place), name)["run"]


def _read(place: Shelf, name: str) -> BaselineDocument | None:
    key = baseline_key(name)
    body = place.get(key) if name in place.names() else None
    advice = f"set it again: `matrix baseline set {name} RUN`"
    return None if body is None else cast("BaselineDocument", parsed(body, key, f"{key} of {place.name}", advice))
