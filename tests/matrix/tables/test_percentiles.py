"""The tables of percentiles: built once, so that page, Markdown, terminal and CSV show the same figures."""

import csv
import io
import re
from html import unescape

import pytest
from rich.console import Console
from support.cli_documents import summary_document

from cli.tables import result_tables
from matrix.report.csv_rows import to_csv
from matrix.report.markdown import to_markdown
from matrix.report.page import render
from matrix.tables import point_figures
from matrix.tables.percentiles import percentile_tables
from matrix.tables.point_figures import PointFigure
from matrix.tables.table import Table, TableCell, TableColumn
from matrix.terms.measured import judged_metrics, measured


def terminal(summary):
    """What `matrix results --all` prints."""
    console = Console(file=io.StringIO(), width=200, markup=False, highlight=False)
    result_tables.show(console, summary)
    return console.file.getvalue()


def latencies(**changes):
    """A run whose points are judged by a latency; each has a rate beside it."""
    summary = summary_document()
    for cell in summary["cells"]:
        for point in cell["points"]:
            [(name, rate)] = point["metrics"].items()
            latency = {**rate, "unit": "µs", "higher_is_better": False, **changes}
            point["metrics"] = {"create_lat_p99_us": latency, name: {**rate, "primary": False}}
    return summary


def test_a_new_figure_is_one_entry_that_all_four_outputs_show(monkeypatch):
    switches = PointFigure(
        TableColumn("Context switches/s", "figure"),
        lambda each, write: TableCell(
            f"{each.point['use']['switches_per_s']:,.0f}", each.point["use"]["switches_per_s"]
        ),
        {"context_switches_per_s": lambda each: each.point["use"]["switches_per_s"]},
        is_of_point=True,
    )
    summary = summary_document()
    for cell in summary["cells"]:
        for point in cell["points"]:
            point["use"] = {"switches_per_s": 7654.25}
    before = to_csv(summary).splitlines()[0]
    monkeypatch.setattr(point_figures, "FIGURES", (*point_figures.FIGURES, switches))

    header, *rows = to_csv(summary).splitlines()
    assert header == f"{before},context_switches_per_s"
    assert all(row.endswith(",7654.25") for row in rows)
    for text in (to_markdown(summary), terminal(summary), render(summary)):
        assert "Context switches/s" in text
        assert "7,654" in text


def test_the_unit_of_figures_stands_in_the_title():
    summary = latencies(p50=4425.4, p100=17_112_760.32)

    [table] = percentile_tables(judged_metrics(summary["cells"]), lambda each: each.cell["file_system"])

    assert {"4,430", "≥ 17,000,000"} <= {cell.text for cell in table.rows[0].cells}
    assert "(µs)" in table.title


def test_a_point_stands_only_in_the_table_of_the_metric_that_it_is_judged_by():
    summary = latencies()
    point = summary["cells"][1]["points"][0]
    point["metrics"] = {name: {**metric, "primary": name == "files_per_s"} for name, metric in point["metrics"].items()}

    tables = list(percentile_tables(judged_metrics(summary["cells"]), lambda each: each.cell["id"]))

    count = sum(len(cell["points"]) for cell in summary["cells"])
    assert [len(table.rows) for table in tables] == [count - 1, 1]


@pytest.mark.parametrize(
    "draw", [terminal, to_markdown, lambda summary: unescape(re.sub("<[^>]*>", "", render(summary)))]
)
def test_tables_come_in_reading_order_whatever_order_cells_ran_in(draw):
    summary = summary_document()
    [first, *_] = summary["cells"]
    cells = [
        {
            **cell,
            "id": name,
            "fleet": {"instanceType": "m6i.large", "count": count},
            "workload": {**cell["workload"], "type": type_},
        }
        for cell, name, count, type_ in ((first, "a", 9, "read"), (first, "b", 1, "touch"))
    ]

    drawn = draw({**summary, "cells": cells})

    assert drawn.index("touch: ") < drawn.index("read: ")


@pytest.mark.parametrize("draw", [terminal, to_markdown, render])
def test_below_figures_that_are_known_to_be_wrong_stands_why(draw):
    summary = summary_document()
    [cell, *_] = summary["cells"]
    cell["suspect"] = "the page cache answered part of it"

    assert "Left out: EBS gp3, 1 × m6i.large: the page cache answered part of it." in " ".join(draw(summary).split())


def test_a_row_of_csv_is_a_metric_and_one_of_them_is_judged():
    summary = latencies()

    rows = list(csv.DictReader(io.StringIO(to_csv(summary))))

    assert [(row["cell"], row["point"], row["metric"]) for row in rows] == [
        (each.cell["id"], each.point["id"], each.name) for each in measured(summary["cells"])
    ]
    assert {each.name for each in measured(summary["cells"]) if each.is_judged} == {"create_lat_p99_us"}


def test_a_text_that_all_rows_have_stands_in_the_title_once():
    heads, rows = ("Storage", "Workload", "Marks", "Why"), [("EBS", "yocto", "–", "a"), ("EFS", "yocto", "–", "b")]

    table = Table.of("Failed", heads, rows).without_constants()

    assert (table.title, [column.head for column in table.columns]) == (
        "Failed, workload yocto",
        ["Storage", "Marks", "Why"],
    )
    assert list(table.texts("Storage", "Why")) == [("EBS", "a"), ("EFS", "b")]
    assert Table.of("Failed", heads, rows[:1]).without_constants().title == "Failed"
