"""Which earlier runs count with their scatter: each of a night of its own, the nights after the base among them."""

from copy import deepcopy

import pytest
from support.values_documents import values

from matrix.answer.comparing import compare
from matrix.answer.nights import MOST, chosen

HOUR, DAY = 3600.0, 86_400.0


def test_runs_of_one_night_count_once_and_later_ones_not_at_all():
    begun = [(DAY, "mon"), (DAY + HOUR, "mon again"), (2 * DAY, "tue"), (2 * DAY + 7 * HOUR, "tue noon")]
    begun += [(3 * DAY - HOUR, "before the base"), (3 * DAY, "base"), (5 * DAY, "this"), (6 * DAY, "later")]

    assert chosen(begun, base_at=3 * DAY, run_at=5 * DAY) == ["mon", "tue", "tue noon"]
    assert chosen(begun, base_at=5 * DAY, run_at=3 * DAY) == chosen(begun, base_at=None, run_at=DAY) == []


def test_of_many_nights_those_after_the_base_and_the_newest_are_read():
    begun = [(day * DAY, str(day)) for day in range(200)]

    names = chosen(begun, base_at=100 * DAY, run_at=190 * DAY)

    assert names[:4] == ["101", "102", "103", "104"]
    assert (names[-1], len(names)) == ("189", MOST - 1)
    assert names[4:] == [str(day) for day in range(175, 190)]


def nights(*seconds):
    """Runs of one point, a night each; the last one is judged."""
    return [values(f"n{night}", each, started_at=DAY * night) for night, each in enumerate(seconds)]


USUAL = (10.0, 10.4, 9.7, 10.2, 9.8, 10.3)


@pytest.mark.parametrize(("last", "verdict"), [(10.6, "no difference shown"), (12.5, "slower"), (8.0, "faster")])
def test_a_run_is_held_against_the_scatter_of_its_nights_and_not_against_one_of_them(last, verdict):
    *past, run = nights(*USUAL, last)

    [alone] = compare(past[2], run, threshold=0.05)["compared"]
    [among] = compare(past[2], run, threshold=0.05, earlier=past)["compared"]

    assert (among["verdict"], among["runs"], among["units"]) == (verdict, 6, [6, 1])
    assert (alone["verdict"], alone["runs"]) == ("slower" if last > 10 else "faster", 0)
    assert among["interval"]["low"] < alone["interval"]["low"]


def test_what_another_run_measured_or_another_place_is_no_night_of_its_own():
    *past, run = nights(*USUAL, 12.5)
    taken_over, elsewhere = deepcopy(past), [*past[:4], {**past[4], "environment": "local"}]
    for each in taken_over[2:4]:
        each["cells"][0]["is_own"] = False

    assert [
        compare(past[0], run, threshold=0.05, earlier=earlier)["compared"][0]["runs"]
        for earlier in (past, taken_over, elsewhere)
    ] == [6, 0, 0]


def test_with_enough_nights_a_run_without_replication_is_judged_too():
    *past, run = [
        values(f"n{night}", each, started_at=DAY * night, repetitions=1) for night, each in enumerate((*USUAL, 13.0))
    ]

    assert compare(past[0], run, threshold=0.05)["compared"][0]["verdict"] == "cannot tell"
    [judged] = compare(past[0], run, threshold=0.05, earlier=past)["compared"]
    assert (judged["verdict"], judged["is_regression"]) == ("slower", True)
