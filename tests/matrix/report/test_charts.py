"""Charts that storage people look for: the front, latencies, sweeps, what too few samples do not carry."""

import re

import pytest
from support.runs_for_reports import build_run, built_view

from matrix.published.runs import published_run
from matrix.report.charts.cost import costs
from matrix.report.charts.latency import latencies
from matrix.report.charts.medians import scaling, sweeps
from matrix.report.drawing import svg
from matrix.report.page import view_of
from matrix.tables.fleet_rates_table import fleet_rates_table
from matrix.terms.figures import figure
from matrix.terms.quantities import ABSENT

FLEETS = {1: 3000.0, 4: 3600.0}


@pytest.fixture(scope="module")
def view():
    return built_view({"ebs": FLEETS, "efs": FLEETS}, spread=0.0)


def lines(chart):
    """The series of a chart by their names."""
    return {series.name: series for series in chart.series}


def test_the_front_joins_what_nothing_beats_in_cost_and_speed_and_sizes_stand_at_the_points():
    # EFS is slower and costs less than a volume for each instance.
    [chart] = costs(built_view({"ebs": {50: 3000.0, 100: 3010.0}, "efs": {50: 3100.0, 100: 3150.0}}))

    drawn = lines(chart)
    assert {row[0] for row in chart.rows if row[5] == "on any fleet"} == {"EBS gp3", "EFS bursting"}
    assert list(drawn["Pareto front"].x) == sorted(drawn["Pareto front"].x)
    assert list(drawn["EFS bursting"].labels) == ["50", "100"]
    text = svg.drawing(chart).text
    assert re.search(r"EFS bursting, \d+<", text)
    assert re.search(r"EBS gp3, \d+<", text)


def test_a_chart_of_costs_leaves_out_fleets_without_a_tail_and_what_is_known_to_be_wrong():
    [chart] = costs(view_of(published_run("yocto", "p")))

    drawn = lines(chart)
    # Fleets of 1 and 10 have too few values for P90.
    assert list(drawn["EFS bursting"].labels) == ["50", "100", "200"]
    assert [(row[0], row[1]) for row in chart.rows if row[5] == "on any fleet"] == [("EBS gp3", "200 × m6i.4xlarge")]
    assert drawn["EFS provisioned, left out"].is_hollow


def test_charts_draw_no_percentile_that_too_few_samples_carry():
    view = built_view({"ebs": {1: 3000.0, 40: 3600.0}, "efs": {1: 3100.0, 40: 3700.0}})
    few, many = (
        next(each for each in view.entries if (each.storage, each.instances) == ("EBS gp3", count)) for count in (1, 40)
    )

    [curve] = scaling(view)
    dashed = lines(curve)["EBS gp3, P90"]

    assert figure(few.metric, "p90") == ABSENT  # as the tables have it
    assert view.tail(few) is None
    assert view.tail(many) == pytest.approx(many.metric["p90"])
    assert list(dashed.y) == [None, view.tail(many)]
    assert "Dashed: P90, where there are enough samples" in curve.reads


def test_costs_stand_against_medians_where_the_tail_is_not_known(view):
    [chart] = costs(view)

    assert chart.y_title == "P50 of build time (s)"
    assert chart.notes == ["P50 is drawn, as P90 needs 36 independent values, the fleets have 3 to 4."]
    assert sorted(row[2] for row in chart.rows) == sorted(entry.metric["p50"] for entry in view.entries)


def test_latency_stands_in_ms_at_each_percentile(view):
    entry = view.entries[0]
    bins = {"1000000": 90, "5000000": 9, "80000000": 1}
    percentiles = {
        "p50": 1000.0,
        "p90": 1000.0,
        "p99": 5000.0,
        "p99_9": 17_112_760.32,
        "p99_99": None,
        "p100": 17_098_765.0,
    }
    entry.point["latency"] = {
        "read_lat": {
            "unit": "µs", "operations": 100, "bins_ns": bins, **percentiles, "at_least": {"p99_99": 9_000.0},
        }
    }  # fmt: skip
    try:
        [chart] = latencies(view)
    finally:
        del entry.point["latency"]

    assert len(chart.notes) == 1  # of P99.9, which histograms cannot tell from a stall
    [line] = chart.series
    # Ten of a hundred take longer than 1 ms, which is P90: at 1 / 0.1.
    assert dict(zip(line.x, line.y, strict=True))[10.0] == 1.0
    assert (line.x[-1], line.y[-1]) == (200.0, 80.0)
    assert chart.heads[3:9] == ("P50 (ms)", "P90 (ms)", "P99 (ms)", "P99.9 (ms)", "P99.99 (ms)", "max (ms)")
    of_row = chart.rows[0][3:9]
    assert [figure and figure.value for figure in of_row] == [1.0, 1.0, 5.0, 17_112.76032, 9.0, 17_098.765]
    # A bin is known to ± 0.78 %, so no figure has more than three digits; fio's last bin means "at least".
    assert [figure and figure.text for figure in of_row] == ["1.00", "1.00", "5.00", "≥ 17,000", "≥ 9.00", "17,100"]


def test_the_whole_fleet_of_each_repetition_stands_in_a_table(view):
    table = fleet_rates_table(view.entries, lambda each: each.storage)

    assert len(table.rows) == len(view.entries) * 3
    # A build of 3,000 s alone: 1.2 an hour; four of 3,600 s that start at once: 4 an hour until either end.
    rows = {(row[0], row[1], row[4]): row[6:] for row in table.texts()}
    assert rows["EBS gp3", "1 × m6i.large", "1"] == ("3,000", "1.20 builds/h", "3,000", "1.20 builds/h")
    assert rows["EFS bursting", "4 × m6i.large", "3"] == ("3,600", "4.00 builds/h", "3,600", "4.00 builds/h")


def test_a_sweep_of_more_lines_than_anybody_can_follow_is_several_charts_and_leaves_none_out():
    summary, _, _ = build_run({"ebs": {1: 3000.0}, "efs": {1: 3800.0}})
    for cell in summary["cells"]:
        [point] = cell["points"]
        cell["points"] = [
            {**point, "id": f"p{threads}-{block}", "params": {"threads": threads, "block_bytes": block}}
            for threads in (1, 2)
            for block in range(8)
        ]

    charts = [chart for chart in sweeps(view_of(summary)) if "over threads" in chart.title]

    assert [(len(chart.series), chart.title[-8:]) for chart in charts] == [(8, "(1 of 2)"), (8, "(2 of 2)")]
    assert len({series.name for chart in charts for series in chart.series}) == 16
