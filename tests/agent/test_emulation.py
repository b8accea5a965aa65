"""An emulated storage's known speed is found again by the agent's engines, whatever the disk below can do."""

from __future__ import annotations

import os
import random
import time
from itertools import pairwise

import pytest
from support.agent_cloud import BARRIER, dd_params, parsed, touch_params
from support.disturbance import attempts

from agent.engine import phases, reads, worker_pool, writes
from agent.engine.emulation import UNLIMITED, EmulatedStorage
from agent.job import Step
from agent.machine.workspace import Workspace
from agent.workloads import engines

MIB = 2**20
CLOSE = {"rel": 0.05}


def assert_best_rate(cloud, instance, job, metric, expected):
    """The best of three repetitions: a machine with other work to do reaches less now and then, never more."""
    steps = [{"point": "p01", "repetition": number} for number in (1, 2, 3)]
    for attempt in attempts():
        with attempt:
            cloud.empty()
            cloud.put("job.json", {**job, "steps": steps})
            if instance.run() != 0:
                pytest.fail("the agent failed")
            assert max(sample["metrics"][metric] for sample in instance.samples()) == pytest.approx(expected, **CLOSE)


def emulation(**changes):
    """A storage that is limited by nothing but the changes."""
    nothing = {"create_s": 0, "create_operations": 0, "read_s": 0, "write_s": 0, "sync_s": 0}
    return {"shared": True, "iops": None, "bytes_per_s": None, "unit_bytes": None, **nothing, **changes}


