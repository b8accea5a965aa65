"""An emulated storage's known speed is found again by the agent's engines, whatever the disk below can do."""

from __future__ import annotations

import time

import pytest
from support.agent_cloud import touch_params
from support.disturbance import attempts

MIB = 2**20
SLOW = {"create_s": 0.005, "create_operations": 1, "read_s": 0.001, "write_s": 0.001, "sync_s": 0.01}
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


def dd_params(**changes):
    base = {"total_bytes": 16 * MIB, "block_bytes": MIB, "sync": "block", "threads": 4, "tool": "engine"}
    return {**base, "source": "random", **changes}


@pytest.mark.parametrize(
    ("what", "rule", "params", "files_per_s"),
    [
        ("latency", {"create_s": 0.01}, {"threads": 8, "files": 400}, 800),
        ("IOPS", {"create_s": 0.001, "create_operations": 1, "iops": 500}, {"threads": 8, "files": 300}, 500),
    ],
)
def test_creates_reach_the_rate_that_the_storage_allows(cloud, instance, make_job, what, rule, params, files_per_s):
    job = make_job("touch", [touch_params(**params)], emulation=emulation(**rule))

    assert_best_rate(cloud, instance, job, "files_per_s", files_per_s)


@pytest.mark.parametrize(
    ("what", "rule", "params", "mib_per_s"),
    [
        ("bytes", {"bytes_per_s": 20 * MIB}, {}, 20),
        ("bytes, written behind", {"bytes_per_s": 20 * MIB}, {"sync": "end"}, 20),
        ("IOPS, a block counts as four", {"iops": 80, "unit_bytes": 256 * 1024}, {}, 20),
        ("latency of each write", {"sync_s": 0.1}, {}, 40),
    ],
)
def test_writes_reach_the_rate_that_the_storage_allows(cloud, instance, make_job, what, rule, params, mib_per_s):
    job = make_job("dd", [dd_params(**params)], emulation=emulation(**rule))

    assert_best_rate(cloud, instance, job, "mib_per_s", mib_per_s)
    assert instance.samples()[0]["tool"]["name"] == "engine"


@pytest.mark.parametrize(
    ("what", "rule", "requests_per_s"),
    [
        ("IOPS", {"iops": 300}, 300),
        ("bytes", {"bytes_per_s": 250 * 8192}, 250),
        ("latency", {"read_s": 0.02}, 200),
    ],
)
@pytest.mark.parametrize("caching", ["direct", "cached"])
def test_reads_reach_the_rate_that_the_storage_allows(cloud, instance, make_job, what, rule, requests_per_s, caching):
    params = {
        "access": "random", "records": 160, "record_bytes": 8192, "page_bytes": 8192, "records_per_request": 1,
        "threads": 4, "caching": caching, "data_bytes": 160 * 8192,
    }  # fmt: skip
    job = make_job("read", [params], emulation=emulation(**rule))

    assert_best_rate(cloud, instance, job, "requests_per_s", requests_per_s)


def test_instances_of_a_shared_file_system_contend_for_one_bucket(cloud, fleet, make_job):
    rule = emulation(iops=400, create_s=0.001, create_operations=1)
    meet = {"barrier": {"poll_s": 0.05, "timeout_s": 40}, "instances": 4}
    job = make_job("touch", [touch_params(files=200, threads=4)], emulation=rule, **meet)
    instances = fleet(4)

    for attempt in attempts():
        with attempt:
            cloud.empty()
            cloud.put("job.json", job)
            cloud.put("gate.json", {"step": -1})
            for instance in instances:
                instance.start()
            cloud.wait_for(lambda keys: sum(key.endswith("ready-0000") for key in keys) == 4, timeout_s=40)
            cloud.put("gate.json", {"step": 0, "start_at": time.time() + 0.5, "ready": 4, "expected": 4})
            if [instance.process.wait(50) for instance in instances] != [0] * 4:
                pytest.fail("an agent failed")

            samples = [instance.samples()[0] for instance in instances]
            span_s = max(sample["ended_at"] for sample in samples) - min(sample["started_at"] for sample in samples)
            assert 4 * 200 / span_s == pytest.approx(400, rel=0.1)
            assert max(sample["metrics"]["files_per_s"] for sample in samples) < 200


def test_emulated_samples_say_so_and_what_the_truth_is(cloud, instance, make_job):
    rule = emulation(iops=10_000, create_operations=1)
    cloud.put("job.json", make_job("touch", [touch_params()], emulation=rule, environment="emulated"))

    instance.run()

    document = instance.document("samples.json")
    assert document["environment"] == "emulated"
    assert document["emulation"] == rule
    assert [sample["emulated"] for sample in document["samples"]] == [True]
