"""Sweeps: every combination of a workload's lists, in the order as written."""

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from matrix.fields.types import InputModel, repeated
from matrix.terms.charges import PUT_PART_BYTES
from matrix.terms.problems import Problems

Params = dict[str, Any]


class Moved(NamedTuple):
    """Bytes and requests of one instance in one step, in the words of `Footprint`."""

    read_bytes: float
    written_bytes: float
    read_requests: float
    put_requests: float
    read_padding: float
    written_padding: float


class Footprint(NamedTuple):
    """Expected use of one instance for one step: seconds, bytes as the storage meters them, and bytes that stay stored.

    Requests are those that S3 would bill, in its two classes: GET and HEAD; PUT, POST, COPY and LIST. If a workload
    does not know the latter, one for each part of its written bytes is assumed. Operations are those whose number
    limits the step: small or scattered blocks. The step ends after `longest_s`, even if it has moved less by then.

    Padding is what EFS and S3 Files meter beyond the bytes, since they count each request of data as at least 32 KiB.

    What is made for the first repetition and stays for the others is apart: `making_s`, `made_bytes`, `made_requests`.

    `timed` is what it may move at the most, beside what is made, if its time ends it. None: its amounts end it.
    """

    seconds: float
    read_bytes: float = 0.0
    written_bytes: float = 0.0
    stored_bytes: float = 0.0
    read_requests: float = 0.0
    write_requests: float | None = None
    operations: float = 0.0
    read_padding: float = 0.0
    written_padding: float = 0.0
    longest_s: float = math.inf
    making_s: float = 0.0
    made_bytes: float = 0.0
    made_requests: float = 0.0
    timed: Moved | None = None

    @property
    def put_requests(self) -> float:
        """Requests of the class of PUT, as known or by the bytes."""
        return self.written_bytes / PUT_PART_BYTES if self.write_requests is None else self.write_requests

    @property
    def most(self) -> Moved:
        """What it moves at the most: twice the bytes that are expected, or what its time allows."""
        if self.timed:
            return self.timed
        sizes = (self.read_bytes, self.written_bytes, self.read_padding, self.written_padding)
        read, written, *padding = (2 * size for size in sizes)
        return Moved(read, written, self.read_requests, self.put_requests, *padding)

    def spread(self, repetitions: float) -> "Footprint":
        """Return the mean of so many repetitions, with each one's part of what is made once."""
        made_bytes, made_requests = self.made_bytes / repetitions, self.made_requests / repetitions
        timed = self.timed and self.timed._replace(
            written_bytes=self.timed.written_bytes + 2 * made_bytes,
            put_requests=self.timed.put_requests + made_requests,
        )
        return self._replace(
            timed=timed,
            seconds=self.seconds + self.making_s / repetitions,
            written_bytes=self.written_bytes + made_bytes,
            write_requests=self.put_requests + made_requests,
            longest_s=self.longest_s + self.making_s / repetitions,
        )


def combinations(sweeps: Mapping[str, Sequence[Any]]) -> list[Params]:
    """Return one set of parameters per combination; the last sweep varies fastest."""
    return [dict(zip(sweeps, values, strict=True)) for values in itertools.product(*sweeps.values())]


def values_are_different(part: InputModel) -> Problems:
    """Yield a problem if a sweep has the same value twice: the same point would be measured twice."""
    for name, field in type(part).model_fields.items():
        values = getattr(part, name)
        twice = repeated(values) if isinstance(values, list) else None
        if twice is not None:
            rule = f"{twice} is given twice"
            yield part.problem(field.alias or name, rule, "give each value once; `repetitions` measures them again")
