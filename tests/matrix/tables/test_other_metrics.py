"""The table of what was measured beside the metrics that points are judged by."""

from support.cli_documents import summary_document

from matrix.report.page import render
from matrix.tables.percentiles import other_metrics_table
from matrix.terms.measured import measured


def test_a_metric_that_a_point_is_judged_by_does_not_stand_among_the_others():
    summary = summary_document()
    for cell in summary["cells"]:
        for point in cell["points"]:
            for metric in point["metrics"].values():
                # As in results of before metrics said so: the first one judges.
                metric.pop("primary", None)

    assert "All other metrics" not in render(summary)


def test_a_number_has_three_digits_a_count_all_and_what_is_unknown_a_dash():
    [each, *_] = measured(summary_document()["cells"])
    each.metric.update(p0=-1234.5, p50=12345, p75=None, p90=0.12345)

    [row] = other_metrics_table([each]).rows

    assert [cell.text for cell in row.cells][4:8] == ["−1,234", "12,345", "–", "0.123"]
