"""Logs of other tools in one form: a phase of one of their runs, with its parameters and its figures."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from matrix.samples.histograms import Histogram

# More is not a rate, size or time of any storage.
LARGEST = 1e15
MIN_S = 1.0
# The part by which more operations may be in flight than workers: rounding.
TOLERANCE = 0.1
SHORT = "ran for less than a second, so its rates mean little"


class NotALog(ValueError):
    """The file cannot be read as a log; the message has the reason."""


def objects_in(text: str, tool: str, keys: Sequence[str], begins: str) -> list[dict[str, Any]]:
    """Return the JSON objects with one of the keys, wherever they are: between lines of progress, in an array, below
    another object or as text within it. `begins` is the first key of the tool's documents.

    Raises NotALog if there are none, or if one is broken.
    """
    found = list(_objects_in(text, {*keys, begins}))
    objects = [each for each in found if not each.keys().isdisjoint(keys)]
    if not objects:
        seen = f"it begins with {text.lstrip()[:40]!r}" if text.strip() else "it is empty"
        raise NotALog(f"lacks {' and '.join(keys)}" if found else f"holds no JSON of {tool}: {seen}")
    return objects


def _object_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object. Raises NotALog if it has two numbers by one name: nobody knows which was measured."""
    read: dict[str, Any] = {}
    for key, value in pairs:
        if isinstance(read.get(key), (int, float)) and read[key] != value:
            raise NotALog(
                f"has two values of {json.dumps(key)} in one object: {read[key]} and {json.dumps(value)[:40]}"
            )
        read[key] = value
    return read


def object_of(whole: Mapping[str, Any], name: str, tool: str) -> dict[str, Any]:
    """Return the object below a name, empty if it is absent. Raises NotALog if it is not an object."""
    below = whole.get(name) or {}
    if not isinstance(below, dict):
        raise NotALog(f"has `{name}` that is not an object, as {tool} writes it")
    return below


_DECODER = json.JSONDecoder(object_pairs_hook=_object_of)


def _objects_in(text: str, keys: set[str]) -> Iterator[dict[str, Any]]:
    place = text.find("{")
    while place >= 0:
        try:
            value, end = _DECODER.raw_decode(text, place)
        except RecursionError as error:
            raise NotALog("is not JSON: its objects are nested too deeply") from error
        except json.JSONDecodeError as error:
            # A brace in another text, unless the tool's own words are behind it.
            if any(f'"{key}"' in text[place : error.pos] for key in keys):
                raise NotALog(f"is not JSON: {error}") from error
            end = place + 1
        else:
            left: list[object] = [value]
            while left:
                value = left.pop()
                if isinstance(value, dict) and not keys.isdisjoint(value):
                    yield value
                elif isinstance(value, (dict, list)):
                    left += reversed(list(value.values()) if isinstance(value, dict) else value)
                elif isinstance(value, str) and any(f'"{key}"' in value for key in keys):
                    yield from _objects_in(value, keys)
        place = text.find("{", end)


@dataclass(frozen=True)
class Phase:
    """One phase of one instance, or of several instances if the tool kept only their sum."""

    tool: str
    version: str
    file: str
    # The client with these figures, if the tool names it.
    instance: str
    # Number of hosts whose sum the figures are.
    hosts: int
    # Parameters that distinguish points of runs.
    params: dict[str, Any]
    # As a matrix writes it, with the metrics that only this tool has, and the phase's primary metric.
    workload: dict[str, Any]
    started_at: float | None
    seconds: float
    metrics: dict[str, float]
    moved_bytes: dict[str, float] = field(default_factory=dict)
    histograms: dict[str, Histogram] = field(default_factory=dict)
    # None if the file does not have all parameters.
    workers: int | None = None
    # Which document of its file, if all of a document are of the hosts that it names.
    document: int | None = None
    # Options of its command line that may change the work, if the tool logs them.
    options: str = ""
    # What a table says beside the figures too.
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The tool's name of the phase: `WRITE`, `GET`."""
        operation = str(self.params["operation"])
        return operation.upper() if operation.islower() else operation


@dataclass(frozen=True)
class LogRow:
    """A phase as one row of a table; None for figures that the tool lacks."""

    file: str
    tool: str
    phase: str
    instance: str
    hosts: int
    workers: int | None
    seconds: float
    rate: float | None
    unit: str
    mib_per_s: float | None
    lat_avg_us: float | None
    lat_p50_us: float | None
    lat_p99_us: float | None
    note: str


RATES = (("iops", "IOPS"), ("requests_per_s", "requests/s"), ("entries_per_s", "entries/s"))


def row_of(phase: Phase) -> LogRow:
    """Return a phase as one row."""
    metrics = phase.metrics
    rate, unit = next(((metrics[name], unit) for name, unit in RATES if name in metrics), (None, ""))
    moved = metrics.get("mb_per_s")
    return LogRow(
        file=phase.file,
        tool=phase.tool,
        phase=phase.name,
        instance=phase.instance,
        hosts=phase.hosts,
        workers=phase.workers,
        seconds=phase.seconds,
        rate=rate,
        unit=unit,
        mib_per_s=None if moved is None else moved * 1e6 / 2**20,
        lat_avg_us=_ending(metrics, "lat_avg_us"),
        lat_p50_us=_ending(metrics, "lat_p50_us"),
        lat_p99_us=_ending(metrics, "lat_p99_us"),
        note="; ".join(phase.notes),
    )


def workers_of(stated: int | None, in_flight: float) -> tuple[int | None, tuple[str, ...]]:
    """Return how many workers did the work, None if the file does not have it, and the reason as a note.

    By Little's law as many operations are in flight as are done in the time of one, and a worker has one.
    """
    if stated is None or in_flight <= stated * (1 + TOLERANCE):
        return stated, ()
    return None, (f"its threads are unknown: the file has {stated}, but {in_flight:.3g} operations were in flight",)


def _ending(metrics: Mapping[str, float], ending: str) -> float | None:
    """Return the figure of the phase's own operations, which the reads of a mix are not."""
    return next((metrics[name] for name in sorted(metrics) if name.endswith(ending) and "rwmix" not in name), None)
