"""Bundles of an instance: latency histograms and curves (counters over time) of many steps in one object."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field, StringConstraints

from matrix.samples import raw_file
from matrix.samples.file import Counters
from matrix.samples.histograms import Histogram, HistogramFile, histograms_of
from matrix.samples.over_time import StepCurve
from matrix.samples.raw_file import Claims

# An agent's bundle has at most 4 MB of both, with their names.
MAX_BYTES = 5_000_000
MAX_STEPS = 10_000

Stem = Annotated[str, StringConstraints(max_length=220)]


class _BundleFile(Claims):
    """Both by the names of the steps: `p01-r1`. The last file has what the mount counted in all."""

    steps: dict[Stem, HistogramFile] = Field(max_length=MAX_STEPS)
    curves: dict[Stem, StepCurve] = Field(default_factory=dict, max_length=MAX_STEPS)
    moved: Counters = Field(default_factory=dict)


@dataclass(frozen=True)
class Bundle:
    """Both by step; and all that the mount has moved, if the job ended well and its kernel counts."""

    histograms: Mapping[str, Mapping[str, Histogram]]
    curves: Mapping[str, StepCurve]
    moved: Mapping[str, float]


def read(content: bytes) -> Bundle:
    """Return the content of a bundle. Raises InvalidSamples if it is too large, or a part of it has another shape."""
    uploaded = raw_file.read(_BundleFile, content, name="a file of many steps", max_bytes=MAX_BYTES)
    of_steps = {stem: histograms_of(of_step) for stem, of_step in uploaded.steps.items()}
    return Bundle(of_steps, uploaded.curves, uploaded.moved)
