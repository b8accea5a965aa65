"""The plan that was agreed to is the plan that runs: other cells or another cost are told, with both figures."""

import copy

import pytest
from support.matrices import EBS, EFS, TOUCH, matrix, problems_of

from matrix.input.matrix import Agreed
from matrix.plan import agreement
from matrix.plan.planning import plan
from matrix.plan.resume import earlier_cells

SMALL = {"storage": [EBS, EFS], "workload": [TOUCH], "fleet": [{"instanceType": "m6i.large", "count": [1, 4]}]}


def planned(earlier=None, run="", **changes):
    return plan(matrix(**(SMALL | changes)), earlier=earlier, run=run).to_document()


def difference(theirs, mine=None, **agreed):
    agreed_to = {**agreement.agreed_to(mine or planned()), **agreed}
    return agreement.difference(Agreed(**agreed_to), theirs)


def dearer(document, times):
    document = copy.deepcopy(document)
    document["totals"]["cost_usd"]["expected"] *= times
    return document


def test_the_same_cells_in_another_order_are_what_was_agreed_to():
    mine, theirs = planned(), planned(run="another-name")

    assert [cell["id"] for cell in mine["cells"]] != [cell["id"] for cell in theirs["cells"]]
    assert difference(theirs, mine) is None


@pytest.mark.parametrize(("times", "is_reported"), [(1.09, False), (0.91, False), (1.11, True), (0.89, True)])
def test_a_cost_more_than_a_tenth_off_is_told_with_both_sums(times, is_reported):
    mine = dearer(planned(), 100 / planned()["totals"]["cost_usd"]["expected"])

    words = difference(dearer(mine, times), mine)

    assert bool(words) == is_reported
    if words:
        assert f"it is expected to cost {100 * times:,.2f} USD, agreed to were 100.00" in words
        assert f'write "agreed": {{"usd": {100 * times:.2f}}}' in words


@pytest.mark.parametrize(
    ("region", "times", "is_reported"),
    [("eu-central-1", 1.2, False), ("eu-central-1", 1.45, True), ("us-east-1", 1.2, True), (None, 1.2, True)],
)
def test_prices_of_another_region_may_be_off_by_the_range_that_was_shown_with_them(region, times, is_reported):
    # This machine has the prices of us-east-1 only; an m6i.large in Frankfurt costs a fifth more.
    mine = dearer(planned(), 100 / planned()["totals"]["cost_usd"]["expected"])

    agreed = Agreed.model_validate(agreement.agreed_to(mine, region))

    assert bool(agreement.difference(agreed, dearer(mine, times))) == is_reported


def test_a_difference_of_less_than_a_cent_is_not_a_question():
    mine = dearer(planned(), 0.004 / planned()["totals"]["cost_usd"]["expected"])

    assert difference(dearer(mine, 2), mine) is None
    assert difference(dearer(mine, 5), mine)


def test_another_number_of_cells_is_told_with_both_numbers_whatever_they_cost():
    theirs = planned(fleet=[{"instanceType": "m6i.large", "count": 4}])

    words = difference(theirs, usd=theirs["totals"]["cost_usd"]["expected"])

    assert "it has 2 cells, agreed to were 4" in words


@pytest.mark.parametrize(
    "changes",
    [
        {"repetitions": 4},
        {"workload": [TOUCH | {"threads": [1, 8]}]},
        {"fleet": [{"instanceType": "m6i.large", "count": [1, 5]}]},
    ],
)
def test_as_many_other_cells_are_told(changes):
    theirs = planned(**changes)
    words = difference(theirs, usd=theirs["totals"]["cost_usd"]["expected"])

    assert "its 4 cells are others" in words


def test_a_cell_that_is_to_be_measured_again_is_another_than_one_that_was_taken_over():
    whole = planned()
    earlier = earlier_cells("before", whole, lambda cell: {"state": "measured", "id": cell}, lambda _: 1)
    rest = planned(earlier)

    assert "its 4 cells are others" in difference(whole, rest, usd=whole["totals"]["cost_usd"]["expected"])


def test_who_writes_the_sum_alone_agrees_to_any_cells():
    theirs = planned(fleet=[{"instanceType": "m6i.large", "count": 4}])

    assert agreement.difference(Agreed(usd=theirs["totals"]["cost_usd"]["expected"]), theirs) is None


def test_what_was_agreed_to_changes_no_order_and_must_be_written_as_numbers():
    assert planned(agreed={"usd": 5})["seed"] == planned()["seed"]
    assert list(problems_of(agreed={"usd": "5"})) == ["agreed.usd"]
    assert "agreed.dollars" in problems_of(agreed={"usd": 5, "dollars": 5})
