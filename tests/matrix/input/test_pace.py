"""How often cells are polled: the budget of history events, recomputed here from AWS's figures alone."""

from hypothesis import given
from hypothesis import strategies as st
from support.matrices import EBS, EFS, TOUCH, matrix, problems_of

from matrix.input.pace import Work, makespan_s, poll_interval_s
from matrix.plan.planning import plan


def events_of(works, poll_s):
    """History events if every cell runs until its deadline: 9 a poll turn, 50 a cell besides."""
    turns = sum(int(work.deadline_s(poll_s)) // poll_s + 1 for work in works)
    return 9 * turns + 50 * len(works)


@given(
    st.lists(
        st.builds(
            lambda seconds, steps, together: Work(seconds, steps, steps if together else 0),
            st.floats(0, 200_000),
            st.integers(1, 200),
            st.booleans(),
        ),
        min_size=1,
        max_size=100,
    )
)
def test_the_cells_of_a_file_system_never_fill_more_than_80_percent_of_the_history(works):
    poll_s = poll_interval_s(works)

    assert poll_s is None or (poll_s >= 10 and events_of(works, poll_s) <= 20_000)


def test_a_short_cell_is_polled_every_10_seconds():
    assert poll_interval_s([Work(seconds=60, steps=3, synchronised_steps=3)]) == 10


def test_a_day_long_build_is_polled_less_often():
    # 900 + 3 * (86,400 + 2) = 260,106 s and one barrier; 2,216 turns less 2: more than 117 s a turn.
    poll_s = poll_interval_s([Work(seconds=86_400, steps=1, synchronised_steps=1)])

    assert 117 <= poll_s <= 119


def test_steps_that_need_more_turns_than_there_are_cannot_be_polled():
    assert poll_interval_s([Work(0, 1_200, 1_200)]) is None  # 2 turns each, 2,216 in all


def test_a_matrix_whose_barriers_do_not_fit_into_one_history_is_refused():
    workload = TOUCH | {"threads": [2**i for i in range(11)]}

    found = problems_of(workload=[workload], fleet=[{"instanceType": "m6i.large", "count": [2, 4]}], repetitions=100)

    assert "2 per step" in found["repetitions"].rule


def test_every_planned_file_system_keeps_within_its_history():
    fleet = [{"instanceType": ["m6i.large", "c5.large"], "count": [1, 10, 50, 100, 200]}]
    build = {"type": "build", "build": "make", "expectedSeconds": 6000}
    planned = plan(matrix(storage=[EBS, EFS], workload=[TOUCH, build], fleet=fleet)).to_document()

    for file_system in planned["file_systems"]:
        cells = [cell for cell in planned["cells"] if cell["file_system"] == file_system["id"]]
        turns = sum(cell["deadline_s"] // cell["poll_s"] + 1 for cell in cells)
        assert 9 * turns + 50 * len(cells) <= 0.8 * 25_000
        assert len({cell["poll_s"] for cell in cells}) == 1


def test_a_run_takes_as_long_as_its_busiest_lane():
    assert makespan_s([5, 4, 3, 3], at_once=2) == 8  # 5 + 3 and 4 + 3: the third starts after 4, the fourth after 5
    assert makespan_s([5, 4], at_once=10) == 5
    assert makespan_s([5, 4], at_once=1) == 9
