"""Every metric of the dashboard is one that AWS publishes, or one that our functions really put into their logs."""

import pytest
from support.dashboard import STACK, emitted, finds, names_of_functions, searches, shown

from aws.results import analysing
from matrix.samples import cloudwatch
from matrix.storages.models import MODELS

# Step Functions guide, "Execution metrics" and Lambda guide, "Types of metrics", read November 2026.
STATES = {"ExecutionsStarted", "ExecutionsSucceeded", "ExecutionsFailed", "ExecutionsTimedOut", "ExecutionsAborted",
          "ExecutionTime"}  # fmt: skip
LAMBDA = {"Errors", "Duration", "Throttles"}
STORAGES = [
    *cloudwatch.EC2,
    *(
        metric
        for of_storage in (model.traits.metrics for model in MODELS.values())
        for metric in (*of_storage.of_volume("gp2"), *of_storage.of_instance, *of_storage.of_file_system)
    ),
]
PUBLISHED = {
    **{("AWS/States", name): {frozenset({"StateMachineArn"})} for name in STATES},
    **{("AWS/Lambda", name): {frozenset({"FunctionName"})} for name in LAMBDA},
    **{(one.namespace, one.name): {frozenset(one.dimensions)} for one in STORAGES},
}
OURS = f"StorageMatrix/{STACK}"


@pytest.fixture
def logged(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> set[tuple[str, str, frozenset[str]]]:
    """What our functions emit when cells end in each way."""
    monkeypatch.setenv("POWERTOOLS_METRICS_NAMESPACE", OURS)
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", "storage-matrix")
    for state, actual_s in (("measured", 12.0), ("failed", 3.0), ("skipped", None)):
        analysing.count_cell("nightly-7", {"id": "efs.touch", "storage": {"type": "efs"}}, state, actual_s)
    return emitted(capsys.readouterr().out)


def test_every_metric_of_aws_is_one_that_it_publishes_with_these_dimensions():
    of_aws = [one for one in shown() if one.namespace.startswith("AWS/")]

    assert len(of_aws) > 15
    for one in of_aws:
        assert (one.namespace, one.name) in PUBLISHED, one
        assert one.dimensions is None or one.dimensions in PUBLISHED[one.namespace, one.name], one


def test_every_metric_of_ours_is_one_that_our_functions_emit(logged):
    ours = {(one.namespace, one.name, one.dimensions) for one in shown() if not one.namespace.startswith("AWS/")}

    assert ours == logged


def test_each_search_of_functions_finds_every_function_of_the_stack_and_none_of_another():
    terms = [search["terms"].split()[-1] for search in searches() if search["terms"].startswith("{AWS/Lambda,")]

    assert len(terms) == 3
    assert len(names_of_functions()) > 15
    for term in terms:
        assert [name for name in names_of_functions() if not finds(term, name)] == []
        assert not finds(term, "reports-Send-ABC")


def test_metrics_of_five_minutes_are_not_shown_by_the_minute():
    periods = {(one.namespace, one.name): one.period_s for one in STORAGES}

    for one in shown():
        assert one.period_s % periods.get((one.namespace, one.name), 60) == 0, one
