"""The bottleneck of a cell in words: one case for each code of a document, so that none is left without."""

from typing import get_args, get_type_hints

import pytest

from matrix.terms.documents import bottleneck as documents
from matrix.text.bottlenecks import evidence_words, next_words, other_rows, others_words, raises_of, unseen_words
from storages.metrics import METRICS
from storages.models import MODELS

AT = 1_763_683_200.0
EBS = {"type": "ebs", "volumeType": "gp3"}


def cell(*points, storage=EBS):
    """A cell with points of these block sizes."""
    listed = [{"id": f"p{n:02d}", "params": {"block_bytes": size}} for n, size in enumerate(points, 1)]
    return {"id": "c", "storage": storage, "points": listed}


def hit(name="volume IOPS", *, uses=(), others=(), points=None, step=None, **more):
    """A bottleneck."""
    return {
        "name": name, "uses": list(uses), "share": 1.0, "next": step or {"code": "raise"}, "others": list(others),
        "unseen": [], "points": points if points is not None else {"p01": name}, "is_provisional": False,
    } | more  # fmt: skip


def rate(used=2_970.0, limit=3_000.0, unit="IOPS", **more):
    """A rate beside its limit."""
    return {"code": "rate", "used": used, "limit": limit, "unit": unit, **more}


USES = {
    "2,970 of 3,000 IOPS at block 4 KiB": rate(point="p01"),
    "118 of 119 MB/s of the instance type's baseline": rate(118, 119, "MB/s", of="baseline"),
    "1,381 of 1,250 MB/s of the instance type's maximum": rate(1_381, 1_250, "MB/s", of="maximum"),
    "490 of 500 MiB/s of each client": rate(490, 500, "MiB/s", of="client"),
    "99.0 of 100 MiB/s that AWS permitted at 2025-11-21 00:00:00 UTC, 2.00 GiB of burst credits left":
        rate(99, 100, "MiB/s", of="permitted", at=AT, credits_left_bytes=2.0**31),
    "AWS/EFS PercentIOLimit 99 % at 2025-11-21 00:00:00 UTC":
        {"code": "share", "metric": "AWS/EFS PercentIOLimit", "percent": 99.0, "resource": "fs-1", "resources": 1,
         "at": AT},
    "AWS/FSx Disk 97 % of fs-2 at 2025-11-21 00:00:00 UTC, while the cache had 35 % of the reads":
        {"code": "share", "metric": "AWS/FSx Disk", "percent": 97.0, "resource": "fs-2", "resources": 2, "at": AT,
         "cache_hits_percent": 35.0},
    "Check was 1 for i-0 and 1 more, first at 2025-11-21 00:00:00 UTC":
        {"code": "throttled", "metric": "Check", "resources": ["i-0", "i-1"], "first_at": AT},
    "BurstBalance was never used up": {"code": "balance", "metric": "BurstBalance", "resources": [], "first_at": None},
    "60 % of what the tool reaches on this instance without a storage at block 8 KiB":
        {"code": "tool", "share": 0.6, "point": "p02"},
    "each worker computes 99 % of the time (processors 50 % busy), 6 % taken by the host at block 4 KiB":
        {"code": "processors", "machine": 0.5, "worker": 0.99, "stolen": 0.06, "point": "p01"},
    "EC2 queued or dropped 400 packets/s for bandwidth out at block 4 KiB":
        {"code": "packets", "allowance": "bw_out", "per_s": 400.0, "point": "p01"},
}  # fmt: skip


def codes_of(kind):
    """The codes that a type of document may have."""
    return set(get_args(get_type_hints(kind)["code"]))


@pytest.mark.parametrize("words", USES)
def test_each_use_of_a_limit_has_its_words(words):
    assert evidence_words(cell(4_096, 8_192), hit(uses=[USES[words]])) == words


def test_no_kind_of_use_is_without_a_case():
    kinds = get_args(documents.LimitUse)

    assert set().union(*(codes_of(kind) for kind in kinds)) == {use["code"] for use in USES.values()}


def test_a_cell_of_one_point_does_not_name_it():
    assert evidence_words(cell(4_096), hit(uses=[rate(point="p01")])) == "2,970 of 3,000 IOPS"


def test_points_with_other_bottlenecks_are_counted():
    points = {"p01": "volume IOPS", "p02": "volume IOPS", "p03": "volume throughput"}

    said = evidence_words(cell(1, 2, 3), hit(uses=[rate()], points=points))

    assert said == "2,970 of 3,000 IOPS. So at 2 of 3 points; the others: 1 volume throughput"


