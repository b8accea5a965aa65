"""Which instance types there are, and how they reach EBS: cards, and weighted bandwidth, which only some can have."""

import pytest
from support.matrices import matrix

from matrix.input.instance_types import Bandwidth, can_be_weighted, doubt, ebs_cards, share_of_cards, weighted
from matrix.plan.planning import plan
from matrix.terms.fingerprint import cell_key
from matrix.terms.names import describe_fleet

EBS, NETWORK = Bandwidth(30.0, 40.0), Bandwidth(40.0, 50.0)


def fleet(kind, weighting="ebs-1"):
    return [{"instanceType": kind, "bandwidthWeighting": weighting}]


def test_the_guides_example_of_a_weighted_network():
    # "an instance type with a default bandwidth of 40 Gbps": with vpc-1 "50 Gbps"; EBS loses those 10.
    assert weighted("vpc-1", EBS, NETWORK) == (Bandwidth(20.0, 30.0), Bandwidth(50.0, 50.0))


def test_ebs_gains_a_quarter_and_the_network_loses_as_much():
    assert weighted("ebs-1", EBS, NETWORK) == (Bandwidth(37.5, 40.0), Bandwidth(32.5, 42.5))
    assert weighted(None, EBS, NETWORK) == (EBS, NETWORK)


@pytest.mark.parametrize(("volumes", "share"), [(1, 1 / 2), (2, 1), (3, 3 / 4), (4, 1), (5, 5 / 6)])
def test_the_fullest_of_two_cards_bounds_a_stripe(volumes, share):
    assert share_of_cards(volumes, 2) == share
    assert share_of_cards(volumes, 1) == 1


def test_the_table_tells_cards_and_what_can_be_weighted():
    assert (ebs_cards("r8gb.48xlarge"), ebs_cards("r8gb.24xlarge"), ebs_cards("x99z.large")) == (2, 1, 1)
    assert [can_be_weighted(name) for name in ("m8g.large", "m6i.large", "x99z.large")] == [True, False, False]


def test_two_weightings_are_two_cells_and_a_fleet_without_one_is_the_cell_that_it_was():
    cells = matrix(fleet=[{"instanceType": "m8g.large"}, *fleet("m8g.large"), *fleet("m8g.large", "vpc-1")]).cells
    plain = {"instanceType": "m8g.large", "count": 1}

    assert [cell.fleet.slug for cell in cells][:3] == [
        "m8g.large-x1", "m8g.large-x1-ebs-1", "m8g.large-x1-vpc-1",
    ]  # fmt: skip
    keys = {cell_key("aws", {}, {}, plain | more) for more in ({}, {"bandwidthWeighting": "ebs-1"})}
    assert len(keys) == 2
    assert describe_fleet(plain | {"bandwidthWeighting": "ebs-1"}) == "1 × m8g.large, weighted ebs-1"


@pytest.mark.parametrize(
    ("name", "rule", "meant"),
    [
        ("c7id.2xlarge", "any type of c7id", "c7i.2xlarge"),
        ("m7i.9xlarge", "m7i has large, xlarge, 2xlarge, 4xlarge", "m7i.8xlarge"),
        ("i4i.metal-48xl", "i4i has", "i4i.metal"),
        ("q99z.large", "any type of q99z", "take "),
    ],
)
def test_a_type_that_is_not_in_the_table_is_doubted_in_the_first_warning_with_those_that_are(name, rule, meant):
    found = doubt(name)

    assert rule in found[0]
    assert meant in found[1]
    warnings = plan(matrix(fleet=[{"instanceType": name, "count": 1}])).warnings
    assert (warnings[0]["path"], warnings[0]["value"]) == ("fleet[0].instanceType", name)


def test_no_type_of_the_table_is_doubted():
    assert [name for name in ("m7i.large", "u7i-12tb.224xlarge", "c8gn.metal-48xl", "t3.nano") if doubt(name)] == []
