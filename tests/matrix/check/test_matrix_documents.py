"""The schema of a matrix is that of its models, and the matrices in events/ are good."""

import json
from pathlib import Path

import jsonschema
import pytest

from matrix.check.read import read_matrix
from matrix.check.schema import schema_text
from matrix.plan.planning import plan

ROOT = Path(__file__).parents[3]
EVENTS = sorted((ROOT / "events").glob("*.json"))


def test_the_schema_in_docs_is_that_of_the_models():
    kept = (ROOT / "docs" / "matrix.schema.json").read_text(encoding="utf-8")

    assert kept == schema_text(), "run: PYTHONPATH=functions python -m matrix.check.schema > docs/matrix.schema.json"


@pytest.mark.parametrize("path", EVENTS, ids=lambda path: path.stem)
def test_a_matrix_in_events_is_good_within_its_budget(path):
    text = path.read_text(encoding="utf-8")
    checked = read_matrix(text)
    matrix = checked.matrix

    planned = plan(checked)

    assert matrix.name == path.stem
    assert matrix.budget_usd is None or planned.cost.expected <= matrix.budget_usd
    assert (path.parent / json.loads(text)["$schema"]).resolve() == ROOT / "docs" / "matrix.schema.json"
    jsonschema.validate(json.loads(text), json.loads(schema_text()))


@pytest.mark.parametrize(
    "bad", [{"name": "A"}, {"storage": [{"type": "efs", "throughputmode": "elastic"}]}, {"repetitions": "3"}]
)
def test_the_schema_tells_an_editor_what_is_wrong(bad):
    good = json.loads(EVENTS[0].read_text(encoding="utf-8"))

    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(good | bad, json.loads(schema_text()))


def planned_points(name):
    """(storage name, point parameters) of every point of a matrix in events/."""
    document = plan(read_matrix((ROOT / "events" / name).read_bytes())).to_document()
    return [(cell["storage"].get("name"), point["params"]) for cell in document["cells"] for point in cell["points"]]


# The published rows, as docs/published.csv lists them.


