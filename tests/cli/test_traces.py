"""What a function wrote in a span of time: from the local cloud's files, or from the log group of all functions."""

import json
from datetime import UTC, datetime
from types import SimpleNamespace

from cli.target.traces import Traces

FUNCTION = "arn:aws:lambda:eu-central-1:123456789012:function:storage-matrix-PollFleet-1A"
OWN, FOREIGN = (
    f"2026/11/22/{name}[$LATEST]0f3a" for name in ("storage-matrix-PollFleet-1A", "storage-matrix-PlanMatrix-1A")
)
AT = datetime(2026, 11, 22, 12, tzinfo=UTC).timestamp()


def line(second, message):
    """A line as Powertools writes it."""
    at = datetime.fromtimestamp(AT + second, UTC)
    return json.dumps({"timestamp": f"{at:%Y-%m-%d %H:%M:%S},{at.microsecond // 1000:03d}+0000", "message": message})


def test_locally_the_lines_of_that_time_are_read_without_control_characters(workdir):
    (workdir / "logs").mkdir()
    lines = [line(-60, "before"), "START RequestId: 1", line(1, "within"), line(2, "\x9b2J"), line(60, "after")]
    lines.insert(2, json.dumps({"timestamp": "2026-11-22T12:00:00Z", "level": "ERROR", "message": "an error"}))
    (workdir / "logs" / "storage-matrix-PollFleet-1A.log").write_text("\n".join(lines))
    traces = Traces(SimpleNamespace(environment="local"))

    written = traces.log_lines(FUNCTION, AT + 0.4, AT + 3)

    assert [json.loads(each)["message"] for each in written["lines"][:2]] == ["an error", "within"]
    assert len(written["lines"]) == 3
    assert "\x9b" not in "".join(written["lines"])
    assert traces.log_lines("arn:aws:lambda:x:1:function:../../etc/passwd", AT, AT + 3)["lines"] == []


def test_on_aws_the_group_is_the_one_of_all_functions_of_the_stack():
    asked = []

    def filtered(**query):
        asked.append(query)
        return [
            {"events": [{"message": "first\n", "logStreamName": OWN}]},
            {"events": [{"message": "foreign", "logStreamName": FOREIGN}]},
            {"events": [{"message": "second", "logStreamName": OWN}]},
        ]

    clients = {
        "logs": SimpleNamespace(get_paginator=lambda name: SimpleNamespace(paginate=filtered)),
    }
    outputs = {"FunctionLogGroupName": "own"}
    traces = Traces(SimpleNamespace(environment="aws", client=clients.get, outputs=outputs))

    assert traces.log_lines(FUNCTION, AT, AT + 3) == {"group": "own", "lines": ["first", "second"]}
    assert asked[0]["logGroupName"] == "own"
    assert (asked[0]["startTime"], asked[0]["endTime"]) == (int(AT * 1000), int((AT + 8) * 1000))
