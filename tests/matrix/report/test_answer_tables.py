"""The tables of an answer: what a result costs and what held it back, alike in all of them."""

import csv
import io
import re

import pytest
from support.runs_for_reports import TWO_STORAGES, build_run

from matrix.answer.costs import Bill
from matrix.answer.decision import decide
from matrix.report.csv_rows import to_csv
from matrix.report.markdown import to_markdown
from matrix.report.page import render


@pytest.fixture
def lower_bounds():
    """A run whose costs lack the price of requests, so that they are lower bounds."""
    summary, results, plan = build_run(TWO_STORAGES)
    decision = decide(summary, results=results, bill=Bill.of(plan, None))
    for question in decision["questions"]:
        for candidate in question["candidates"]:
            candidate["cost"] |= {"missing": "requests", "usd": 12.5}
    return summary | {"decision": decision}


def test_the_page_names_the_bottleneck_of_the_point_that_is_compared():
    summary, results, _ = build_run(TWO_STORAGES)
    for cell in summary["cells"]:
        # Most of its points were held back by processors, but not the one that is compared.
        cell["bottleneck"] |= {"name": "client CPU", "points": {point["id"]: "volume IOPS" for point in cell["points"]}}
    decided = summary | {"decision": decide(summary, results=results)}

    html = render(decided)
    answers = html[html.index('id="answer"') : html.index('id="ceilings"')]

    assert answers.count(">volume IOPS</td>") == 4
    assert ">client CPU</td>" not in answers
    assert {row["bottleneck"] for row in csv.DictReader(io.StringIO(to_csv(summary)))} == {"volume IOPS"}


def test_a_table_in_markdown_says_that_a_cost_is_a_lower_bound(lower_bounds):
    costs = re.findall(r"\| ([^|]*12\.50)[^|]*\|", to_markdown(lower_bounds))

    assert len(costs) == 2
    assert set(costs) <= {"at least 12.50", "at least $12.50"}


def test_the_page_says_that_a_cost_is_a_lower_bound(lower_bounds):
    costs = re.findall(r"<td[^>]*>([^<]*12\.50)</td>", render(lower_bounds))

    assert costs == ["at least 12.50"] * 4  # two comparisons of two storages
