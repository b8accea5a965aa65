"""What `python -m bench.demo` works out of a kept run, and what it calls a request."""

import base64
import json
from collections import Counter

import pytest

from bench import demo


def kept(folder, cell, row, samples, ceilings_s=()):
    """Write a cell of a kept run: its row, and the samples of each of its instances."""
    values = {"SK": f"CELL#{cell}", "cell": cell, **row}
    with (folder / "rows.jsonl").open("a") as rows:
        rows.write(json.dumps({name: {"S": str(value)} for name, value in values.items()}) + "\n")
    for number, taken in enumerate(samples):
        instance = folder / "cells" / cell / "instances" / f"role:i-{number}"
        instance.mkdir(parents=True)
        calibration = [{"points": ["p01"], "duration_s": ceilings_s[number]}] if ceilings_s else []
        calibration.append({"points": ["p02"], "not_done": "no room"})
        (instance / "samples.json").write_text(json.dumps({"samples": taken, "calibration": calibration}))


def sample(step, scheduled_at, started_at, ended_at):
    """One sample of an instance."""
    return {"step": step, "scheduled_at": scheduled_at, "started_at": started_at, "ended_at": ended_at}


def test_a_step_lasts_from_the_common_start_to_the_end_of_the_last_instance(tmp_path):
    quick = [sample(0, 102.0, 102.1, 103.0), sample(1, 104.0, 104.0, 106.0)]
    slow = [sample(0, 102.0, 102.0, 103.5), sample(1, 104.0, 104.0, 105.0)]
    kept(tmp_path, "fleet", {"started_at": 100.0, "state": "launching"}, [])
    kept(tmp_path, "fleet", {"started_at": 100.0, "finished_at": 107.0}, [quick, slow], [0.25, 0.5])
    kept(tmp_path, "alone", {"started_at": 90.0, "finished_at": 99.0}, [[sample(0, None, 91.0, 97.0)]])

    alone, fleet = demo.cells(tmp_path)

    assert (alone.name, alone.instances, alone.measuring_s, alone.around_s, alone.gaps_s) == ("alone", 1, 6.0, 3.0, [])
    assert (fleet.instances, fleet.measuring_s, fleet.around_s, fleet.gaps_s) == (2, 3.5, 3.0, [0.5])
    assert (fleet.before_s, fleet.after_s) == (2.0, 1.0)
    assert sorted(fleet.skews_s) == pytest.approx([0.0, 0.0, 0.0, 0.1])
    assert alone.skews_s == []
    assert (alone.ceilings_s, fleet.ceilings_s) == (0.0, 0.5)


def test_a_fleet_waits_from_its_last_mark_to_the_start_in_the_gate(tmp_path):
    meeting = tmp_path / "cells" / "fleet" / "meet" / "0123abcd"
    (meeting / "gates").mkdir(parents=True)
    (meeting / "gates" / "0002.json").write_text(json.dumps({"step": 2, "start_at": 20.5, "opener": "role:i-1"}))
    (meeting / "ready" / "0002").mkdir(parents=True)
    for name, said_at in (("role:i-0", 20.25), ("role:i-1", 18.0)):
        (meeting / "ready" / "0002" / name).write_text(json.dumps({"at": said_at}))

    assert demo.gate_waits_s(tmp_path) == [0.25]


def test_the_first_launch_is_that_of_the_first_instance_and_no_other_resource(tmp_path):
    times = {"i-2": ("instance", 12.5), "i-1": ("instance", 14.0), "fs-1": ("efs", 11.0)}
    rows = [
        {"SK": {"S": f"RESOURCE#efs#{name}"}, "kind": {"S": kind}, "created_at": {"N": str(created_at)}}
        for name, (kind, created_at) in times.items()
    ]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

    assert demo.first_launch(tmp_path) == 12.5


def test_waits_of_the_whole_command_are_those_before_its_first_step_and_after_its_last(tmp_path):
    kept(tmp_path, "one", {"started_at": 90.0, "finished_at": 99.0}, [[sample(0, None, 91.0, 97.0)]])
    kept(tmp_path, "two", {"started_at": 89.0, "finished_at": 96.0}, [[sample(0, None, 92.0, 95.0)]], [1.6])
    launched = {"SK": {"S": "RESOURCE#ec2#i-0"}, "kind": {"S": "instance"}, "created_at": {"N": "88.0"}}
    with (tmp_path / "rows.jsonl").open("a") as rows:
        rows.write(json.dumps(launched) + "\n")

    shown = {what: figure for what, figure, _ in demo.figures(tmp_path, began=85.0, ended=99.5)}

    assert shown["first step begun after the command"] == "6.0 s"
    assert shown["report kept and command over after the last step"] == "2.5 s"
    # 9 of the 16 s that both cells take together.
    assert shown["share of the cells' time that steps run"] == "56%"
    assert shown["the same with the ceilings of tools"] == "66%"


@pytest.mark.parametrize(
    ("service", "method", "target", "headers", "body", "what"),
    [
        ("s3", "PUT", "/b/runs/r/cells/c/instances/AROAX%3Ai-0/heartbeat", {}, "", "PUT instances/*/heartbeat"),
        ("s3", "GET", "/b/runs/r/cells/c/meet/0123456789abcdef/gates/0001.json", {}, "", "GET meet/*/gates/*.json"),
        ("s3", "GET", "/b?list-type=2&prefix=runs%2Fr%2Fcells%2Fc%2Finstances%2F", {}, "", "LIST instances/"),
        ("ec2", "POST", "/", {}, "Action=DescribeInstances&Version=2016-11-15", "DescribeInstances"),
        ("lambda", "POST", "/2015-03-31/functions/f/invocations", {}, "{}", "lambda POST"),
        (
            "dynamodb", "POST", "/", {"x-amz-target": "DynamoDB_20120810.Query"},
            json.dumps({"ExpressionAttributeValues": {":run": {"S": "RUN#r"}, ":sk": {"S": "RESOURCE#"}}}),
            "Query RESOURCE",
        ),
        (
            "dynamodb", "POST", "/", {"x-amz-target": "DynamoDB_20120810.UpdateItem"},
            json.dumps({"Key": {"PK": {"S": "RUN#r"}, "SK": {"S": "CELL#c"}}}),
            "UpdateItem CELL",
        ),
    ],
)  # fmt: skip
def test_requests_are_counted_by_what_they_ask(tmp_path, service, method, target, headers, body, what):
    asked = {"service": service, "method": method, "target": target, "body": base64.b64encode(body.encode()).decode()}
    by_function = {**asked, "headers": {**headers, "user-agent": "Boto3 exec-env/AWS_Lambda_python3.11"}}
    lines = [json.dumps({**asked, "headers": headers})] * 2 + [json.dumps(by_function)]
    (tmp_path / "record").write_text("\n".join(lines))

    assert demo.requests(tmp_path / "record") == Counter({("command and agents", what): 2, ("functions", what): 1})
