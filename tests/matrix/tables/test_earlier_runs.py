"""What a run has of earlier runs."""

import io

import pytest
from rich.console import Console
from support.cli_documents import summary_document

from cli.tables import result_tables
from matrix.report.markdown import to_markdown
from matrix.report.page import render
from matrix.tables.earlier_runs import earlier_runs_table


def terminal(summary):
    console = Console(file=io.StringIO(), width=200)
    result_tables.show(console, summary)
    return console.file.getvalue()


OUTPUTS = [terminal, to_markdown, render]


@pytest.fixture
def resumed():
    """The first cell is an earlier run's, the second was measured again."""
    summary = summary_document()
    first, second = summary["cells"]
    first["taken_from"] = {"run": "builds-1", "cell": first["id"]}
    second["attempts"] = [{"instances": 3, "prefix": "runs/builds-1/cells/x"}]
    return summary


@pytest.mark.parametrize("draw", OUTPUTS)
def test_every_output_says_which_results_are_an_earlier_runs(draw, resumed):
    assert "result of run `builds-1`" in draw(resumed)


@pytest.mark.parametrize("draw", OUTPUTS)
def test_a_run_that_began_anew_says_nothing_of_earlier_ones(draw):
    assert "From earlier runs" not in draw(summary_document())


def test_what_was_taken_stands_before_what_was_left(resumed):
    first, second = (cell["id"] for cell in resumed["cells"])

    assert [*earlier_runs_table(resumed).texts()] == [
        (first, "result of run `builds-1`"),
        (second, "3 instances uploaded samples to `runs/builds-1/cells/x`; not used here"),
    ]
