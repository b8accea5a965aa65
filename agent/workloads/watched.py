"""Trials whose counters are read each second: the rate over time of what a program moves."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from agent.machine.traffic import Sampler
from agent.programs.processes import Ended
from agent.workloads.trial import Trial

# A curve of fewer readings shows no more than the rate of the whole.
LEAST_READINGS = 3


@dataclass
class WatchedTrial(Trial):
    """A trial whose counters are read all the while."""

    sampler: Sampler

    def run(self) -> list[Ended]:
        """The measured part, between the first and the last reading."""
        with self.sampler:
            return super().run()


def series(sampler: Sampler, carrier: str) -> dict[str, Any]:
    """All that was read each second, for the raw output."""
    return {
        "schema": 1,
        "carrier": carrier,
        "seconds": [round(at, 3) for at in sampler.seconds()],
        "counted": sampler.series(),
    }


def kept(sampler: Sampler, carrier: str) -> dict[str, bytes]:
    """The raw output of a trial that lasted for seconds; nothing of a shorter one, or where nothing is counted."""
    document = series(sampler, carrier)
    if len(document["seconds"]) < LEAST_READINGS or carrier not in document["counted"]:
        return {}
    return {"series.json": json.dumps(document).encode()}
