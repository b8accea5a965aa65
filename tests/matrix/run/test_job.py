"""What instances are told."""

import subprocess

import pytest

from matrix.run import gates
from matrix.run.job import measuring_job, user_data

CELL = {
    "id": "c", "storage": {"type": "ebs"}, "workload": {"type": "touch"}, "deadline_s": 900,
    "ready_within_s": 900.0,
    "fleet": {"instanceType": "m6i.large", "count": 2}, "points": [{"id": "p01", "params": {}}],
    "steps": [{"point": "p01", "repetition": 1}],
}  # fmt: skip


def script(**changes):
    facts = {"bucket": "b", "agent_key": "agents/abc.pyz", "job_key": "runs/r/job.json", "region": "eu-west-1"}
    return user_data(**(facts | {"lifetime_s": 3601.0} | changes))


def test_user_data_is_valid_bash_and_arms_the_watchdog_before_anything_else():
    text = script()

    subprocess.run(["bash", "-n"], input=text.encode(), check=True)
    commands = [
        line for line in text.splitlines() if line and not line.startswith(("#", "AGENT", "JOB", "NONCE", "export"))
    ]
    # 3,601 seconds are rounded up to 61 minutes, never down.
    assert commands[0] == "WATCHDOG_MINUTES=61"
    assert commands[1] == 'shutdown -h +"$WATCHDOG_MINUTES"'
    assert "AGENT_URI=s3://b/agents/abc.pyz" in text


def test_user_data_that_ec2_would_refuse_is_refused_here():
    with pytest.raises(ValueError, match="EC2 takes 16384"):
        script(job_key="k" * 17_000)


def job(count, environment="aws"):
    cell = CELL | {"fleet": {"instanceType": "m6i.large", "count": count}}
    return measuring_job(
        run="r", cell=cell, mount={}, bucket="b", environment=environment, now=1000.0, gate_margin_s=2.0
    )  # fmt: skip


def test_a_fleet_has_a_barrier_and_an_instance_alone_has_none():
    assert job(2)["barrier"] == gates.rule(2, 2.0, 900)
    assert job(1)["barrier"] is None


def test_the_deadline_is_counted_from_the_launch():
    assert job(1)["deadline_at"] == 1900.0
