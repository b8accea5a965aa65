"""A run on a file server: an instance of its own serves, the fleet reads, and all of it is gone afterwards."""

import json

import pytest
from support.runs import Cloud, Run, matrix, until

READ = {"type": "read", "access": "random", "requests": 400, "requestSize": "8KiB", "batch": [1, 100], "threads": 2}


@pytest.fixture(scope="module")
def run(cloud: Cloud) -> Run:
    storages = {"storage": [{"type": "file-server", "instanceType": "m6i.large"}], "workload": [READ]}
    return cloud.run("served", matrix(**storages, fleet=[{"instanceType": "m6i.large", "count": 2}]))


def test_every_instance_reads_its_own_file_from_the_server(run):
    [cell] = run.summary()["cells"]

    assert cell["state"] == "measured", cell["error"]
    assert [point["metrics"]["requests_per_s"]["n"] for point in cell["points"]] == [2, 2]


def test_the_server_is_billed_once_and_seen_gone_with_its_volumes(run):
    resources = run.summary()["receipt"]["resources"]

    [server] = [one for one in resources if one["kind"] == "file-server"]
    assert server["verified"] == "EC2 DescribeInstances: terminated"
    assert server["cost_usd"] > 0
    assert {one["kind"] for one in resources if one["cell"] == "file-server"} == {"file-server", "volume"}
    assert all(one["gone_at"] and one["cost_usd"] is not None for one in resources)
    assert not any(run.left_behind().values())


def test_nobody_was_refused(run):
    decisions = [json.loads(line) for line in (run.cloud.folder / "iam-decisions.jsonl").read_text().splitlines()]

    assert [one for one in decisions if one["decision"] != "allow" and "servers/" in one["resource"]] == []


def test_a_server_that_is_terminated_fails_the_cell_that_reads_and_the_next_before_it_is_launched(run):
    def end_the_server(run):
        cell = f"runs/{run.name}/cells/file-server-m6i-large.a.m6i.large-x1/"
        until(lambda: any(key.endswith("/samples.json") for key in run.keys(cell)), "the first sample")
        [server] = [
            row["id"] for key, row in run.rows().items() if key.startswith("RESOURCE#") and row["kind"] == "file-server"
        ]
        run.cloud.client("ec2").terminate_instances(InstanceIds=[server])

    document = matrix(
        storage=[{"type": "file-server", "instanceType": "m6i.large"}],
        workload=[READ | {"name": "a"}, READ | {"name": "b"}],
        repetitions=100,
    )

    ended = run.cloud.run("server-ends", document, end_the_server)

    reading, next_one = ended.summary()["cells"]
    assert (reading["state"], next_one["state"]) == ("failed", "failed")
    assert "the file server 127.0.0.1:" in reading["error"]["message"]
    assert "has its instance ended?" in reading["error"]["message"]
    assert next_one["error"]["name"] == "FileSystemFailed"
    # The instance is shutting down: on a busy machine its agent has not said yet why it ends.
    why = ("Terminated: the agent was asked to end", "is shutting-down: its log may say why")
    assert any(words in next_one["error"]["message"] for words in why), next_one["error"]
    assert not any(one["cell"] == next_one["id"] for one in ended.summary()["receipt"]["resources"])
    assert ended.left_behind() == {}
