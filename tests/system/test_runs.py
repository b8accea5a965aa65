"""Whole runs, good and bad: each asserts the way through the graph, the results, and that nothing is left."""

import json
import os
import signal
from functools import partial
from typing import Any

from support.runs import EBS, EFS, TOUCH, Cloud, Run, agents_of, matrix, until


def once(states: list[str]) -> list[str]:
    """The states in the order of their first entry."""
    return list(dict.fromkeys(states))


def test_a_good_run_goes_the_good_way_and_every_number_arrives(cloud: Cloud):
    document = matrix(storage=[EFS], fleet=[{"instanceType": "m6i.large", "count": 2}], repetitions=2)

    run = cloud.run("good", document)

    assert run.status == "SUCCEEDED"
    assert [state for state in once(run.states()) if not state.startswith("Wait for ")] == [
        "Plan matrix", "Within budget?", "Only a plan?", "Images to bake?", "Each file system",
        "Create file system", "Check file system", "File system ready?", "Cache to populate?", "Each cell",
        "Admit cell", "Cell admitted?",
        "Launch fleet", "Poll fleet", "Fleet finished?", "Stop fleet", "Fleet failed?", "Analyse cell", "Cell measured",
        "Delete file system", "File system gone?", "Check deleted", "File system gone",
        "Another launch?", "Analyse run", "Every cell measured?", "Run measured",
    ]  # fmt: skip
    cell = run.cell()
    metric = cell["points"][0]["metrics"]["files_per_s"]
    assert (cell["state"], metric["n"], metric["expected_n"]) == ("measured", 4, 4)
    assert 0 < metric["p0"] <= metric["p50"] <= metric["p100"]
    rows = run.rows()
    assert rows[f"CELL#{cell['id']}"]["state"] == "measured"
    row = rows[f"RESULT#{cell['id']}#p01"]
    assert (row["storage_type"], row["instance_count"], float(row["p50"])) == ("efs", 2, metric["p50"])
    assert row["usd"] > 0
    [found] = cloud.client("dynamodb").query(
        TableName=cloud.output("TableName"), IndexName="cell-over-runs", KeyConditionExpression="cell_key = :key",
        FilterExpression="run = :run", ExpressionAttributeValues={
            ":key": {"S": row["cell_key"]}, ":run": {"S": run.name}},
    )["Items"]  # fmt: skip
    assert found["SK"]["S"] == row["SK"]
    assert run.summary()["environment"] == "local"
    samples = [key for key in run.keys(f"runs/{run.name}/cells/") if key.endswith("/samples.json")]
    documents = [run.document(key.removeprefix(f"runs/{run.name}/")) for key in samples]
    instances = run.document(f"cells/{cell['id']}/fleet.json")["instances"]
    assert {document["instance"]["id"] for document in documents} == set(instances)
    assert all(document["mount"]["kind"] == "directory" and document["host"]["kernel"] for document in documents)
    assert run.left_behind() == {}


def test_an_instance_that_dies_fails_its_cell_by_name_and_the_next_cell_is_measured(cloud: Cloud):
    slow = {"type": "build", "name": "slow", "build": "sleep 60", "expectedSeconds": 60}

    def kill_one(run: Run) -> None:
        until(lambda: len(run.running_instances()) == 2, "two running instances")
        until(lambda: run.rows()["CELL#ebs.slow.m6i.large-x2"]["state"] == "running", "the cell to run")
        # As when the host under it fails: the agent has no chance to say anything.
        os.kill(agents_of(run.name)[0], signal.SIGKILL)

    fleet = [{"instanceType": "m6i.large", "count": 2}]
    document = matrix(storage=[EBS | {"name": "ebs"}], workload=[slow, TOUCH | {"name": "touch"}], fleet=fleet)
    run = cloud.run("one-dies", document, kill_one)

    assert run.status == "FAILED"
    cells = {cell["id"]: cell for cell in run.summary()["cells"]}
    dead, alive = cells["ebs.slow.m6i.large-x2"], cells["ebs.touch.m6i.large-x2"]
    assert dead["error"]["name"] == "InstanceDied"
    assert "(i-" in dead["error"]["message"]
    assert alive["state"] == "measured"
    assert once(run.states())[-3:] == ["Analyse run", "Every cell measured?", "Some cells failed"]
    assert "Record failed cell" in run.states()
    assert run.left_behind() == {}
    of_run = [line for line in logged(cloud) if line.get("run") == run.name]
    of_errors = {(line["cell"], line["error"]["name"]) for line in of_run if line.get("level") == "ERROR"}
    assert {(dead["id"], "InstanceDied")} == of_errors
    # Only sweeps, of all runs or of images that other tests of this cloud have baked, are about no run.
    assert [
        line for line in logged(cloud) if "run" not in line and line.get("message") not in ("swept", "swept images")
    ] == []