def test_where_nothing_was_reached_the_nearest_limit_and_the_waiting_are_named():
    others = [{"name": "volume IOPS", "share": 0.13, "use": rate(398.0)}]
    waiting = {"workers": 4.0, "latency_s": 0.01, "point": "p01"}

    said = evidence_words(cell(1), hit("not saturated", others=others, waiting=waiting))

    nearest = "no limit was reached; the nearest is volume IOPS: 398 of 3,000 IOPS"
    assert said == f"{nearest}; 4 workers waiting 10.0 ms for each operation explain the rate"


def test_where_nothing_is_known_it_is_said_why():
    assert evidence_words(cell(1), hit("not known", points={})) == "nothing was counted"
    assert evidence_words(cell(1), hit("not known")) == "no limit of this storage is known here"


def test_of_several_launches_it_is_said_in_how_many():
    said = evidence_words(cell(1), hit(uses=[rate()], of_launches={"same": 3, "launches": 5}))

    assert said == "in 3 of 5 launches; in one of them: 2,970 of 3,000 IOPS"


STEPS = {
    "raise": ({}, "provision more iops, stripe volumes with raid0, or use larger blocks"),
    "use-aws": ({}, "run it on AWS: here all instances share one machine"),
    "load-more": ({}, "use more threads, a deeper queue or more instances to find where it ends"),
    "know-limits": ({}, "run it on AWS, or with emulate: true for a storage whose limits are known"),
    "see-metrics": ({}, "look at the storage's own metrics; docs/method.md lists them"),
}


def test_each_next_step_has_its_words():
    assert set(STEPS) == codes_of(documents.NextStep)
    for code, (more, words) in STEPS.items():
        assert next_words(cell(1), hit(step={"code": code, **more})) == words


def test_a_larger_type_is_named_where_one_carries_the_volumes():
    step = {"code": "raise", "larger_type": "r5b.8xlarge"}

    said = next_words(cell(1), hit("instance EBS allowance", step=step))

    assert said.endswith("r5b.8xlarge is the smallest of its family that always carries these volumes")


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
    words = next_words(cell(4096) | {"workload": workload}, hit("tool"))

    assert ("use tool engine" in words) == is_engine_advised
    assert "use more" in words or "tool engine, more" in words


def test_every_limit_of_every_storage_says_what_raises_it():
    for kind, model in MODELS.items():
        names = model.ceilings
        metrics = METRICS[kind]
        assert raises_of(kind, names.operations, None, {}) == names.more_operations
        for limit in metrics.limits:
            assert raises_of(kind, limit.name, limit.metric, {}) == limit.advice
        if metrics.cache:
            assert raises_of(kind, metrics.cache.name, None, {}) == metrics.cache.advice
        if metrics.metered:
            assert raises_of(kind, metrics.metered.credits_name, None, {}) == metrics.metered.more_credits
        if cap := metrics.client_cap({"type": kind}):
            assert raises_of(kind, cap.name, None, {"type": kind}) == cap.advice


UNSEEN = {
    "not-read": ({}, "CloudWatch: not read"),
    "not-asked": ({"error": "AccessDenied"}, "CloudWatch: could not be asked (AccessDenied)"),
    "not-of-aws": ({}, "CloudWatch: has nothing of storages and instances that are not AWS's"),
    "no-values": (
        {"metrics": list("abcdef"), "may_arrive": True},
        "CloudWatch: has no values of a, b, c, d and 2 more; they may still arrive",
    ),
    "storage-use": ({}, "use of the storage: neither counters nor metrics show it"),
    "storage-limits": ({}, "limits of the storage: none are known of this machine's disk"),
    "tool-limit": ({}, "the tool's own limit: it was not calibrated"),
    "instance-limits": ({}, "limits of the instance type: EC2 did not say them"),
    "network-allowances": ({}, "EC2's network allowances: neither the network card nor ethtool counts them"),
}


def test_each_thing_that_could_not_be_seen_has_its_words():
    assert set(UNSEEN) == codes_of(documents.Unseen)
    for code, (more, words) in UNSEEN.items():
        assert unseen_words({"code": code, **more}) == words


def test_the_limits_that_were_not_it_stand_with_what_was_used_of_them():
    others = [
        {
            "name": "client CPU",
            "share": 0.4,
            "use": {"code": "processors", "machine": 0.4, "worker": None, "stolen": 0.0, "point": "p01"},
        },
        {"name": "volume throughput", "share": 0.09, "use": rate(11.0, 125.0, "MiB/s")},
        {
            "name": "client CPU",
            "share": 0.1,
            "use": {"code": "processors", "machine": 0.1, "worker": None, "stolen": 0.0, "point": "p01"},
        },
    ]

    assert others_words(hit(others=others)) == "client CPU 40 %, volume throughput 9 %"
    assert other_rows(cell(1), hit(others=others))[1] == ("volume throughput", 0.09, "11.0 of 125 MiB/s")
