"""Advice on bottlenecks: for the tool that was used, and for each limit of each storage."""

import pytest

from matrix.storages.models import MODELS
from matrix.text.bottlenecks import describe_next_limit, raises_of


@pytest.mark.parametrize(
    ("workload", "is_engine_advised"),
    [
        ({"type": "metadata"}, False),
        ({"type": "touch", "tool": ["engine"]}, False),
        ({"type": "touch", "tool": ["parallel", "engine"]}, True),
        ({"type": "dd", "tool": "dd"}, True),
        ({"type": "transfer", "tool": ["rsync"]}, False),
    ],
)
def test_the_engine_is_advised_only_where_a_workload_has_it_and_took_another_tool(workload, is_engine_advised):
    bound = {"name": "tool", "next": {"code": "raise"}}

    words = describe_next_limit({"storage": {"type": "ebs"}, "workload": workload}, bound)

    assert ("use tool engine" in words) == is_engine_advised
    assert "use more" in words or "tool engine, more" in words


def test_every_limit_of_every_storage_says_what_raises_it():
    for kind, model in MODELS.items():
        names = model.traits.ceilings
        metrics = model.traits.metrics
        assert raises_of(kind, names.operations, None, {}) == names.more_operations
        for limit in metrics.limits:
            assert raises_of(kind, limit.name, limit.metric, {}) == limit.advice
        if metrics.cache:
            assert raises_of(kind, metrics.cache.name, None, {}) == metrics.cache.advice
        if metrics.metered:
            assert raises_of(kind, metrics.metered.credits_name, None, {}) == metrics.metered.more_credits
        if cap := metrics.client_cap({"type": kind}):
            assert raises_of(kind, cap.name, None, {"type": kind}) == cap.advice


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("gp3", {"iops", "throughputMiBps"}), ("gp2", set()), ("io1", {"iops"}), ("io2", {"iops"}), ("st1", set()),
        ("sc1", set()),
    ],
)  # fmt: skip
@pytest.mark.parametrize("limit", ["IOPS", "throughput"])
def test_only_what_a_type_of_volume_has_is_advised(kind, fields, limit):
    bound = {"name": f"volume {limit}", "next": {"code": "raise"}}

    words = describe_next_limit({"storage": {"type": "ebs", "volumeType": kind}, "workload": {"type": "dd"}}, bound)

    advised = words.replace("take gp3 with more iops", "").replace("take gp3 with more throughputMiBps", "")
    assert {field for field in ("iops", "throughputMiBps") if field in advised} <= fields
    assert "raid0" in words or "blocks" in words