def logged(cloud: Cloud) -> list[dict[str, Any]]:
    """Every line that our functions have logged on a cloud; those of the runtime itself have no service."""
    logs = cloud.client("logs")
    groups = [group["logGroupName"] for group in logs.describe_log_groups()["logGroups"]]
    pages = [page for group in groups
             for page in logs.get_paginator("filter_log_events").paginate(logGroupName=group)]  # fmt: skip
    texts = [event["message"] for page in pages for event in page["events"]]
    lines = [json.loads(text) for text in texts if text.startswith("{")]
    return [line for line in lines if "service" in line]


def test_a_file_system_that_vanishes_fails_its_launch_and_the_next_one_is_measured_on_another(cloud: Cloud):
    def delete_it(run: Run) -> None:
        efs = cloud.client("efs")
        until(lambda: efs.describe_file_systems()["FileSystems"], "the file system")
        for found in efs.describe_file_systems()["FileSystems"]:
            until(partial(_is_deleted, efs, found["FileSystemId"]), "the file system to be deleted")

    run = cloud.run("vanishes", matrix(storage=[EFS | {"name": "efs"}], launches=2), delete_it)

    cell = run.cell()
    whole = run.document(f"cells/{cell['id']}/result.json")["points"][0]["samples"]
    assert (cell["id"], cell["state"], whole["launch"]) == ("efs.touch.m6i.large-x1", "measured", [2])
    assert [(launch["cell"], launch["state"]) for launch in cell["launches"]] == [
        ("efs.l1.touch.m6i.large-x1", "failed"), ("efs.l2.touch.m6i.large-x1", "measured"),
    ]  # fmt: skip
    missing = cell["warnings"][0]
    assert (missing["code"], missing["launches"], missing["of"]) == ("launch-missing", [1], 2)
    resources = run.summary()["receipt"]["resources"]
    systems = {row["file_system"]: row["id"] for row in resources if row["kind"] == "efs"}
    assert systems.keys() == {"efs.l1", "efs.l2"}
    assert len(set(systems.values())) == 2
    states = run.states()
    assert states.count("Another launch?") == 2
    assert states.index("Record failed file system") < states.index("Another launch?") < states.index("Launch fleet")
    assert run.status == "FAILED"
    assert run.left_behind() == {}


def _is_deleted(efs, file_system: str) -> bool:
    """Delete behind the run's back, whatever mount targets it gets meanwhile; say whether it is gone."""
    try:
        for target in efs.describe_mount_targets(FileSystemId=file_system)["MountTargets"]:
            efs.delete_mount_target(MountTargetId=target["MountTargetId"])
        efs.delete_file_system(FileSystemId=file_system)
    except efs.exceptions.FileSystemNotFound:
        return True
    except efs.exceptions.ClientError:
        return False
    return False


def test_a_command_reads_the_cache_that_one_instance_has_filled_and_is_judged_by_what_it_prints(cloud: Cloud):
    command = {
        "type": "command", "name": "c", "expectedSeconds": 1, "primaryMetric": "tps",
        "populate": "echo tps = 7 > $CACHE_DIR/source", "command": "cp $CACHE_DIR/source out; cat out",
        "metrics": {"tps": {"unit": "tx/s", "better": "higher", "pattern": "tps = ([0-9]+)"}},
    }  # fmt: skip

    fleet = [{"instanceType": "m6i.large", "count": 2}]
    run = cloud.run("cache", matrix(storage=[EFS], workload=[command], fleet=fleet))

    assert run.status == "SUCCEEDED"
    way = once(run.states())
    assert way.index("Populate cache") < way.index("Cache populated?") < way.index("Each cell")
    metric = run.cell()["points"][0]["metrics"]["tps"]
    assert (metric["n"], metric["p50"], metric["unit"], metric["primary"]) == (2, 7, "tx/s", True)
    assert run.left_behind() == {}


