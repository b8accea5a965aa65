"""One directory for all workers, beside one for each: said where both were measured."""

import io

import pytest
from rich.console import Console
from support.cli_documents import summary_document

from cli.tables.rich_tables import show
from matrix.report import page
from matrix.report.markdown import to_markdown
from matrix.tables.directories_table import WHY, directories_table, shared_directories

PARAMS = {"files": 1024, "threads": 32, "tool": "parallel", "sync": "none"}


def point(directories, p50, low, high, **params):
    metric = {"unit": "files/s", "higher_is_better": True, "is_primary": True, "n": 5, "expected": 5, "p50": p50}
    metric |= dict.fromkeys(("p0", "p25", "p75", "p90", "p95", "p99", "p100", "mean"), p50)
    return {"id": "p01", "params": {**PARAMS, "directories": directories, **params},
            "metrics": {"files_per_s": metric | {"intervals": {"p50": {"low": low, "high": high}}}}}  # fmt: skip


def measured(*points):
    """A summary whose cells have one of these points each, and else differ in the workload's name only."""
    summary = summary_document()
    cells = []
    for number, of_cell in enumerate(points):
        cell = summary["cells"][0] | {"id": f"c{number}", "workload": {"type": "touch", "name": f"w{number}"}}
        cells.append(cell | {"points": [of_cell]})
    return summary | {"cells": cells}


def test_what_one_directory_costs_is_said_on_the_page_in_markdown_and_in_the_terminal():
    summary = measured(point("shared", 100.0, 95.0, 105.0), point("own", 400.0, 380.0, 420.0))

    [shared] = shared_directories(summary)
    assert (
        shared.sentence
        == f"32 threads in one directory: 0.250 of the speed of one for each (100 and 400 files/s): {WHY}"
    )
    assert f"| `c0` | {shared.sentence} |" in to_markdown(summary)
    assert shared.sentence in page.render(summary)
    console = Console(file=io.StringIO(), width=200)
    show(console, directories_table(summary))
    assert shared.sentence in " ".join(console.file.getvalue().split())


@pytest.mark.parametrize(
    ("shared", "own", "words"),
    [
        ((390.0, 370.0, 410.0), (400.0, 380.0, 420.0), "no difference that the intervals show"),
        ((100.0, None, None), (400.0, 380.0, 420.0), "there are no intervals that would say whether this is chance"),
        ((500.0, 480.0, 520.0), (400.0, 380.0, 420.0), "it is faster"),
    ],
)
def test_why_is_said_only_where_the_intervals_are_apart(shared, own, words):
    [pair] = shared_directories(measured(point("shared", *shared), point("own", *own)))

    assert pair.sentence.endswith(words)


def test_what_differs_in_more_or_has_one_worker_is_not_compared():
    own = point("own", 400.0, 380.0, 420.0)
    alone = {"threads": 1}

    assert list(shared_directories(measured(point("shared", 1.0, 1.0, 1.0, files=2048), own))) == []
    assert (
        list(shared_directories(measured(point("shared", 1.0, 1.0, 1.0, **alone), point("own", 4, 4, 4, **alone))))
        == []
    )
    assert list(shared_directories(measured(own))) == []


def test_of_durations_the_longer_one_is_the_slower_one():
    shared, own = point("shared", 6.14, 6.0, 6.2), point("own", 0.658, 0.6, 0.7)
    for each in (shared, own):
        each["metrics"]["files_per_s"] |= {"higher_is_better": False}

    [pair] = shared_directories(measured(shared, own))

    assert pair.speed == pytest.approx(0.107, abs=0.001)
    assert pair.sentence.endswith(WHY)