WRITES = dd_params(data_bytes=16 * MIB, sync="block", threads=4, tool="engine", source="random")
CREATES, READS = touch_params(threads=8, files=400), {
    "access": "random", "requests": 160, "request_bytes": 8192, "threads": 4, "caching": "direct",
    "data_bytes": 160 * 8192,
}  # fmt: skip
# Workload, parameters, the limit of the storage, and the rate that it allows.
RATES = {
    "creates: latency": ("touch", CREATES, {"create_s": 0.01}, "files_per_s", 800),
    "creates: IOPS": (
        "touch", {**CREATES, "files": 300}, {"create_s": 0.001, "create_operations": 1, "iops": 500}, "files_per_s",
        500,
    ),
    "writes: bytes": ("dd", WRITES, {"bytes_per_s": 20 * MIB}, "mib_per_s", 20),
    "writes: bytes, written behind": ("dd", {**WRITES, "sync": "end"}, {"bytes_per_s": 20 * MIB}, "mib_per_s", 20),
    "writes: IOPS, a block counts as four": (
        "dd", WRITES, {"iops": 80, "unit_bytes": 256 * 1024}, "mib_per_s", 20,
    ),
    "writes: latency of each": ("dd", WRITES, {"sync_s": 0.1}, "mib_per_s", 40),
    "reads: IOPS": ("read", READS, {"iops": 300}, "requests_per_s", 300),
    "reads: IOPS of their own": (
        "read", READS, {"iops": 100, "read_iops": 300, "bytes_per_s": 8192, "read_bytes_per_s": 1e9}, "requests_per_s",
        300,
    ),
    "writes: bytes of their own": (
        "dd", WRITES, {"read_iops": 1, "read_bytes_per_s": 1.0, "bytes_per_s": 20 * MIB}, "mib_per_s", 20,
    ),
    "reads: bytes": ("read", READS, {"bytes_per_s": 250 * 8192}, "requests_per_s", 250),
    "reads: latency": ("read", READS, {"read_s": 0.02}, "requests_per_s", 200),
    "reads: latency, through the cache": (
        "read", {**READS, "caching": "cached"}, {"read_s": 0.02}, "requests_per_s", 200,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", RATES)
def test_each_engine_reaches_the_rate_that_the_storage_allows(cloud, instance, make_job, case):
    workload, params, rule, metric, rate = RATES[case]
    job = make_job(workload, [params], emulation=emulation(**rule))

    assert_best_rate(cloud, instance, job, metric, rate)


def test_instances_of_a_shared_file_system_contend_for_one_bucket(cloud, fleet, make_job):
    rule = emulation(iops=400, create_s=0.001, create_operations=1)
    meet = {"barrier": BARRIER | {"margin_s": 0.5}, "instances": 4}
    job = make_job("touch", [touch_params(files=200, threads=4)], emulation=rule, **meet)
    instances = fleet(4)

    for attempt in attempts():
        with attempt:
            cloud.empty()
            cloud.put("job.json", job)
            cloud.meet(each.id for each in instances)
            for instance in instances:
                instance.start()
            if [instance.process.wait(50) for instance in instances] != [0] * 4:
                pytest.fail("an agent failed")

            samples = [instance.samples()[0] for instance in instances]
            span_s = max(sample["ended_at"] for sample in samples) - min(sample["started_at"] for sample in samples)
            assert 4 * 200 / span_s == pytest.approx(400, rel=0.1)
            assert max(sample["metrics"]["files_per_s"] for sample in samples) < 200


def waits(tmp_path, count, **quirks):
    """Milliseconds that each of several creates takes, one after the other, as the emulator says without waiting."""
    rule = emulation(create_s=0.01, create_operations=1, iops=10_000, **quirks)
    storage = EmulatedStorage({**rule, "path": str(tmp_path / "bucket"), "catch_up_s": 3600})
    ends = [storage.create() for _ in range(count)]
    return [round((after - before) / 1e6, 3) for before, after in pairwise(ends)]


@pytest.mark.parametrize("late_s", [0.002, 0.02, 0.2])
def test_no_operation_takes_less_than_the_latency_however_late_its_worker_wakes_up(tmp_path, monkeypatch, late_s):
    """A busy machine wakes workers late: by less than CATCH_UP_S, or by more."""
    sleep, chance = time.sleep, random.Random(44)
    monkeypatch.setattr(time, "sleep", lambda seconds: sleep(seconds + chance.choice([0.0, 0.0, 0.0, late_s])))
    (tmp_path / "data").write_bytes(bytes(32 * 4096))
    monkeypatch.chdir(tmp_path)
    rule = emulation(create_s=0.004, read_s=0.004, write_s=0.004, sync_s=0.004, path=str(tmp_path / "bucket"))
    plan = {"path": str(tmp_path / "data"), "request_bytes": 4096, "emulation": rule}
    reader, folder = reads.EmulatedReader(plan), os.open(tmp_path, os.O_RDONLY)
    block = {"block_bytes": 4096, "sync": "block", "blocks": 8, "seed": None, "emulation": rule}
    read = [time.monotonic_ns()]

    reader.read([4096 * page for page in range(16)], read)
    written = writes.Writer(block, str(tmp_path / "out"), memoryview(bytes(17 << 20))).write_all(8)
    created, seen = (
        phases.act_on_all(
            [b"a%d" % n for n in range(16)],
            phases.act_of({**phases.USUALLY, "phase": phase, "counts": [16]}, 0, folder, EmulatedStorage(rule)),
            phases.Wall({"stonewall": "last"}),
            is_dated=True,
        )
        for phase in ("create", "stat")
    )

    for stamps in (read, created, written, seen):
        assert min(after - before for before, after in pairwise(stamps)) >= 4_000_000


def test_a_storage_stands_still_after_each_so_many_operations(tmp_path):
    assert waits(tmp_path, 7, stall_every=3, stall_s=1.0) == pytest.approx([10, 1000.1, 10, 10, 1000.1, 10], abs=1)


def test_a_storage_whose_credits_run_out_stays_slow(tmp_path):
    assert waits(tmp_path, 5, change_after=3, change_times=4) == pytest.approx([10, 10, 40, 40], abs=0.01)


def test_a_tail_has_the_share_and_the_latency_that_were_asked_for(tmp_path):
    taken = waits(tmp_path, 2001, tail_share=0.1, tail_s=0.08)

    assert set(taken) == {10.0, 80.0}
    # 4.5 standard deviations of a binomial with 2,000 trials.
    assert 200 - 60 < taken.count(80.0) < 200 + 60


def test_noise_is_that_of_a_repetition_on_all_instances_and_one_of_them_is_slow(tmp_path, make_job):
    rule = emulation(create_s=0.01, noise=0.05, slow_times=2, times=3)
    job = parsed(make_job("touch", [touch_params()], emulation=rule))

    def times(instance, repetition):
        workspace = Workspace(tmp_path, tmp_path / instance / "step", tmp_path, tmp_path, tmp_path)
        return engines.emulation(job, Step(0, "p01", repetition, {}), workspace)["times"]

    first, second = times("i-1", 1), times("i-2", 1)
    assert first == pytest.approx(2 * second)
    assert times("i-3", 1) == second
    assert 0 < abs(times("i-3", 2) / second - 1) < 0.5
    assert times("i-1", 2) == pytest.approx(2 * times("i-2", 2))


def test_emulated_samples_say_so_and_what_the_truth_is(sampled, instance):
    rule = emulation(iops=10_000, create_operations=1)
    sampled("touch", [touch_params()], emulation=rule, environment="emulated")

    document = instance.document("samples.json")
    assert document["environment"] == "emulated"
    assert document["emulation"] == rule
    assert [sample["emulated"] for sample in document["samples"]] == [True]


def test_a_sleeper_is_not_woken_later_together_with_others(tmp_path, monkeypatch):
    sharpened = []
    monkeypatch.setattr(worker_pool, "sharpen_timer", lambda: sharpened.append(True))

    EmulatedStorage({**UNLIMITED, "path": str(tmp_path / "bucket")})

    assert sharpened == [True]
