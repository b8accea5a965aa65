"""The message that a run has ended: what it says, and never in more than fifteen lines."""

import pytest
from support.runs_for_reports import build_run

from matrix.answer.comparing import not_compared
from matrix.answer.costs import Bill
from matrix.answer.decision import decide
from matrix.report.message import MAX_LINES, Ended, lines, subject

PAGE = "Report: https://example.org/report.html"


def ended(status="SUCCEEDED", error="", cause="", run="nightly-1"):
    """A run of a stack."""
    return Ended(run, status, error, cause, "--stack mine --region eu-west-1", PAGE)


def receipt_of(*left, is_complete=None):
    """A receipt of two resources, and of those that are left."""
    names = ["i-1", "vol-1", *left]
    resources = [
        {"kind": "instance", "id": name, "gone_at": None if name in left else 5.0, "kept": False} for name in names
    ]
    totals = {"resources": len(names), "gone": 2, "kept": 0, "kept_usd_month": None, "resources_usd": 1.0,
              "metered_usd": 0.25, "cost_usd": 1.25}  # fmt: skip
    sweep = {"at": 1_795_370_400.0, "remaining": len(left)}
    return {"schema": 1, "run": "nightly-1", "at": 1.0, "is_complete": not left if is_complete is None else is_complete,
            "resources": resources, "totals": totals, "sweep": sweep, "unasked": [], "unfinished": [],
            "not_ours": []}  # fmt: skip


def summary_of(receipt, **changes):
    """The summary of a run that compared two storages."""
    summary, results, planned = build_run({"ebs": {50: 3000.0}, "efs": {50: 3800.0}})
    summary["decision"] = decide(summary, results=results, objective=None, bill=Bill.of(planned, None))
    return {**summary, "environment": "aws", "receipt": receipt, **changes}


def test_a_measured_run_is_told_with_answer_cost_receipt_and_link():
    receipt = receipt_of()
    told = lines(ended(), summary_of(receipt), receipt)

    assert told[0] == "Run nightly-1 has ended."
    assert told[1] == "✓ 2 of 2 cells measured · $1.25 · nothing is left running"
    assert "EBS gp3" in told[2]
    assert any(line.startswith("Receipt: 2 resources were created, all gone") for line in told)
    assert told[-2:] == ["All: matrix results nightly-1 --stack mine --region eu-west-1", PAGE]


def test_what_is_left_is_named_three_of_them_and_how_many_more():
    receipt = receipt_of("i-2", "i-3", "i-4", "i-5", "i-6")
    told = lines(ended("FAILED", "SomeCellsFailed"), summary_of(receipt), receipt)

    assert [line for line in told if line.startswith("still there")] == [
        "still there: instance i-2", "still there: instance i-3", "still there: instance i-4",
    ]  # fmt: skip
    assert "and 2 more" in told
    assert "nothing is left running" not in "\n".join(told)


@pytest.mark.parametrize(("status", "how"), [("ABORTED", "was stopped"), ("TIMED_OUT", "ran into its time limit")])
def test_a_run_that_was_never_analysed_is_told_with_its_reason_and_how_to_go_on(status, how):
    told = lines(ended(status, "Interrupted", "by\nhand"), None, receipt_of("i-2"))

    assert told[0] == f"Run nightly-1 {how}."
    assert told[1:3] == ["Interrupted: by hand", "Cost: $1.25"]
    assert "still there: instance i-2" in told
    assert told[-2].endswith("measure the rest: matrix run --resume nightly-1 --stack mine --region eu-west-1")


def test_without_a_receipt_something_may_be_left_and_the_message_says_how_to_look():
    told = lines(ended("ABORTED"), None, None)

    assert "matrix reap --run nightly-1 --stack mine --region eu-west-1" in "\n".join(told)


def test_what_plan_matrix_refuses_has_created_nothing_and_has_no_rest():
    told = lines(ended("FAILED", "InvalidMatrix", "storage[0].sizeGiB: 0 is too small"), None, None)

    assert told[1:3] == ["InvalidMatrix: storage[0].sizeGiB: 0 is too small", "Receipt: nothing was created."]
    assert "--resume" not in "\n".join(told)


def test_no_message_has_more_than_fifteen_lines_and_each_has_its_link():
    left = receipt_of(*(f"i-{number}" for number in range(9)))
    summary = summary_of(left)
    summary["cells"] = [{**cell, "state": "failed", "error": {"name": "X", "message": "y" * 999}}
                        for cell in summary["cells"]]  # fmt: skip

    told = lines(ended("FAILED", "Some", "z" * 9_999), summary, left)

    assert len(told) <= MAX_LINES
    assert told[-1] == PAGE
    assert max(map(len, told)) < 700


def test_a_subject_is_what_sns_takes_of_the_longest_name():
    written = subject(ended(run="n" * 80), summary_of(receipt_of(), status="measured"))

    assert written == f"Storage Matrix: {'n' * 80} mea"
    assert subject(ended("ABORTED"), None) == "Storage Matrix: nightly-1 was stopped"
    assert written.isascii()
    assert len(written) <= 100


def test_what_was_not_measured_is_named_first_of_the_subject_also_of_a_long_name():
    lost = [{"cell": f"c{number}", "points": ["p01"], "reason": "failed: InstancesLost"} for number in range(4)]
    comparison = not_compared("nightly-1", "base", "no cell in common") | {"lost": lost, "verdict": "faster"}
    comparison |= {"points": 2, "faster": 1}

    written = subject(ended(run="n" * 80), summary_of(receipt_of(), status="partly failed"), comparison)
    told = lines(ended(), summary_of(receipt_of()), receipt_of(), comparison)

    assert written.startswith("Storage Matrix: 4 cells not measured: nnn")
    assert told[2:5] == [
        "Not measured: c0 (1 point): failed: InstancesLost",
        "Not measured: c1 (1 point): failed: InstancesLost",
        "and 2 cells not measured",
    ]
