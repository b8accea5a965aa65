"""One large write, watched while it runs."""

from __future__ import annotations

import gzip
import itertools
import os
import random
import statistics
import subprocess
import sys
import time
from itertools import pairwise

import pytest
from support.disturbance import attempts

from agent.engine import stream
from agent.machine import counters
from agent.machine.levels import find_levels
from agent.machine.traffic import DISK, FILE, NETWORK, Sampler, Traffic, rates
from agent.workloads import instance_throughput

MIB = 1 << 20


def throughput_params(**changes):
    return {"total_bytes": 24 * MIB, "block_bytes": MIB, "source": "random", **changes}


@pytest.mark.parametrize("tool", ["engine", "dd"])
def test_the_seconds_of_a_write_are_kept(sampled, instance, tool):
    [sample] = sampled("instance-throughput", [throughput_params(source="zero", tool=tool)])

    metrics = sample["metrics"]
    assert metrics["cpu_steal_s"] >= 0
    assert sample["raw"] == ["raw/p01-r1.series.json"]
    series = instance.document("raw/p01-r1.series.json")
    assert series["carrier"] == sample["tool"]["watched"]
    assert series["seconds"][0] == 0
    assert series["seconds"][-1] >= metrics["duration_s"] - 0.001  # readings are kept to the millisecond
    assert (FILE in series["counted"]) == (series["carrier"] == FILE)
    if series["carrier"] == FILE:
        assert series["counted"][FILE][-1] == 24 * MIB
    assert all(len(counted) == len(series["seconds"]) for counted in series["counted"].values())


def test_what_was_not_measured_is_said(sampled, fake_tool, bin_folder):
    fake_tool("ethtool", "echo 'NIC statistics:'; echo '     rx_bytes: 7'")
    [sample] = sampled("instance-throughput", [throughput_params()], env={"PATH": f"{bin_folder}:{os.environ['PATH']}"})

    said = " ".join(sample["warnings"])
    assert "this storage is not reached over the network" in said
    assert "absent: bw_in_allowance_exceeded, bw_out_allowance_exceeded" in said
    assert "burst_mb_per_s" not in sample["metrics"]  # less than 10 s on either side tell no level


def test_allowances_that_the_card_counts_are_metrics(sampled, fake_tool, bin_folder, tmp_path):
    if counters.default_interface() is None:
        pytest.skip("this machine has no default route, so no card would be asked")
    asked = tmp_path / "asked"
    fake_tool(
        "ethtool",
        f"echo x >> '{asked}'; n=$(wc -l < '{asked}'); echo \"bw_out_allowance_exceeded: $((n * 100))\"",
    )
    [sample] = sampled("instance-throughput", [throughput_params()], env={"PATH": f"{bin_folder}:{os.environ['PATH']}"})

    assert sample["metrics"]["bw_out_allowance_exceeded"] >= 100
    assert any("absent: bw_in_allowance_exceeded (" in warning for warning in sample["warnings"])


@pytest.mark.parametrize(
    ("route", "has_ethtool", "said"),
    [(None, True, "no interface has a default route"), ("eth0", False, "ethtool is not installed"),
     ("eth0", True, "the driver of eth0 does not count them")],
)  # fmt: skip
def test_the_reason_for_absent_allowances_is_the_true_one(monkeypatch, route, has_ethtool, said):
    monkeypatch.setattr(counters, "default_interface", lambda: route)
    monkeypatch.setattr(counters.tools, "find", lambda _: "/sbin/ethtool" if has_ethtool else None)

    assert said in counters.why_no_allowances()


def test_a_write_that_is_throttled_shows_its_burst_and_its_baseline(tmp_path, monkeypatch):
    # A real file that grows by 400 kB each 10 ms for 1 s, then by 50 kB, watched each 50 ms.
    target = tmp_path / "stream"
    script = (
        "import sys, time\n"
        "with open(sys.argv[1], 'wb', buffering=0) as f:\n"
        "    begun = time.monotonic()\n"
        "    for n in range(220):\n"
        "        f.write(bytes(400_000 if n < 100 else 50_000))\n"
        "        time.sleep(max(0, begun + (n + 1) / 100 - time.monotonic()))\n"
    )
    monkeypatch.setattr(counters, "of_device", lambda *_: {})  # as in memory: only the file's growth can be watched
    watched = Traffic("directory", tmp_path, target)
    for attempt in attempts():
        with attempt:
            target.unlink(missing_ok=True)
            with Sampler(watched.read, period_s=0.05) as sampler:
                subprocess.run([sys.executable, "-c", script, str(target)], check=True)

            # The first interval holds the script's own start.
            levels = find_levels(sampler.rates(FILE)[1:])
            assert levels is not None
            assert levels.burst == pytest.approx(40e6, rel=0.3)
            assert levels.baseline == pytest.approx(5e6, rel=0.3)
            assert 0.05 * (levels.samples + 1) == pytest.approx(1.0, abs=0.35)


