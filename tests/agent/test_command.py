"""Any shell command: its folders, its own metrics, and how it fails without them."""

from __future__ import annotations

import pytest

from agent.workloads import command

PARAMS = {
    "name": "c",
    "command": "true",
    "prepare": None,
    "populate": None,
    "jobs": 3,
    "cache_path": "a",
    "container": None,
}
METRICS = {
    "tps": {"unit": "tx/s", "better": "higher", "pattern": "^tps = ([0-9]+)$"},
    "p99_ms": {"unit": "ms", "better": "lower", "jsonField": "latency.p99"},
}
PRINTS = """test "$PWD" = "$WORK_DIR"; cat source; echo tps = $((100 * JOBS)); echo '{"latency": {"p99": 1.5}}'"""


def test_a_command_has_the_numbers_that_it_prints_beside_its_time(cloud, instance, make_job):
    point = {**PARAMS, "prepare": "echo tps = 1 > source", "command": PRINTS}
    cloud.put("job.json", make_job("command", [point], workload={"type": "command", "metrics": METRICS}))

    assert instance.run() == 0

    [sample] = instance.samples()
    assert sample["metrics"].keys() == {"duration_s", "command_cpu_s", "tps", "p99_ms"}
    assert (sample["metrics"]["tps"], sample["metrics"]["p99_ms"]) == (300, 1.5)
    assert sample["work"] == {"runs": 1}


def test_a_step_without_a_declared_number_fails_by_its_name_and_the_last_lines(cloud, instance, make_job):
    point = {**PARAMS, "command": "echo tps = many"}
    cloud.put("job.json", make_job("command", [point], workload={"type": "command", "metrics": METRICS}))

    assert instance.run() == 1

    failed = instance.document("failed.json")
    assert failed["error"] == "NumberMissing"
    assert "tps (pattern '^tps = ([0-9]+)$') is in no line of the output" in failed["message"]
    assert "'tps = many'" in failed["message"]


def test_to_populate_no_number_is_needed(cloud, instance, make_job, storage):
    workload = {"type": "command", "metrics": METRICS}
    job = make_job("command", [{**PARAMS, "populate": 'touch "$CACHE_DIR/x"'}], kind="populate", workload=workload)
    del job["steps"]
    cloud.put("job.json", job)

    assert instance.run() == 0
    assert (storage / "a/x").exists()


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"command": ""}, "command: missing"),
        ({"container": "--privileged"}, "container: '--privileged' must match"),
        ({"cache_path": "../x"}, "cache_path: '../x' must be a path below the storage"),
    ],
)
def test_what_cannot_be_run_is_named(changes, problem):
    assert any(each.startswith(problem) for each in command.problems({**PARAMS, **changes}))
