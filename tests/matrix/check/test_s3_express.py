"""S3 Express One Zone: what is done on it, what it costs, and in which zones it can be made."""

from pathlib import Path

import pytest
from support.matrices import OBJECTS, READ, matrix

from local.corrections.yaml_template import load
from matrix.plan import placing
from matrix.plan.planning import plan
from matrix.storages.directory_buckets import ZONES

EXPRESS = {"type": "s3-express"}
MOUNTED = {"type": "mountpoint", "storageClass": "EXPRESS_ONEZONE"}
TEMPLATE = Path(__file__).parents[3] / "template.yaml"


def refused_in(region, zone, storage=EXPRESS):
    asked = matrix(storage=[storage], workload=[READ]).matrix
    return list(placing.problems(asked, 3, reaches_multi_az=False, region=region, first_zone_id=lambda: zone))


def test_a_zone_that_has_it_is_planned():
    assert [refused_in(region, zone) for region, zones in ZONES.items() for zone in zones] == [[]] * 17
    assert refused_in("us-east-1", "use1-az4", MOUNTED) == []


@pytest.mark.parametrize("storage", [EXPRESS, MOUNTED])
def test_a_zone_without_it_is_refused_with_those_that_have_it(storage):
    [problem] = refused_in("us-east-1", "use1-az1", storage)

    assert problem.path == "storage[0].type"
    assert "none in use1-az1, the zone of the stack's first subnet" in problem.rule
    assert "use1-az4, use1-az5, use1-az6" in problem.fix


def test_a_region_without_it_is_refused_with_those_that_have_it():
    [problem] = refused_in("eu-central-1", "euc1-az1")

    assert "none in eu-central-1" in problem.rule
    assert "eu-west-1" in problem.fix


def test_nobody_asks_for_the_zone_where_every_zone_will_do():
    asked = matrix(storage=[{"type": "s3"}], workload=[READ]).matrix

    def unasked():
        raise AssertionError("asked EC2 for nothing")

    assert list(placing.problems(asked, 3, reaches_multi_az=False, region="eu-west-1", first_zone_id=unasked)) == []


def test_the_stack_has_an_endpoint_for_it_where_aws_has_it():
    regions = load(TEMPLATE.read_text())["Conditions"]["HasS3Express"]["Fn::Or"]

    assert {region["Fn::Equals"][1] for region in regions} == ZONES.keys()


def test_requests_cost_less_than_on_s3_and_bytes_cost_something():
    def cost(storage, **changed):
        planned = plan(matrix(storage=[storage], workload=[OBJECTS | changed])).to_document()
        return planned["file_systems"][0]["cost_usd"]["expected"]

    small, large = {"operation": "put", "objectSize": 1024}, {"operation": "put", "objectSize": "64MiB"}
    assert 0 < cost(EXPRESS, **small) < cost({"type": "s3"}, **small)
    # 3 repetitions of 1,000 objects of 64 MiB are 187.5 GiB at 0.0032 USD.
    assert cost(EXPRESS, **large) - cost(EXPRESS, **small) == pytest.approx(187.5 * 0.0032, rel=0.05)


def test_its_fleet_is_in_its_zone_and_needs_its_own_gateway():
    express, mounted, by_s3 = matrix(storage=[EXPRESS, MOUNTED, {"type": "mountpoint"}], workload=[READ]).matrix.storage

    assert placing.resolved(None, EXPRESS) == "same-az"
    assert express.gateway_service == mounted.gateway_service == "s3express"
    assert by_s3.gateway_service == "s3"