def test_the_dd_matrix_has_every_published_row_of_the_tutorial():
    published = {
        (storage, mib, sync, 1) for storage in ("ebs-gp2", "efs") for mib in (1, 16) for sync in ("end", "block")
    }
    published |= {(storage, 1, "block", threads) for storage in ("ebs-gp2", "efs") for threads in (4, 16)}

    points = planned_points("efs-tutorial-dd.json")

    ours = {(name, one["block_bytes"] // 2**20, one["sync"], one["threads"]) for name, one in points}
    assert ours == published
    assert {(one["total_bytes"], one["source"]) for _, one in points} == {(2 * 2**30, "zero")}


def test_the_transfer_matrices_have_every_published_tool():
    published = {("rsync", 1), ("cp", 1), ("fpsync", 32), ("cp+parallel", 32), ("fpart+cpio+parallel", 32)}

    points = [one for _, one in planned_points("efs-tutorial-transfer.json")]
    local = [one for _, one in planned_points("local-transfer.json")]

    assert {(one["tool"], one["threads"]) for one in points} == published
    assert {(one["files"], one["file_bytes"]) for one in points} == {(5000, 1_000_000)}
    assert {one["tool"] for one in local} == {tool for tool, _ in published}


def test_the_delete_matrix_deletes_what_the_tutorials_copies_leave_by_its_line_and_by_our_engine():
    copied = [one for _, one in planned_points("efs-tutorial-transfer.json")]

    deleted = [one for _, one in planned_points("efs-tutorial-delete.json")]

    assert {one["tool"] for one in deleted} == {"parallel", "engine"}
    assert {one["files"] for one in deleted} == {sum(one["files"] for one in copied)}
    assert {one["file_bytes"] for one in deleted} == {one["file_bytes"] for one in copied}
    assert {one["directories"] for one in deleted} == {len(copied)}


def test_the_throughput_matrix_has_every_published_instance_and_writes_as_much():
    document = plan(read_matrix((ROOT / "events" / "instance-throughput.json").read_bytes())).to_document()

    assert {cell["fleet"]["instanceType"] for cell in document["cells"]} == {"t2.micro", "m4.large", "c5.2xlarge"}
    assert {one["total_bytes"] for _, one in planned_points("instance-throughput.json")} == {20 * 2**30}
    # A second write would find the burst used up.
    assert {len(cell["steps"]) for cell in document["cells"]} == {1}


def test_the_touch_matrices_have_every_published_row():
    tutorial = {(one["threads"], one["directories"]) for _, one in planned_points("efs-tutorial-touch.json")}
    workshop = {(name, one["threads"], one["directories"]) for name, one in planned_points("efs-zero-byte.json")}

    assert tutorial == {(1, "shared"), (128, "shared"), (32, "own")}
    own = {("efs", threads, "own") for threads in (1, 2, 4, 8, 16, 32)}
    assert workshop == own | {("efs", 1, "shared"), ("ebs", 1, "shared"), ("efs", 32, "shared")}


def test_the_fio_matrix_has_every_published_row():
    points = planned_points("ebs-fio.json")
    document = plan(read_matrix((ROOT / "events" / "ebs-fio.json").read_bytes())).to_document()

    volumes = {"gp3-throughput-1000", "gp3-raid0-throughput-2000", "io2-iops-16000", "gp3-iops-16000"}
    assert {(name, one["options"]["bs"]) for name, one in points} == {
        (volume, size) for volume in volumes for size in ("4k", "8k", "16k", "32k", "64k", "128k", "256k", "1M")
    }
    assert {one["options"]["bs"] for _, one in points if one["options"]["runtime"] == 300} == {"1M"}
    assert {one["options"]["runtime"] for _, one in points if one["options"]["bs"] != "1M"} == {10}
    assert all(one["device"] for _, one in points)
    # The source's own instance, and one that carries both volumes of its RAID-0.
    slower = [each["message"] for each in document["warnings"] if "slower than the 2 volumes" in each["message"]]
    assert {cell["fleet"]["instanceType"] for cell in document["cells"]} == {"r5b.large", "m6i.16xlarge"}
    assert [message.partition(" ")[0] for message in slower] == ["r5b.large"]
    assert all(one["options"]["iodepth"] == one["options"]["numjobs"] == 16 for _, one in points)


def test_the_demo_has_two_storages_two_workloads_and_fleets_of_one_and_four():
    document = plan(read_matrix((ROOT / "events" / "local-demo.json").read_bytes())).to_document()

    cells = {(c["storage"]["type"], c["workload"]["type"], c["fleet"]["count"]) for c in document["cells"]}
    assert cells == {(s, w, n) for s in ("ebs", "efs") for w in ("touch", "dd") for n in (1, 4)}


def test_the_read_matrix_has_every_published_row():
    published = {(access, 7) for access in ("sequential", "random")} | {("sequential", 1), ("sequential", 10)}

    points = planned_points("read-throughput.json")

    storages = {"s3-boto3", "s3-crt", "ebs-300-iops", "ebs-3000-iops"}
    large = [(name, one) for name, one in points if one["record_bytes"] == 2**20]
    of_table = [(name, one) for name, one in points if one["record_bytes"] == 8_192]
    assert {(name, one["access"], one["threads"]) for name, one in of_table} == {
        (name, *row) for name in {*storages, "file-server"} for row in published
    }
    of_server = [one for name, one in of_table if name == "file-server"]
    assert {one["records_per_request"] for one in of_server if one["access"] == "random"} == {100}
    assert {one["page_bytes"] for _, one in of_table if one["access"] == "random"} == {8_192}
    # As the source's commands have it: requests of 1 MiB for the server; 1 MiB from any byte on, by one thread.
    in_requests = [one for one in of_server if one.get("pages_per_request")]
    assert [one["pages_per_request"] * one["page_bytes"] for one in in_requests] == [2**20]
    assert all(one["offsets"] == "bytes" for _, one in points if one["access"] == "random")
    assert {(name, one["records"], one["threads"], one["records_per_request"]) for name, one in large} == {
        ("s3-boto3", 10_000, 1, 1), ("s3-crt", 10_000, 1, 1), ("ebs-300-iops", 100_000, 1, 1),
        ("ebs-3000-iops", 100_000, 1, 1), ("file-server", 100_000, 1, 10),
    }  # fmt: skip
