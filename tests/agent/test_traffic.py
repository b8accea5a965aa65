"""Counters that are read each second while a step runs."""

from __future__ import annotations

import itertools
import time
from itertools import pairwise

import pytest

from agent.machine.traffic import Sampler

NETWORK, DISK = "network_sent_bytes", "disk_write_bytes"


def test_a_slow_reading_is_not_made_up_for_by_many_that_show_spikes():
    pauses = itertools.chain([0, 0, 0.5], itertools.repeat(0))

    def read():
        time.sleep(next(pauses))
        return {NETWORK: 1e6 * time.monotonic()}

    with Sampler(read, period_s=0.05) as sampler:
        time.sleep(1.0)

    seconds = sampler.seconds()
    apart = [after - before for before, after in pairwise(seconds)]
    assert max(apart) > 0.45
    assert sum(interval < 0.01 for interval in apart) <= 1  # and not nine


@pytest.mark.parametrize("when", [0, 1, 3])
def test_a_measurement_outlives_counters_that_cannot_be_read_or_are_gone(when):
    readings = itertools.count()

    def read():
        number = next(readings)
        if number == when:
            raise OSError(5, "Input/output error", "/proc/net/dev")
        counted = {NETWORK: 10.0 * number, "steal_s": 0.0}
        return counted | ({DISK: 1.0} if number < 4 else {})

    with Sampler(read, period_s=0.005) as sampler:
        while len(sampler.seconds()) < 8:
            time.sleep(0.001)

    assert sampler.series().keys() == {NETWORK, "steal_s"}
    said = " ".join(sampler.warnings())
    assert "1 reading of the machine's counters failed" in said
    assert "/proc/net/dev" in said
    assert f"lacks {DISK}" in said
