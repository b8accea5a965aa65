"""What is read each second of every step: which counters, how many readings, and what becomes of them."""

from __future__ import annotations

import itertools
import time
from types import SimpleNamespace

import pytest

from agent import session
from agent.machine import counters, over_time
from agent.machine.traffic import Sampler

SECOND = 1_000_000_000


def test_a_step_keeps_what_was_counted_and_nothing_that_never_moved():
    count = itertools.count(0, 100)
    with Sampler(lambda: {"disk_write_bytes": float(next(count)), "network_sent_bytes": 7.0}, 0.01) as sampler:
        while len(sampler.seconds()) <= over_time.MIN_READINGS:
            time.sleep(0.001)

    curve = over_time.document(sampler, [], epoch_s=1e9)

    assert curve["counted"]["disk_write_bytes"][:3] == [0, 100, 200]
    assert list(curve["counted"]) == ["disk_write_bytes"]
    assert len(curve["seconds"]) == len(curve["counted"]["disk_write_bytes"])
    assert curve["begun_at"] == pytest.approx(1e9 + sampler.begun, abs=0.001)
    assert "operations" not in curve


def test_a_step_of_no_whole_second_has_no_curve():
    with Sampler(lambda: {"disk_write_bytes": time.monotonic()}, period_s=60) as sampler:
        pass

    assert over_time.document(sampler, [(0, 0), (SECOND, 9)], 0.0) is None


def test_readings_of_a_long_step_become_fewer_and_no_byte_is_lost():
    count = itertools.count()
    sampler = Sampler(lambda: {"disk_write_bytes": float(next(count))}, period_s=1.0, most=4)

    sampler._take()
    periods = []
    for _ in range(9):
        sampler._keep_one_more()
        periods.append(sampler._period_s)

    [counted] = sampler.series().values()
    assert periods == [1, 1, 1, 2, 2, 4, 4, 8, 8]
    assert counted == sorted(counted)
    assert (counted[0], counted[-1]) == (0, 9)
    assert len(counted) <= 4


def test_operations_of_a_long_step_are_thinned_with_both_ends():
    seconds = 10 * over_time.MAX_READINGS
    with Sampler(lambda: {"network_sent_bytes": 0.0}, 0.001) as sampler:
        while len(sampler.seconds()) < over_time.MIN_READINGS:
            time.sleep(0.001)
    begun = int(sampler.begun * SECOND)

    done = over_time.document(sampler, [(begun + n * SECOND, 5 * n) for n in range(seconds + 1)], 0.0)["operations"]

    assert len(done["seconds"]) == len(done["done"]) <= over_time.MAX_READINGS + 1
    assert (done["done"][0], done["done"][-1]) == (0, 5 * seconds)


def job(kind, emulation=None):
    """A job of this kind of mount."""
    return SimpleNamespace(mount={"kind": kind}, emulation=emulation)


@pytest.mark.parametrize(
    ("kind", "is_disk_read"), [("directory", True), ("ebs", True), ("nfs", True), ("s3", False), ("file-server", False)]
)
def test_what_comes_by_requests_is_counted_at_the_network_alone(tmp_path, monkeypatch, kind, is_disk_read):
    monkeypatch.setattr(counters, "of_network", lambda: {"network_sent_bytes": 1.0})
    monkeypatch.setattr(counters, "of_device", lambda *_: {"disk_read_bytes": 2.0, "disk_busy_s": 3.0})

    counted = session._watch(job(kind), tmp_path)._read()

    assert counted == {"network_sent_bytes": 1.0, **({"disk_read_bytes": 2.0} if is_disk_read else {})}


def test_an_emulated_storage_has_its_engines_operations_and_nothing_of_this_machine(tmp_path):
    sampler = session._watch(job("directory", {"shared": True}), tmp_path)
    for _ in range(over_time.MIN_READINGS):
        sampler._take()

    curve = over_time.document(sampler, [(0, 0), (int(sampler.begun * SECOND) + SECOND, 7)], 0.0)

    assert curve["counted"] == {}
    assert curve["operations"] == {"seconds": [0.0, 1.0], "done": [0, 7]}


def test_of_a_storage_that_is_gone_the_network_is_counted(tmp_path):
    assert "network_sent_bytes" in over_time.sampler(tmp_path / "gone")._read()
