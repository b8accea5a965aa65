"""Plans of several launches: blocks of all cells on file systems of their own, priced, and only missing ones anew."""

import pytest
from support.matrices import EBS, EFS, TOUCH, matrix, problems_of

from matrix.plan.planning import plan
from matrix.plan.quotas import needs
from matrix.plan.resume import earlier_cells, taken_over
from matrix.storages.efs import FILE_SYSTEMS

STORAGES = [EBS | {"name": "ebs"}, EFS | {"name": "efs"}, EFS | {"name": "busy", "throughputMode": "bursting"}]
FLEETS = [{"instanceType": "m6i.large", "count": [1, 4]}]
SMALL = {"storage": STORAGES, "workload": [TOUCH], "fleet": FLEETS, "seed": 7}


def planned(earlier=None, **changes):
    return plan(matrix(**(SMALL | changes)), earlier=earlier).to_document()


def test_launches_are_blocks_of_all_cells_in_orders_of_their_own_each_on_its_own_file_systems():
    document = planned(launches=5)

    systems = [(system["launch"], system["id"]) for system in document["file_systems"]]
    assert [launch for launch, _ in systems] == [1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 5]
    orders = {tuple(id_.split(".")[0] for n, id_ in systems if n == launch) for launch in range(1, 6)}
    assert all(sorted(order) == ["busy", "ebs", "efs"] for order in orders)
    assert len(orders) > 1
    assert len({cell["id"] for cell in document["cells"]}) == 5 * 3 * 2
    assert {cell["joined"] for cell in document["cells"]} == {cell["id"] for cell in planned()["cells"]}
    assert all(cell["file_system"].endswith(f".l{cell['launch']}") for cell in document["cells"])
    assert document == planned(launches=5)


def test_as_written_the_launches_are_in_the_order_of_the_matrix():
    ids = [system["id"] for system in planned(launches=2, order="as-written")["file_systems"]]

    assert ids == ["ebs.l1", "efs.l1", "busy.l1", "ebs.l2", "efs.l2", "busy.l2"]


def test_three_launches_cost_three_times_as_much_and_take_three_times_as_long():
    alone, thrice = planned()["totals"], planned(launches=3)["totals"]

    for name in ("low", "expected", "high"):
        assert thrice["cost_usd"][name] == pytest.approx(3 * alone["cost_usd"][name], rel=0.01)
    for name in ("cells", "points", "steps", "instances"):
        assert thrice[name] == 3 * alone[name]
    # What is around a run, its planning and its analysis, is there once: of 900 s a thirtieth is expected.
    assert thrice["expected_s"] - 30 == pytest.approx(3 * (alone["expected_s"] - 30), abs=1)
    assert thrice["deadline_s"] - 900 == pytest.approx(3 * (alone["deadline_s"] - 900), abs=3)


def test_a_launch_waits_for_the_one_before_so_quotas_count_one():
    alone, thrice = (
        {need.quota: need.amount for need in needs(planned(launches=launches), {"m6i.large": 2}, at_once=9)}
        for launches in (1, 3)
    )

    assert thrice == alone
    assert thrice[FILE_SYSTEMS] == 2


def measured_but(document, missing):
    """What an earlier run has, whose cells were all measured but one."""
    return earlier_cells(
        "before", document, lambda cell: None if cell == missing else {"state": "measured", "id": cell}, lambda _: 1
    )


def test_only_the_missing_launch_is_measured_again_and_the_others_are_taken_over():
    missing = "efs.l2.touch.m6i.large-x4"

    document = planned(measured_but(planned(launches=3), missing), launches=3)

    [fresh] = [cell for cell in document["cells"] if "taken_from" not in cell]
    assert (fresh["id"], fresh["attempts"][0]["cell"]) == (missing, missing)
    assert [system["id"] for system in document["file_systems"] if system["cells"]] == ["efs.l2"]
    alone = planned(storage=STORAGES[1:2], fleet=[{"instanceType": "m6i.large", "count": 4}])["totals"]
    assert document["totals"]["cost_usd"]["expected"] == pytest.approx(alone["cost_usd"]["expected"], rel=0.01)
    assert document["totals"]["expected_s"] == pytest.approx(alone["expected_s"], abs=1)


def test_more_launches_are_added_to_those_of_an_earlier_run_with_one():
    document = planned(measured_but(planned(), None), launches=3)

    taken = [cell for cell in document["cells"] if "taken_from" in cell]
    assert {cell["launch"] for cell in taken} == {1}
    assert len(taken) == 6
    cell = next(cell for cell in taken if cell["id"] == "ebs.l1.touch.m6i.large-x1")
    assert cell["taken_from"] == {"run": "before", "cell": "ebs.touch.m6i.large-x1"}
    assert taken_over({"id": "x", "file_system": "ebs"}, cell)["file_system"] == "ebs.l1"


def test_cells_steps_and_file_systems_of_all_launches_count():
    many = [EFS | {"name": f"efs-{i}"} for i in range(101)]

    assert "3,030 file systems over all launches" in problems_of(storage=many, launches=30)["launches"].rule
    steps = problems_of(storage=many[:40], workload=[TOUCH | {"threads": [1, 2]}], repetitions=100, launches=26)
    assert "208,000 steps over all cells" in steps["repetitions"].rule
    fleets = [{"instanceType": "m6i.large", "count": list(range(1, 31))}]
    cells = problems_of(storage=many[:30], fleet=fleets, launches=30)
    assert cells["storage"].rule.startswith("30 storages * 1 workloads * 30 fleets * 30 launches are 27,000 cells")


def of_storage(document, launch):
    """The workloads and fleets of each storage in a launch, in the order in which they are measured."""
    prefix = {system["id"]: f"{system['id']}." for system in document["file_systems"] if system["launch"] == launch}
    return [
        tuple(cell.removeprefix(prefix[system["id"]]) for cell in system["cells"])
        for system in document["file_systems"]
        if system["id"] in prefix
    ]


def test_all_storages_of_a_launch_measure_alike_cells_in_one_order_and_each_launch_has_another():
    work = [TOUCH, TOUCH | {"threads": 2}, TOUCH | {"threads": 4}]
    document = planned(workload=work, launches=5)

    orders = {launch: of_storage(document, launch) for launch in range(1, 6)}

    assert all(len(set(order)) == 1 for order in orders.values())
    assert len({order[0] for order in orders.values()}) == 5
    left_out = [{"storage": {"name": "efs"}, "workload": {"threads": 2}}]
    [first, second, third] = of_storage(planned(workload=work, exclude=left_out, launches=5), 1)
    shortest, whole, _ = sorted((first, second, third), key=len)
    assert shortest == tuple(cell for cell in whole if cell in shortest)


def hours_apart(**changes):
    return [line for line in planned(**changes)["assumptions"] if "from hour to hour" in line]


def test_a_plan_says_how_far_apart_storages_are_compared_that_are_not_measured_side_by_side():
    [line] = hours_apart(maxConcurrentFileSystems=2)

    hours = planned(maxConcurrentFileSystems=2)["totals"]["expected_s"] / 3600
    assert f"the 3 storages are measured 2 at a time, up to {hours:.1f} h apart" in line
    assert "one after the other" in hours_apart(maxConcurrentFileSystems=1)[0]
    assert hours_apart(maxConcurrentFileSystems=3) == []
    assert hours_apart(maxConcurrentFileSystems=1, launches=3) == []