@pytest.mark.parametrize(
    ("seconds", "counted", "expected"),
    [
        ([0, 1, 2, 4], [0, 10, 30, 30], [10, 20, 0, 0]),  # a reading came late: still one rate for each second
        ([0, 1, 2, 2.1], [0, 10, 30, 90], [10, 20]),
        ([0, 1.5, 3], [0, 30, 60], [20, 20, 20]),
        ([0, 10.25, 11.25], [0, 102.5, 112.5], [10] * 11),
        ([0, 0.25], [0, 10], []),
        ([0], [0], []),
    ],
)
def test_rates_are_those_of_each_whole_second(seconds, counted, expected):
    assert rates(seconds, counted, 1.0) == pytest.approx(expected)


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
    assert len(sampler.rates(NETWORK)) == int(seconds[-1] / 0.05)
    assert statistics.median(sampler.rates(NETWORK)) == pytest.approx(1e6, rel=0.1)


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
    assert instance_throughput.levels(sampler, DISK) == {}
    said = " ".join(instance_throughput.warnings(sampler, DISK, 10, {}))
    assert "1 reading of the machine's counters failed" in said
    assert "/proc/net/dev" in said
    assert f"lacks {DISK}" in said


def test_the_counter_that_is_shown_is_the_one_that_the_bytes_go_through(tmp_path, monkeypatch):
    monkeypatch.setattr(counters, "of_device", lambda *_: {"nfs_write_bytes": 7.0})
    assert Traffic("nfs", tmp_path, tmp_path / "x").carrier == NETWORK
    assert Traffic("directory", tmp_path, tmp_path / "x").carrier == FILE

    monkeypatch.setattr(counters, "of_device", lambda *_: {DISK: 4096.0})
    watched = Traffic("ebs", tmp_path, tmp_path / "x")
    assert watched.carrier == DISK
    assert watched.read()[DISK] == 4096


def test_readings_that_come_late_are_warned_about(monkeypatch):
    sampler = Sampler(lambda: {NETWORK: 100.0}, period_s=60)
    with sampler:
        pass
    monkeypatch.setattr(sampler, "seconds", lambda: [0.0, 1.0, 9.5, 10.5])
    late = instance_throughput.warnings(sampler, NETWORK, 0, {})
    monkeypatch.setattr(sampler, "seconds", lambda: [0.0, 1.0, 2.1, 3.0])
    even = instance_throughput.warnings(sampler, NETWORK, 0, {})

    assert any("read up to 8.5 s apart" in warning for warning in late)
    assert not any("apart" in warning for warning in even)


def test_a_rate_near_the_limit_of_one_connection_is_said_to_be_perhaps_the_connections():
    assert "600 MB/s is near the 625 MB/s" in instance_throughput.flow_warnings(NETWORK, 600.0)[0]
    assert instance_throughput.flow_warnings(NETWORK, 300.0) == []
    assert instance_throughput.flow_warnings(DISK, 900.0) == []


def test_bytes_that_went_another_way_are_warned_about():
    sampler = Sampler(iter([{NETWORK: 0}, {NETWORK: 80}]).__next__, period_s=60)
    with sampler:
        pass

    assert any("less than 90%" in said for said in instance_throughput.warnings(sampler, NETWORK, 100, {}))
    assert not any("less than 90%" in said for said in instance_throughput.warnings(sampler, NETWORK, 85, {}))


def test_a_short_file_fails_the_sample(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"12345")

    with pytest.raises(instance_throughput.WorkIncomplete, match="5 of 6 bytes"):
        instance_throughput.verify(path, 6)


def test_random_blocks_do_not_compress_and_zeros_do(tmp_path):
    random.seed(0)  # of 13 stretches of the pool two overlap in some draws of a hundred
    for source, least, most in ((stream.random_blocks(4096), 49_500, 51_000), (stream.zero_blocks(4096), 0, 200)):
        path = tmp_path / "x"
        descriptor = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
        assert stream.write(descriptor, source, 50_001) == 50_001
        os.close(descriptor)
        content = path.read_bytes()
        assert len(content) == 50_001
        assert least < len(gzip.compress(content)) < most
