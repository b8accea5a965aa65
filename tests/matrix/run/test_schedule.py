"""Names of scheduled runs, and which runs of a matrix were before."""

from matrix.run import schedule


def test_a_run_is_named_by_its_matrix_and_its_time_in_utc():
    assert schedule.run_name("nightly", "2026-11-25T01:30:00Z") == "nightly-20261125-013000"


def test_a_scheduled_run_is_told_from_those_of_hands_and_of_other_matrices():
    assert schedule.is_scheduled("nightly", "nightly-20261125-013000")
    for other in ("nightly-20261125-013000-4f", "nightly-big-20261125-013000", "nightly-baseline", "nightly"):
        assert not schedule.is_scheduled("nightly", other)


def test_runs_before_are_newest_first_and_of_the_same_matrix_only():
    runs = [
        "nightly-20261123-013000", "nightly-20261124-090000-4f", "nightly-20261125-013000", "nightly-20261126-013000",
        "nightly-big-20261124-013000", "nightly-baseline",
    ]  # fmt: skip

    assert schedule.before("nightly", "nightly-20261125-013000", runs) == [
        "nightly-20261124-090000-4f", "nightly-20261123-013000",
    ]  # fmt: skip
