"""How long cells take and how often they are polled: the budget of events, recomputed here from AWS's figures alone."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.matrices import EBS, EFS, TOUCH, matrix

from matrix.input.pace import (
    EARLY_POLLS,
    Work,
    early_looks,
    gate_margin_s,
    gate_wait_s,
    least_poll_s,
    makespan_s,
    poll_again_s,
)
from matrix.plan.planning import plan


def events_of(works):
    """History events if every cell runs until its deadline: 9 a poll turn, early ones too, 50 a cell besides."""
    least_s = least_poll_s(works)
    more = early_looks([(math.ceil(work.deadline_s), work.poll_s(least_s)) for work in works])
    turns = sum(int(work.deadline_s) // work.poll_s(least_s) + 1 + more for work in works)
    return 9 * turns + 50 * len(works)


@given(
    st.lists(
        st.builds(Work, st.floats(0, 200_000), st.integers(1, 200), st.sampled_from([1, 2, 200, 1000])),
        min_size=1,
        max_size=100,
    )
)
def test_the_cells_of_a_file_system_never_fill_more_than_80_percent_of_the_history(works):
    assert events_of(works) <= 20_000


@pytest.mark.parametrize(("seconds", "poll_s"), [(1, 10), (60, 10), (480, 31), (3_000, 60)])
def test_a_cell_is_looked_at_20_times_within_10_and_60_seconds(seconds, poll_s):
    # 120 s of preparation, 10 steps of 2 s and 2 s of margin and 1 s until it is seen.
    work = Work(seconds, steps=10, instances=1)

    assert work.expected_s == 120 + seconds + 20
    assert work.poll_s(1) == poll_s


def test_a_day_long_build_is_polled_less_often():
    # 900 + 3 * (86,400 + 2 + 3) = 260,115 s; 2,216 turns less 2: more than 117 s a turn.
    work = Work(seconds=86_400, steps=1, instances=2)

    assert work.poll_s(least_poll_s([work])) == 118
    # (0.8 * 25,000 - 50 * 294) / 9 are 588 turns, and each cell's two ends take all of them.
    assert least_poll_s([work] * 294) is None


def test_a_cell_is_looked_at_early_as_often_as_the_history_has_turns_left():
    assert early_looks([(5_000, 60)]) == EARLY_POLLS
    # (0.8 * 25,000 - 50) / 9 are 2,216 turns for one cell; each 60 s until 132,600 s are 2,210, and two at its ends.
    assert early_looks([(132_659, 60)]) == 4
    assert early_looks([(132_900, 60)]) == 0
    # 200 cells: 1,111 turns, of which each has its five.
    assert early_looks([(200, 60)] * 200) == 0


def test_no_step_of_a_fleet_waits_for_a_poll():
    works = [Work(seconds=1_800, steps=60, instances=200) for _ in range(16)]
    # 60 steps of 30 s, 2 s beside each and 3.2 s until all start: as long as alone, however many share a file system.
    assert works[0].expected_s == pytest.approx(120 + 1_800 + 60 * (2 + 3.2))
    # 16 cells of (900 + 3 * 2,112) s at most on 2,133 turns less 32.
    assert least_poll_s(works) == 56
    assert works[0].poll_s(56) == 60


def test_a_large_fleet_has_a_longer_margin():
    assert [gate_margin_s(count) for count in (2, 200, 1000, 5000)] == pytest.approx([2.002, 2.2, 3.0, 3.0])
    assert gate_margin_s(4, 0.15) == pytest.approx(0.15, rel=0.01)
    assert gate_wait_s(1000) == 4.0


def test_every_planned_file_system_keeps_within_its_history():
    fleet = [{"instanceType": ["m6i.large", "c5.large"], "count": [1, 10, 50, 100, 200]}]
    build = {"type": "build", "build": "make", "expectedSeconds": 6000}
    planned = plan(matrix(storage=[EBS, EFS], workload=[TOUCH, build], fleet=fleet)).to_document()

    for file_system in planned["file_systems"]:
        cells = [cell for cell in planned["cells"] if cell["file_system"] == file_system["id"]]
        turns = sum(cell["deadline_s"] // cell["poll_s"] + 1 for cell in cells)
        assert 9 * turns + 50 * len(cells) <= 0.8 * 25_000
        assert all(cell["poll_s"] >= 10 for cell in cells)


def test_a_run_takes_as_long_as_its_busiest_lane():
    assert makespan_s([5, 4, 3, 3], at_once=2) == 8  # 5 + 3 and 4 + 3: the third starts after 4, the fourth after 5
    assert makespan_s([5, 4], at_once=10) == 5
    assert makespan_s([5, 4], at_once=1) == 9


def test_a_file_system_is_looked_at_again_after_a_quarter_of_what_it_has_taken():
    assert [poll_again_s(waited_s) for waited_s in (0, 19, 60, 3600)] == [5, 5, 15, 30]
