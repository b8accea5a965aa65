"""Rates over time: read from what an agent uploads, and drawn in the report."""

import gzip
import json
from itertools import pairwise

import pytest
from support.runs_for_reports import build_run

from matrix.answer.results import without_samples
from matrix.report.charts import sections
from matrix.report.page import view_of
from matrix.samples.rates import MAX_STRETCHES, read_curve
from matrix.terms.errors import InvalidSamples


def series(seconds, counted, carrier="network_sent_bytes"):
    """A series file as an agent writes it."""
    document = {"schema": 1, "carrier": carrier, "seconds": seconds, "counted": {carrier: counted}}
    return json.dumps(document).encode()


def test_a_rate_is_what_was_counted_since_the_reading_before():
    curve = read_curve(series([0, 1, 2, 4], [0, 120e6, 127e6, 141e6]))

    assert curve == {"counter": "network_sent_bytes", "seconds": [1, 2, 4], "mb_per_s": [120, 7, 7]}


def test_a_series_may_be_compressed():
    assert read_curve(gzip.compress(series([0, 2], [0, 3e6])))["mb_per_s"] == [1.5]


def test_a_counter_that_went_back_is_not_a_negative_rate():
    assert read_curve(series([0, 1, 2], [0, 5e6, 4e6]))["mb_per_s"] == [5, 0]


def test_a_long_series_is_thinned_without_losing_a_byte():
    seconds = [float(n) for n in range(10_001)]
    curve = read_curve(series(seconds, [n * n * 1.0 for n in range(10_001)]))

    assert len(curve["seconds"]) == MAX_STRETCHES
    ends = [0.0, *curve["seconds"]]
    total = sum(
        rate * (after - before) for rate, (before, after) in zip(curve["mb_per_s"], pairwise(ends), strict=True)
    )
    assert total * 1e6 == pytest.approx(1e8, rel=1e-3)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"[]",
        b"\x1f\x8b nonsense",
        series([0], [0]),
        series([0, 1], [0]),
        series([0, 1], [0, -1]),
        series([1, 0], [0, 1]),
        series([0, 0], [0, 1]),
        series([0, 1], [0, 1]).replace(b'"carrier": "network', b'"carrier": "other'),
        series([0, 1], [0, 1e99]),
        series([0, 1], [0, 1]).replace(b"1]", b"NaN]"),
        series([0, 1], [0, 1], carrier="../../x"),
    ],
)
def test_what_is_not_a_series_is_refused(text):
    with pytest.raises(InvalidSamples, match="a series cannot be read"):
        read_curve(text)


def test_the_report_draws_each_watched_instance_once_and_the_summary_stays_small():
    summary, results, planned = build_run({"efs": {1: 600.0}}, repetitions=2)
    [result] = results.values()
    [point] = result["points"]
    point["rates"] = [
        {"instance": "i-0000", "repetition": number, "counter": "network_sent_bytes", "seconds": [1, 2, 3],
         "mb_per_s": [120, 7, 7]}
        for number in (1, 2)
    ]  # fmt: skip

    drawn = [chart for one in sections(view_of(summary, results=results, plan=planned)) for chart in one.charts]

    [chart] = [one for one in drawn if one.id.startswith("curve")]
    assert [list(one.y) for one in chart.series] == [[120, 7, 7], [120, 7, 7]]
    assert "sent over the network" in chart.reads
    assert len(chart.rows) == 2  # one for each repetition, without levels: builds have none
    assert chart.rows[0][-1] is None
    assert "rates" not in without_samples(point)
