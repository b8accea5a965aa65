"""How each figure is read from what was measured, for tables and for summary.csv."""

from functools import partial

import pytest
from support.cli_documents import summary_document

from matrix.tables.point_figures import FIGURES, csv_values
from matrix.terms.measured import measured
from matrix.terms.quantities import quantity

STEADINESS = {"judged": 6, "steady": 5, "from_s": 4.0, "ratio": 0.62, "too_short": 1, "too_noisy": 2}


@pytest.fixture
def each():
    """A metric of a point with everything that a figure reads."""
    [first, *_] = measured(summary_document()["cells"])
    first.point["steadiness"] = STEADINESS
    first.metric.update(
        n=1999, expected_n=2000, independent_n=1234, carried={"p75": True, "p90": False, "p98": False},
        intervals={"p50": {"low": 290.0, "high": 320.0}}, scope="not replicated", outliers={"count": 7, "listed": []},
        spread={"between_launches_cv": None, "between_instances_cv": 0.051, "between_repetitions_cv": 0.002},
    )  # fmt: skip
    return first


@pytest.mark.parametrize(("value", "text"), [(0.0124, "0.0124"), (0.000001, "0.000001"), (4.1e-7, "4.1e-07")])
def test_a_figure_above_zero_is_not_written_as_zero(value, text):
    assert quantity(value, "MB/s") == f"{text} MB/s"


def test_each_figure_is_read_from_its_place(each):
    cells = {figure.column.head: figure.cell(each, partial(quantity, unit=each.unit)) for figure in FIGURES}

    assert {head: (cell.text, cell.value) for head, cell in cells.items()} == {
        "P50, 95 % interval": ("290 files/s – 320 files/s, not replicated", None),
        "n": ("1999/2000", None),
        "Steady": ("from 4s, 5 of 6", None),
        "n, independent": ("1,234", 1234),
        "Between launches": ("–", None),
        "Between instances": ("5.1 %", 0.051),
        "Between repetitions": ("0.2 %", 0.002),
        "Far off": ("7", 7),
    }
    assert [head for head, cell in cells.items() if cell.tone == "bad"] == ["n"]


def test_a_row_of_csv_has_the_exact_numbers(each):
    values = csv_values(each)

    assert (values["p50"], values["p50_low"], values["p50_high"]) == (305.0, 290.0, 320.0)
    assert (values["n"], values["expected_n"], values["independent_n"]) == (1999, 2000, 1234)
    assert values["not_carried"] == "p90 p98"
    assert (values["steady_from_s"], values["too_noisy_samples"]) == (4.0, 2)


def test_a_metric_without_a_point_has_no_figures_of_a_point(each):
    of_point = {"judged_samples", "steady_samples", "steady_from_s", "steady_ratio", "too_short_samples",
                "too_noisy_samples"}  # fmt: skip

    assert csv_values(each).keys() - csv_values(each, are_of_metric=True).keys() == of_point
