"""What is set aside of a budget, what may still begin, and what need not be measured again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.matrices import BUILD, DD, EBS, EFS, FSX, TOUCH, matrix

from matrix.plan.planning import plan
from matrix.plan.resume import earlier_cells, taken_over
from matrix.run.admission import over_budget, skip_of, skipped, too_late


@given(
    storage=st.lists(st.sampled_from([EBS, EFS, FSX]), min_size=1, max_size=3, unique_by=lambda one: one["type"]),
    workload=st.lists(st.sampled_from([TOUCH, DD, BUILD]), min_size=1, max_size=3, unique_by=lambda one: one["type"]),
    counts=st.lists(st.integers(1, 50), min_size=1, max_size=3, unique=True),
)
def test_what_is_set_aside_adds_up_to_the_worst_case_of_the_plan(storage, workload, counts):
    document = plan(
        matrix(storage=storage, workload=workload, fleet=[{"instanceType": "m6i.large", "count": counts}])
    ).to_document()

    reserved = sum(one["reserve_usd"] for kind in ("cells", "file_systems", "images") for one in document[kind])

    assert reserved == pytest.approx(document["totals"]["cost_usd"]["high"], abs=0.0005 * (len(document["cells"]) + 3))


def test_too_late_is_what_would_not_be_finished_by_the_deadline():
    assert too_late(needs_s=100, now=0, deadline_at=100) is None
    assert "expected to take 100 s, but the run's deadline is in 99 s" in str(
        too_late(needs_s=100, now=1, deadline_at=100)
    )


def test_a_skip_says_its_reason_and_a_failure_is_not_a_skip():
    refusal = over_budget(needs_usd=0.5, committed_usd=0.75, budget_usd=1)

    assert skip_of(refusal)["name"] == "skipped: budget"
    assert "0.5000 USD, and the 0.7500 USD" in skip_of(refusal)["message"]
    assert skipped({"name": "DeadlinePassed", "message": "late"}) == {"name": "skipped: deadline", "message": "late"}
    assert skipped({"name": "QuotaExceeded", "message": "no"}) is None


FLEETS = [{"instanceType": "m6i.large", "count": [1, 2]}]


def earlier(states, uploads=0, **changes):
    """What a run of the matrix has of its cells, by their states in the order of the matrix."""
    document = plan(matrix(order="as-written", fleet=FLEETS, **changes)).to_document()
    by_id = dict(zip((cell["id"] for cell in document["cells"]), states, strict=True))
    return earlier_cells(
        "old", document, lambda cell: {"state": by_id[cell]} if by_id[cell] else None, lambda _: uploads
    )


def resumed(found, **changes):
    return plan(matrix(order="as-written", fleet=FLEETS, **changes), earlier=found).to_document()


def test_measured_cells_are_taken_over_and_cost_nothing():
    whole = plan(matrix(order="as-written", fleet=FLEETS)).to_document()

    document = resumed(earlier(["measured", "failed"]))

    first, second = document["cells"]
    assert first["taken_from"] == {"run": "old", "cell": first["id"]}
    assert "taken_from" not in second
    assert document["file_systems"][0]["cells"] == [second["id"]]
    assert document["totals"]["taken_over"] == 1
    assert document["totals"]["instances"] == 2
    assert document["totals"]["cost_usd"]["expected"] == pytest.approx(
        whole["cells"][1]["cost_usd"]["expected"], abs=0.001
    )


def test_a_file_system_whose_cells_are_all_measured_is_not_needed():
    document = resumed(earlier(["measured", "measured"], storage=[FSX]), storage=[FSX])

    assert document["file_systems"][0]["cells"] == []
    assert document["totals"]["cost_usd"] == {"low": 0.0, "expected": 0.0, "high": 0.0}


@pytest.mark.parametrize(
    "change",
    [
        {"repetitions": 5},
        {"storage": [EBS | {"iops": 4000}]},
        {"workload": [TOUCH | {"files": 2048}]},
        {"workload": [TOUCH | {"threads": [1, 4, 8]}]},
    ],
)
def test_a_cell_that_measures_anything_else_is_measured_whatever_its_id_says(change):
    assert "taken_over" not in resumed(earlier(["measured", "measured"]), **change)["totals"]


def test_a_cell_measured_at_its_quorum_is_taken_over_until_one_asks_for_more():
    def fleet(**ways):
        return [{"instanceType": "m6i.large", "count": 10, **ways}]

    before = plan(matrix(fleet=fleet(quorum=0.8))).to_document()
    at_quorum = {"state": "measured", "instances": {"expected": 10, "launched": 8}}
    found = earlier_cells("old", before, lambda _: at_quorum, lambda _: 8)

    assert plan(matrix(fleet=fleet(quorum=0.8)), earlier=found).to_document()["totals"]["taken_over"] == 1
    for more in ({"quorum": 0.9}, {}):
        assert "taken_over" not in plan(matrix(fleet=fleet(**more)), earlier=found).to_document()["totals"]


def test_uploads_of_a_cell_without_a_result_are_kept_as_an_attempt():
    document = resumed(earlier(["measured", None], uploads=2))

    [attempt] = document["cells"][1]["attempts"]
    assert attempt["prefix"] == f"runs/old/cells/{document['cells'][1]['id']}/"
    assert (attempt["instances"], attempt["error"]["name"]) == (2, "NotFinished")
    assert "attempts" not in resumed(earlier(["measured", "failed"], uploads=0))["cells"][1]


def test_a_result_that_was_taken_over_before_keeps_the_run_that_measured_it():
    document = plan(matrix()).to_document()
    source = {"run": "oldest", "cell": "c"}

    found = earlier_cells("old", document, lambda _: {"state": "measured", "taken_from": source}, lambda _: 0)

    [cell] = plan(matrix(), earlier=found).to_document()["cells"]
    assert cell["taken_from"] == source
    assert taken_over({"id": "c", "points": [1]}, cell) == {
        "id": cell["id"], "file_system": cell["file_system"], "points": [1], "taken_from": source,
    }  # fmt: skip


def budgeted(budget_usd):
    """What the plan of two fleets on one volume each says of its budget, as a warning and among its assumptions."""
    document = plan(matrix(storage=[EBS], workload=[TOUCH], fleet=FLEETS, budgetUsd=budget_usd)).to_document()
    told = [warning["message"] for warning in document["warnings"] if warning["path"] == "budgetUsd"]
    return document, told, [line for line in document["assumptions"] if "budgetUsd" in line]


def test_a_plan_says_what_its_budget_means_for_it():
    document, told, assumed = budgeted(1e6)
    cost = document["totals"]["cost_usd"]
    risks = {cell["id"]: cell["reserve_usd"] - cell["cost_usd"]["expected"] for cell in document["cells"]}
    riskiest = max(risks, key=risks.__getitem__)

    assert (told, assumed) == ([], [])
    assert budgeted(None)[1:] == ([], [])
    _, [refused], assumed = budgeted(cost["expected"] * 0.9)
    assert "the run is refused before it makes anything" in refused
    assert assumed == []
    # Each fits by itself, and the larger one no longer when the smaller one is paid.
    _, [skipping], [_] = budgeted(cost["expected"] + risks[riskiest] * 0.9)
    fleet = next(cell["fleet"] for cell in document["cells"] if cell["id"] == riskiest)
    assert f"{fleet['count']} × {fleet['instanceType']} alone may cost" in skipping
    _, told, [capped] = budgeted(cost["expected"] + risks[riskiest] * 1.1)
    assert told == []
    assert "is the most that the run may cost by its plan" in capped
