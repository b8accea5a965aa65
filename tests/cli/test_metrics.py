"""Metrics that CloudWatch published after a run was analysed are read again, with the user's own rights."""

import time
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest
from support.refusals import refusal

from cli.target import metrics
from matrix.answer import bottleneck
from matrix.answer.results import cell_result
from matrix.samples import cloudwatch
from matrix.samples.file import SampleFile

BEGUN = 1_763_683_200.0


def result():
    """A cell of one gp3 volume whose metrics were read before there were any."""
    cell = {
        "id": "c", "file_system": "fs", "storage": {"type": "ebs", "volumeType": "gp3", "sizeGiB": 8},
        "workload": {"type": "fio"}, "fleet": {"instanceType": "m6i.large", "count": 1}, "expected_s": 60.0,
        "points": [{"id": "p01", "params": {}}], "steps": [{"point": "p01", "repetition": 1}],
    }  # fmt: skip
    sample = {"point": "p01", "repetition": 1, "step": 0, "metrics": {"iops": 9.0}, "started_at": BEGUN,
              "ended_at": BEGUN + 60}  # fmt: skip
    file = SampleFile.model_validate({"run": "r", "cell": "c", "instance": {"id": "i-1", "type": "m6i.large"},
                                      "samples": [sample]})  # fmt: skip
    made = cell_result(cell, [file], error=None, actual_s=60.0)
    about = cloudwatch.resources(cell["storage"], "m6i.large", ["i-1"], {"vol-1": "i-1"}, [])
    made["cloudwatch"] = cloudwatch.document(about, (BEGUN, BEGUN + 60), [], read_at=BEGUN + 61)
    return made | {"bottleneck": bottleneck.find(made, "aws")}


def summary_of(found, environment="aws"):
    """The summary of a run with this cell alone."""
    cell = {name: found[name] for name in ("id", "storage", "workload", "fleet", "bottleneck")}
    return {"run": "r", "environment": environment, "cells": [cell]}


class Aws:
    """A service whose CloudWatch says that the volume was held back, or refuses."""

    def __init__(self, found, refusal=None):
        self.document = lambda _run, name: found if name == "cells/c/result.json" else None
        self._refusal, self.asked = refusal, []

    def metric_pages(self, **query):
        """Answer a call of GetMetricData."""
        self.asked.append(query)
        if self._refusal:
            raise self._refusal
        asked = [one for one in query["MetricDataQueries"] if "MetricStat" in one]
        ids = {one["MetricStat"]["Metric"]["MetricName"]: one["Id"] for one in asked}
        wanted = ids["VolumeIOPSExceededCheck"]
        at = [datetime.fromtimestamp(BEGUN, UTC)]
        yield {"MetricDataResults": [{"Id": wanted, "Timestamps": at, "Values": [1.0]}]}


def test_a_summary_is_shown_with_the_ceiling_that_later_metrics_tell():
    found = result()
    service = Aws(found)

    after = metrics.summary_with_late_metrics(service, summary_of(found))

    assert found["bottleneck"]["name"] == "not known"
    assert after["cells"][0]["bottleneck"]["name"] == "volume IOPS"
    assert service.asked[0]["StartTime"] == datetime.fromtimestamp(BEGUN, UTC)
    assert not after["cells"][0]["bottleneck"]["is_provisional"]
    assert time.time() > BEGUN + cloudwatch.SETTLED_AFTER_S


def test_who_may_not_ask_cloudwatch_sees_what_was_there_and_why(capsys):
    found = result()

    after = metrics.summary_with_late_metrics(Aws(found, refusal("AccessDenied")), summary_of(found))

    assert after == summary_of(found)
    assert "CloudWatch could not be asked again" in capsys.readouterr().err


@pytest.mark.parametrize("environment", ["local", "emulated", "local-vm"])
def test_of_runs_that_were_not_on_aws_nothing_is_asked(environment):
    found = result()
    service = SimpleNamespace(metric_pages=None, document=lambda _run, _name: found)

    assert metrics.summary_with_late_metrics(service, summary_of(found, environment)) == summary_of(found, environment)
