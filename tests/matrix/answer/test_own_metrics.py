"""A command's own metric in results, decisions, comparisons and CSV."""

import json

import pytest
from support.matrices import COMMAND, EBS, EFS, TPS, matrix

from matrix.answer.decision import decide
from matrix.answer.results import cell_result, run_summary
from matrix.plan.planning import plan
from matrix.report.csv_rows import to_csv
from matrix.report.page import render
from matrix.samples.file import read_samples
from matrix.terms.metrics import own_metrics

HITS = {"unit": "%", "better": "higher", "jsonField": "hits"}
LATE = {"unit": "ms", "better": "lower", "jsonField": "late"}
COUNT = 40


def uploaded(cell, middle):
    """What the instances of a cell upload whose own metrics are near `middle`."""
    own = own_metrics(cell["workload"])
    for number in range(COUNT):
        samples = [
            {
                "point": step["point"], "repetition": step["repetition"], "step": index, "started_at": 10.0 * index,
                "ended_at": 10.0 * index + 5, "work": {"runs": 1}, "tool": {"name": "bash"},
                "metrics": {"duration_s": 5.0, **dict.fromkeys(own, middle * (1 + number / 1000 + index / 500))},
            }
            for index, step in enumerate(cell["steps"])
        ]  # fmt: skip
        identity = {"id": f"i-{number}", "type": "m6i.large"}
        document = {"run": "r", "cell": cell["id"], "instance": identity, "samples": samples}
        claimed = [{"points": [point["id"] for point in cell["points"]], "metric": "own", "value": middle}]
        document |= {"agent": {}, "host": {}, "mount": {}, "calibration": claimed}
        yield read_samples(json.dumps(document).encode(), instance=identity["id"], cell=cell["id"], own=own)


def run(middle, metric=TPS, primary="own", objective=None):
    """A run of a command on EBS and EFS; `middle` says what its own metric was, by type of storage."""
    workload = COMMAND | {"metrics": {"own": metric}, "primaryMetric": primary}
    fleet = [{"instanceType": "m6i.large", "count": COUNT}]
    planned = plan(matrix(storage=[EBS, EFS], workload=[workload], fleet=fleet)).to_document()
    results = {
        cell["id"]: cell_result(cell, list(uploaded(cell, middle[cell["storage"]["type"]])), error=None, actual_s=60.0)
        for cell in planned["cells"]
    }
    summary = run_summary(
        run="r", plan=planned, environment="aws", started_at=0.0, finished_at=100.0, results=results, left_behind=[]
    )
    return summary | {"decision": decide(summary, results=results, objective=objective)}, results, planned


def test_it_has_unit_direction_percentiles_and_an_interval():
    _, results, _ = run({"ebs": 100.0, "efs": 200.0})
    [first, _] = results.values()
    [point] = first["points"]

    metric = point["metrics"]["own"]
    assert (metric["unit"], metric["higher_is_better"], metric["primary"], metric["n"]) == ("tx/s", True, True, 120)
    # 40 instances from 1 to 1.039, and 0, 0.002 and 0.004 more in the repetitions
    assert metric["p50"] == pytest.approx((100 if "ebs" in first["id"] else 200) * 1.0215, rel=1e-3)
    assert metric["intervals"]["p50"]["low"] <= metric["p50"] <= metric["intervals"]["p50"]["high"]
    assert point["metrics"]["duration_s"]["primary"] is False
    assert "tool_ceiling" not in point  # of any command nobody calibrates one, whatever an instance claims


@pytest.mark.parametrize(("metric", "limit", "best"), [(TPS, "atLeast", "efs"), (LATE, "atMost", "ebs")])
def test_a_matrix_may_optimise_for_it_whichever_way_is_better(metric, limit, best):
    objective = {"metric": "own", "percentile": 90, limit: 150.0}

    summary, _, _ = run({"ebs": 100.0, "efs": 200.0}, metric, "duration_s", objective)

    [question] = summary["decision"]["questions"]
    assert (question["workload"], question["label"], question["unit"]) == ("command bench", "jobs 4", metric["unit"])
    assert question["recommended"].startswith(best)


def test_csv_and_report_have_it_with_its_unit():
    summary, results, planned = run({"ebs": 90.0, "efs": 95.0}, HITS)

    rows = [row for row in to_csv(summary).splitlines() if ",own,%,True,True," in row]
    page = render(summary, results=results, plan=planned)

    assert len(rows) == 2
    assert "own (%)" in page
    assert "% of the whole fleet" not in page  # nobody knows whether such figures add up
