"""What CloudWatch is asked for, within the limits of a call."""

from matrix.samples import cloudwatch

VOLUMES = {f"vol-{number}": f"i-{number // 2:03d}" for number in range(400)}
INSTANCES = [f"i-{number:03d}" for number in range(200)]


def about(storage: dict, **more) -> dict:
    """The resources of a cell of 200 instances."""
    given = {"instance_type": "m6i.large", "instances": INSTANCES, "volumes": VOLUMES, "file_systems": []} | more
    return cloudwatch.resources(storage, **given)


def test_of_a_large_fleet_some_instances_are_asked_for_evenly_and_it_is_said_of_how_many():
    found = about({"type": "ebs", "volumeType": "gp3"})

    assert len(found["instances"]) == 20
    assert found["instances"][:2] == ["i-000", "i-010"]
    assert found["of"] == 200
    assert len(found["volumes"]) == 40


def test_no_call_has_more_queries_than_cloudwatch_takes_and_no_id_occurs_twice():
    calls = list(cloudwatch.calls(about({"type": "ebs", "volumeType": "gp2"})))

    assert all(len(call) <= 500 for call in calls)
    ids = [query.id for call in calls for query in call]
    assert len(ids) == len(set(ids))
    # 40 volumes with 8 + 1 + 4 metrics and one expression, 20 instances with 3 + 4.
    assert len(ids) == 40 * 14 + 20 * 7


def test_the_published_expression_stands_beside_the_metrics_that_it_names():
    one = {"instances": ["i-000"], "volumes": {"vol-0": "i-000"}}
    (call,) = cloudwatch.calls(about({"type": "ebs", "volumeType": "gp3"}, **one))

    asked = {query.id: query.to_request() for query in call}
    (expression,) = [one["Expression"] for one in asked.values() if "Expression" in one]
    assert expression == "((r0m0+r0m1)/1048576)/PERIOD(r0m0)"
    assert asked["r0m0"]["MetricStat"]["Metric"]["MetricName"] == "VolumeWriteBytes"
    assert asked["r0m1"]["MetricStat"]["Metric"]["MetricName"] == "VolumeReadBytes"
    assert {asked[one]["MetricStat"]["Stat"] for one in ("r0m0", "r0m1")} == {"Sum"}


def test_only_what_a_resource_can_publish_is_asked_for():
    gp3, gp2 = (
        {query.metric.name for call in cloudwatch.calls(about({"type": "ebs", "volumeType": kind})) for query in call}
        for kind in ("gp3", "gp2")
    )
    burstable = about({"type": "efs"}, instance_type="t3.large", file_systems=["fs-1"])
    efs = {query.metric.name for call in cloudwatch.calls(burstable) for query in call}

    assert gp2 - gp3 == {"BurstBalance"}
    assert {"CPUCreditBalance", "PercentIOLimit"} <= efs
    assert "EBSIOBalance%" not in efs


def test_a_window_is_whole_five_minutes():
    assert cloudwatch.window(1_000.0, 1_001.0) == (900, 1_200)
    assert cloudwatch.window(900.0, 900.0) == (900, 1_200)


def test_metrics_are_settled_a_quarter_of_an_hour_after_the_cell():
    early, late = (
        cloudwatch.document({}, (0.0, 600.0), [], read_at=600.0 + seconds)["is_settled"] for seconds in (899, 900)
    )

    assert (early, late) == (False, True)
