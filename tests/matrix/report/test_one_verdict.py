"""Every output names the same storage to take: JSON, headline, tables, Markdown, page and the grid of `--all`."""

import io
import re

import numpy as np
import pytest
from rich.console import Console
from support.runs_for_reports import build_run

from cli.tables import answer_tables
from matrix.answer.costs import Bill
from matrix.answer.decision import decide
from matrix.report.markdown import to_markdown
from matrix.report.page import render
from matrix.tables.best_table import best_table
from matrix.tables.ranking_table import ranking_table
from matrix.terms.verdicts import winner
from matrix.text.headlines import headline

SIZES = (1, 3, 6, 12)
STATES = ("shown", "open", "expected", "nothing")


def drawn(seed):
    """A run whose storages are far apart, near each other, or measured at some sizes only."""
    rng = np.random.default_rng(seed)
    ebs = {size: 3000.0 for size in SIZES if size != 6 or seed % 2}
    efs = {size: 3000.0 * rng.choice([0.8, 1.0, 1.02, 1.3]) for size in SIZES}
    summary, results, planned = build_run({"ebs": ebs, "efs": efs}, spread=rng.choice([0.001, 0.05]))
    summary["warnings"] = []
    summary["decision"] = decide(summary, results=results, bill=Bill.of(planned, None))
    return summary, results, planned


def short(candidate):
    return candidate["storage"].partition(" (")[0]


@pytest.mark.parametrize("seed", range(6))
def test_all_outputs_name_the_storage_of_the_same_verdict(seed):
    summary, results, planned = drawn(seed)
    decision = summary["decision"]
    stars = {
        question["fleet"]: short(winner(question)) for question in decision["questions"] if question["recommended"]
    }
    assert {question["state"] for question in decision["questions"]} <= set(STATES)
    for question in decision["questions"]:
        assert bool(question["recommended"]) == (question["state"] == "shown")
        # The ranking of one comparison.
        table = ranking_table(summary, decision, question, short)
        marked = [row.cells[0].text.removeprefix("★ ") for row in table.rows if row.cells[0].text.startswith("★")]
        assert marked == [name for fleet, name in stars.items() if fleet == question["fleet"]]

    # The best of each comparison.
    best = {
        row.cells[0].text: row.cells[1].text for row in best_table(summary, decision, decision["questions"], short).rows
    }
    assert {fleet: name.removeprefix("★ ") for fleet, name in best.items() if name.startswith("★")} == stars
    # The page's matrix, and its tables.
    page = render(summary, results=results, plan=planned)
    matrix = page.partition('<section id="matrix">')[2].partition("</section>")[0]
    assert matrix.count("★ take</span>") + matrix.count("★ fastest</span>") == len(stars)
    # Markdown, and the grid of `--all`, in which a star stands for ★.
    assert to_markdown(summary).count("★ ") == len(stars)
    out = io.StringIO()
    answer_tables.show_answer(Console(file=out, width=200), summary)
    grid = [line for line in out.getvalue().splitlines() if line.startswith(("EBS gp3 ", "EFS bursting "))]
    assert sum(line.count(" *") for line in grid) == len(stars)
    # The headline calls nothing the best value that has no ★.
    line = headline(decision, short)
    sizes = {question["instances"] for question in decision["questions"] if question["recommended"]}
    assert ("Best value" in line) == bool(stars)
    told = re.search(r"Best value([^.]*)\.", line)
    if told and "comparisons" not in told.group(1):
        assert {int(size) for size in re.findall(r"\b(\d+)\b(?! %)", told.group(1).replace("gp3", ""))} == sizes
    for state, words in (("open", "No winner is shown"), ("expected", "Expected fastest, not measured")):
        assert (words in line) == any(question["state"] == state for question in decision["questions"])
