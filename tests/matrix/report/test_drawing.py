"""Charts as SVG: values stand where they should, ticks are round, and what has no place leaves a gap."""

import re
from xml.etree import ElementTree

import pytest

from matrix.report.charts.chart import Chart, Series
from matrix.report.drawing import svg
from matrix.report.drawing.axes import Axis, y_axis
from matrix.report.drawing.points import points


def chart(*series, **facts):
    """A chart of these series."""
    return Chart(**{"id": "c", "title": "t", "reads": "r", "x_title": "x", "y_title": "y", "series": series, **facts})


def texts(axis):
    """The texts of an axis's ticks."""
    return [text for _, text in axis.ticks]


def test_an_axis_from_zero_has_round_ticks_and_shares_of_its_length():
    axis = y_axis(chart(Series("a", [1, 2], [40.0, 100.0]), is_from_zero=True))

    assert texts(axis) == ["0", "20", "40", "60", "80", "100"]
    # 4 % of the values' range is free above the highest.
    assert axis.share(0) == 0
    assert axis.share(52.0) == pytest.approx(0.5)
    assert axis.share(104.0) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([3.0, 3000.0], ["10", "100", "1,000"]),
        ([3.0, 300.0], ["5", "10", "20", "50", "100", "200"]),
        ([1.2, 6.0], ["1.5", "2", "3", "5"]),
        ([2e6, 3e9], ["10M", "100M", "1G"]),
        ([2e-5, 6e-3], ["0.00002", "0.00005", "0.0001", "0.0002", "0.0005", "0.001", "0.002", "0.005"]),
        ([124.0, 136.0], ["120", "125", "130", "135", "140"]),
    ],
)
def test_a_logarithmic_axis_has_decades_or_more_where_it_is_short(values, expected):
    assert texts(y_axis(chart(Series("a", [1, 2], values), is_y_log=True))) == expected


def test_on_a_logarithmic_axis_the_middle_is_the_geometric_mean_and_zero_has_no_place():
    axis = Axis(1.0, 100.0, is_log=True, ticks=())

    assert axis.share(10.0) == pytest.approx(0.5)
    assert [axis.share(value) for value in (0.0, -1.0, None, float("nan"))] == [None] * 4


@pytest.mark.parametrize(
    ("seconds", "facts", "unit", "expected"),
    [
        ([500.0, 590.0], {}, "s", ["500", "520", "540", "560", "580"]),
        ([5900.0, 14500.0], {"is_from_zero": True}, "min", ["0", "60", "120", "180", "240"]),
        ([6000.0, 6002.0], {}, "s", ["6,000", "6,000.5", "6,001", "6,001.5", "6,002"]),
        ([3300.0, 3900.0], {}, "min", ["56", "58", "60", "62", "64"]),
        ([600.0, 6e6], {"is_y_log": True}, "min", ["10", "100", "1,000", "10,000", "100,000"]),
    ],
)  # fmt: skip
def test_long_durations_have_ticks_in_minutes(seconds, facts, unit, expected):
    axis = y_axis(chart(Series("a", [1, 2], seconds), is_in_seconds=True, **facts))

    assert texts(axis) == expected
    assert axis.title("Build time (s)") == f"Build time ({unit})"


def test_an_interval_that_ends_far_above_all_values_is_cut_and_has_no_end_across():
    wide = chart(Series("a", [1, 2], [100.0, 128.0], low=[90.0, 27.0], high=[110.0, 601.0]))

    assert y_axis(wide).high == pytest.approx(256, rel=0.1)
    [path] = re.findall(r'd="(M[^"]*h10[^"]*)"', str(svg.drawing(wide)))
    # Two ends of the first interval, one of the second.
    assert path.count("h10") == 3
    assert y_axis(chart(Series("a", [1], [100.0], low=[50.0], high=[180.0]))).high == pytest.approx(180, rel=0.1)


def paths(drawn, class_):
    """The paths of a drawing that have a class."""
    return re.findall(rf'<path d="([^"]*)" class="{class_}"', drawn.text)


def test_a_missing_value_is_a_gap_in_the_line_and_no_mark():
    drawn = svg.drawing(chart(Series("a", [0, 1, 2, 3], [1.0, None, 2.0, 3.0])))

    [line] = paths(drawn, "line")
    assert re.sub(r"[\d. ]+", "", line) == "MML"
    assert drawn.text.count("<use") == 3


def test_a_file_is_xml_of_its_own_with_title_and_legend():
    shown = Series("<shown> & seen", [1, 2], [1.0, 2.0])

    root = ElementTree.fromstring(svg.document(chart(shown, title="A <title>"), "r1, emulated, not AWS"))

    words = ["".join(text.itertext()) for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "A <title>" in words
    assert "r1, emulated, not AWS" in words
    assert "<shown> & seen" in words
    assert root.get("viewBox") == f"0 0 {root.get('width')} {root.get('height')}"


def test_figures_behind_a_drawing_are_exact():
    series = Series("a", [1.25, 3.0], [2.0, 1.0], "dots", hover=["1.25", "3"])
    figures = points(chart(series))

    [columns] = figures["series"]

    assert columns["x"] == [1.25, 3.0]
    assert columns["y"] == [2, 1]
    assert columns["words"] == ["1.25", "3"]
    # From 1.25 to 3.0 and from 1 to 2, with 4 % of room at both ends.
    assert figures["axes"] == [[1.18, 3.07, 0], [0.96, 2.04, 0]]
