"""Where a fleet's instances go, and how few are enough."""

import pytest
from support.matrices import BUILD, FLEET, FSX, YOCTO, matrix

from matrix.input.workloads.contract import Clients
from matrix.plan.placing import cross_zone_share, least, problems, resolved, shares
from matrix.plan.planning import plan


@pytest.mark.parametrize(
    ("placement", "count", "zones", "expected"),
    [
        ("same-az", 7, 3, [7]),
        ("spread", 7, 3, [3, 2, 2]),
        ("spread", 1, 3, [1, 0, 0]),
        ([1, 1], 200, 3, [100, 100]),
        ([0.7, 0.2, 0.1], 10, 3, [7, 2, 1]),
        ([1, 2], 10, 2, [3, 7]),
    ],
)
def test_shares_add_up_to_the_fleet(placement, count, zones, expected):
    assert shares(placement, count, zones) == expected


def test_more_shares_than_zones_are_refused():
    with pytest.raises(ValueError, match=r"2 shares.* in 1 zone"):
        shares([1, 1], 4, 1)


@pytest.mark.parametrize(
    ("quorum", "count", "expected"),
    [(None, 10, 10), (0.8, 10, 8), (0.81, 10, 9), (0.07, 100, 7), (0.001, 10, 1), (5, 10, 5), (5, 3, 3), (1, 9, 1)],
)
def test_a_quorum_is_a_share_rounded_up_or_a_number(quorum, count, expected):
    assert least(quorum, count) == expected


def test_a_storage_in_one_zone_has_its_fleet_there():
    assert resolved(None, {"type": "fsx-openzfs"}) == "same-az"
    assert resolved(None, {"type": "efs", "deployment": "oneZone"}) == "same-az"
    assert resolved(None, {"type": "efs", "deployment": "regional"}) == "spread"
    assert resolved("spread", {"type": "fsx-openzfs"}) == "spread"
    assert resolved(None, {"type": "file-server"}) == "same-az"


def test_fleets_that_are_launched_differently_are_different_cells():
    ways = [{}, {"spot": True}, {"placement": "same-az"}, {"placement": [1, 1]}, {"quorum": 0.9}]

    cells = plan(matrix(fleet=[FLEET | way for way in ways])).cells

    assert len({cell.id for cell in cells}) == len(ways)


def test_spot_is_cheaper_than_on_demand_except_at_worst():
    on_demand, spot = (plan(matrix(fleet=[FLEET | way])) for way in ({}, {"spot": True}))

    assert spot.cost.expected < on_demand.cost.expected
    assert spot.cost.high == pytest.approx(on_demand.cost.high)
    assert any("Spot of m6i.large: 10% (low), 50% (expected)" in line for line in spot.assumptions)


def test_of_several_file_systems_each_has_its_part_of_the_fleet_and_no_byte_passes_between_zones():
    several = FSX | {"fileSystems": 2}

    assert resolved(None, several) == [1.0, 1.0]
    [storage] = matrix(storage=[several]).matrix.storage
    assert cross_zone_share(None, storage, 2).high == cross_zone_share([1, 1], storage, 2).high == 0.0


def test_more_file_systems_than_the_stack_has_zones_are_refused_before_anything_is_created():
    checked = matrix(storage=[FSX | {"fileSystems": 3}], fleet=[FLEET | {"count": 3}]).matrix

    def found(zones):
        return list(problems(checked, zones, reaches_multi_az=True, region="eu-west-1", first_zone_id=str))

    assert found(3) == []
    [problem] = found(2)
    assert (problem.path, problem.value) == ("storage[0].fileSystems", 3)


@pytest.mark.parametrize("work", [BUILD, YOCTO], ids=lambda work: work["type"])
def test_a_build_on_several_file_systems_takes_as_long_as_on_one_with_its_part_of_the_fleet(work):
    checked = matrix(
        storage=[FSX | {"fileSystems": 2}],
        workload=[work | {"expectedSeconds": {"1": 60, "10": 100, "20": 500}}],
        fleet=[FLEET | {"count": 20}],
    )

    [cell] = checked.cells
    [point] = cell.workload.points()
    assert cell.workload.footprint(point, cell.storage, Clients(cell.fleet.count)).seconds == 100
