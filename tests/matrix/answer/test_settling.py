"""Steady state in a result: counted over samples, marked, warned about, and a risk of the decision."""

import pytest
from support.runs_for_reports import build_run

from matrix.answer.costs import Bill
from matrix.answer.decision import decide
from matrix.answer.results import cell_result
from matrix.report.csv_rows import to_csv
from matrix.report.markdown import to_markdown
from matrix.report.page import render
from matrix.samples.file import SampleFile
from matrix.terms.names import is_unsteady, marks

CELL = {
    "id": "efs.dd.m6i-x2", "file_system": "efs", "storage": {"type": "efs"}, "workload": {"type": "dd"},
    "fleet": {"instanceType": "m6i.large", "count": 2}, "expected_s": 60.0, "points": [{"id": "p01", "params": {}}],
    "steps": [{"point": "p01", "repetition": 1}, {"point": "p01", "repetition": 2}],
}  # fmt: skip


def steady(from_s, ratio):
    return {"state": "steady", "from_s": from_s, "ratio": ratio, "seconds": 60}


def not_told(state):
    return {"state": state, "from_s": None, "ratio": None, "seconds": 60}


UNSTEADY, NOISY, SHORT = not_told("not steady"), not_told("too noisy"), not_told("too short")
SWINGS = UNSTEADY | {"period_s": 200.0}


def point_of(*told):
    """The point of a cell of two instances, whose samples say this of how steady they were; None: nothing."""
    files = [
        SampleFile.model_validate({
            "run": "r", "cell": CELL["id"], "instance": {"id": f"i-{number}", "type": "m6i.large"},
            "samples": [
                {"point": "p01", "repetition": step + 1, "step": step, "metrics": {"mb_per_s": 100.0},
                 "started_at": 100.0 * step, "ended_at": 100.0 * step + 60, **({"steadiness": said} if said else {})}
                for step, said in enumerate(told[2 * number : 2 * number + 2])
            ],
        }) for number in (0, 1)
    ]  # fmt: skip
    result = cell_result(CELL, files, error=None, actual_s=1.0)
    [point] = result["points"]
    return point, [warning for warning in result["warnings"] if "stead" in warning["code"]]


@pytest.mark.parametrize(
    ("told", "counted", "mark", "warned"),
    [
        ([steady(0, 1.0)] * 4, (4, 4, 0, 1.0), [], {}),
        ([steady(6, 0.98), steady(12, 0.99)] * 2, (4, 4, 9, pytest.approx(0.985)), [], {}),
        ([steady(40, 0.62)] * 4, (4, 4, 40, 0.62), ["steady from 40s on, at 62 %"], {"from_s": 40, "ratio": 0.62}),
        ([UNSTEADY] * 3 + [steady(0, 1.0)], (4, 1, 0, 1.0), ["not steady"], {"unsteady": 3, "judged": 4}),
        ([UNSTEADY, None, None, None], (1, 0, None, None), ["not steady"], {"unsteady": 1, "judged": 1}),
        ([SWINGS] * 4, (4, 0, None, None), ["not steady"], {"period_s": 200.0, "judged": 4}),
        ([NOISY, NOISY, SHORT, SHORT], (0, 0, None, None), [], {}),
        # What nobody can read is no reason to lose the sample.
        ([{"state": "perhaps"}] * 4, None, [], {}),
        ([None] * 4, None, [], {}),
    ],
)
def test_a_point_says_how_many_of_its_samples_were_steady_and_from_when_on(told, counted, mark, warned):
    point, warnings = point_of(*told)

    found = point.get("steadiness")
    assert (found and (found["judged"], found["steady"], found["from_s"], found["ratio"])) == counted
    assert list(marks(point, CELL)) == mark
    assert [{name: warning[name] for name in warned} for warning in warnings] == ([warned] if warned else [])
    assert all((warning["points"], warning["metric"]) == (["p01"], "mb_per_s") for warning in warnings)
    assert point["metrics"]["mb_per_s"]["n"] == 4


def test_few_that_tell_among_many_that_are_too_noisy_make_no_point_unsteady():
    def unsteady(judged, steady, too_noisy):
        return is_unsteady({"judged": judged, "steady": steady, "too_noisy": too_noisy})

    assert unsteady(5, 2, 7)
    assert not unsteady(5, 2, 8)
    assert not unsteady(4, 2, 0)


def test_what_was_not_steady_says_so_in_every_output_and_is_a_risk_of_the_decision():
    summary, results, planned = build_run({"ebs": {50: 3000.0}, "efs": {50: 3800.0}})
    unsteady = {"judged": 50, "steady": 3, "from_s": 1.0, "ratio": 1.0, "too_short": 0, "too_noisy": 0}
    for cell in [*summary["cells"], *results.values()]:
        if cell["storage"]["type"] == "ebs":
            cell["points"][0]["steadiness"] = unsteady
    objective = {"metric": "duration_s", "percentile": 90, "atMost": 4000}
    summary["decision"] = decide(summary, results=results, objective=objective, bill=Bill.of(planned, None))

    [question] = summary["decision"]["questions"]
    risks = {candidate["storage"].split()[0]: candidate["risks"] for candidate in question["candidates"]}
    assert {"code": "not-steady", "period_s": None} in risks["EBS"]
    assert risks["EFS"] == []
    assert "| not steady |" in to_markdown(summary)
    assert "not steady" in to_csv(summary)
    page = render(summary, results=results, plan=planned)
    assert "<td>not steady</td>" in page
    assert "from 1s, 3 of 50" in page