def test_a_quota_refusal_is_told_by_its_name_and_smaller_fleets_are_measured(cloud: Cloud):
    fleets = [{"instanceType": "m6i.large", "count": [5, 1]}]

    run = cloud.run("quota", matrix(storage=[EBS | {"name": "ebs"}], workload=[TOUCH | {"name": "t"}], fleet=fleets))

    cells = {cell["id"]: cell for cell in run.summary()["cells"]}
    assert cells["ebs.t.m6i.large-x5"]["error"]["name"] == "QuotaExceeded"
    assert "Service Quotas" in cells["ebs.t.m6i.large-x5"]["error"]["message"]
    assert cells["ebs.t.m6i.large-x1"]["state"] == "measured"
    assert run.left_behind() == {}


def test_a_cache_that_cannot_be_filled_fails_the_cells_that_need_it_and_nothing_is_launched_for_them(cloud: Cloud):
    build = {"type": "build", "name": "b", "populate": "exit 7", "build": "true", "expectedSeconds": 1}

    run = cloud.run("no-cache", matrix(storage=[EFS], workload=[build]))

    assert run.cell()["error"]["name"] == "CacheFailed"
    assert "Launch fleet" not in run.states()
    assert run.left_behind() == {}


def test_over_budget_nothing_is_created(cloud: Cloud):
    run = cloud.run("over-budget", matrix(budgetUsd=0.000001))

    description = run.describe()
    assert (description["status"], description["error"]) == ("FAILED", "OverBudget")
    assert "above budgetUsd" in description["cause"]
    assert run.states() == ["Plan matrix", "Within budget?", "Over budget"]
    assert run.left_behind() == {}


def test_a_plan_that_nobody_agreed_to_creates_nothing(cloud: Cloud):
    run = cloud.run("differs", matrix(agreed={"usd": 500}))

    description = run.describe()
    assert (description["status"], description["error"]) == ("FAILED", "PlanDiffers")
    assert "agreed to were 500.00" in description["cause"]
    assert run.states() == ["Plan matrix"]
    assert run.left_behind() == {}


def test_two_file_systems_of_a_storage_are_filled_and_measured_each_in_its_zone_and_both_are_gone(cloud: Cloud):
    build = {"type": "build", "name": "b", "populate": "touch $CACHE_DIR/here", "build": "test -e $CACHE_DIR/here"}
    fsx = {"type": "fsx-openzfs", "name": "two", "storageCapacityGiB": 64, "throughputCapacityMBps": 64}
    fleet = [{"instanceType": "m6i.large", "count": 2}]

    run = cloud.run("two-file-systems", matrix(storage=[fsx | {"fileSystems": 2}], workload=[build], fleet=fleet))

    assert run.status == "SUCCEEDED"
    receipt = run.summary()["receipt"]
    made = {row["id"]: row["gone_at"] for row in receipt["resources"] if row["kind"] == "fsx-openzfs"}
    filled = [row for row in receipt["resources"] if row["kind"] == "instance" and row["cell"] == "cache"]
    assert (len(made), len(filled), receipt["totals"]["gone"]) == (2, 2, receipt["totals"]["resources"])
    folder = f"runs/{run.name}/"
    keys = [key.removeprefix(folder) for key in run.keys(f"{folder}cells/") if key.endswith("/samples.json")]
    samples = [run.document(key) for key in keys]
    assert len({sample["instance"]["availability_zone"] for sample in samples}) == 2
    # The local cloud lends a folder with the id of the file system.
    assert {name for name in made for sample in samples if name in sample["mount"]["path"]} == made.keys()
    assert run.left_behind() == {}
