"""Commands join the launches of a run that no analysis has joined."""

import pytest
from support.relaunched import JOINED, planned, results_of

from cli.messages.errors import UnreadableRun
from cli.target import metrics, unfinished
from cli.target.run_folders import RunFolders
from cli.target.summaries import FoundRun
from matrix.answer import bottleneck
from matrix.answer.launches import join


def left(plan, results, **more):
    """What a run has left, by name."""
    return {"plan.json": plan, **{f"cells/{cell}/result.json": result for cell, result in results.items()}, **more}


class Left(RunFolders):
    """A place with these documents of one run; one that is None is damaged."""

    def __init__(self, documents):
        self.documents = documents

    def document(self, _run, name):
        if name in self.documents and self.documents[name] is None:
            raise UnreadableRun(name, "it is damaged")
        return self.documents.get(name)

    def measured_cells(self, _run):
        return [name.split("/")[1] for name in self.documents if name.startswith("cells/")]


def summary_of(documents, *, is_damaged=False):
    """The summary of what was left, and the run as it is found then."""
    summary = unfinished.summary(Left(documents), "r", None, is_damaged=is_damaged)
    return summary, FoundRun(Left({**documents, "summary.json": summary}), "r")


def test_launches_of_an_interrupted_run_are_joined_with_their_single_values():
    plan = planned()
    results = dict(list(results_of(plan).items())[:2])

    summary, run = summary_of(left(plan, results))

    assert (summary["totals"]["measured"], summary["totals"]["skipped"]) == (2, 1)
    assert run.results()[JOINED]["points"][0]["samples"]["launch"] == [1] * 4 + [2] * 4
    assert run.values["cells"][0]["launches"] == [1, 1, 2, 2]


def test_a_launch_whose_result_is_damaged_is_one_that_was_not_measured():
    plan = planned()
    results = results_of(plan)
    results[plan["cells"][1]["id"]] = None

    summary, _ = summary_of(left(plan, results), is_damaged=True)

    [cell] = summary["cells"]
    assert (cell["state"], summary["totals"]["failed"]) == ("measured", 1)
    missing = {"code": "launch-missing", "launches": [2], "of": 3, "reason": "UnreadableRun: its result cannot be read"}
    assert cell["warnings"][0] == missing


@pytest.mark.parametrize("is_damaged", [True, False])
def test_without_a_plan_the_result_of_all_launches_stands_for_them(is_damaged):
    plan = planned()
    results = join(plan, results_of(plan))

    summary, run = summary_of(left(None, results), is_damaged=is_damaged)

    assert [cell["id"] for cell in summary["cells"]] == [JOINED]
    assert summary["totals"]["cells"] == 3
    assert run.results().keys() == {JOINED}


@pytest.mark.parametrize("is_late", [True, False])
def test_metrics_that_arrive_after_the_analysis_reach_the_result_of_all_launches(monkeypatch, is_late):
    plan = planned()
    results = results_of(plan)
    for result in results.values():
        result["bottleneck"] |= {"name": "not known", "is_provisional": is_late}
        result["cloudwatch"] = {"is_settled": not is_late}
    known = {"name": "throughput of EFS", "is_provisional": False}
    monkeypatch.setattr(
        bottleneck, "refreshed", lambda result, *_: {**result, "bottleneck": {**result["bottleneck"], **known}}
    )
    joined = join(plan, results)[JOINED]
    summary = {"run": "r", "environment": "aws", "cells": [joined]}
    documents = left(plan, {**results, JOINED: joined})

    class Aws:
        document = staticmethod(lambda _run, name: documents.get(name))
        metric_pages = staticmethod(iter)

    [cell] = metrics.summary_with_late_metrics(Aws(), summary)["cells"]

    assert cell["bottleneck"]["name"] == ("throughput of EFS" if is_late else "not known")
    assert cell["bottleneck"]["of_launches"] == {"same": 3, "launches": 3}
