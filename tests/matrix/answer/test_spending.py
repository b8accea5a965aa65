"""Receipts summed by owner, matrix and month."""

from datetime import UTC, datetime

import pytest

from matrix.answer.spending import spent


def run(owner, matrix, at, usd, *, is_complete=True, environment="aws"):
    """Plan and receipt of a run."""
    plan = {"owner": owner, "name": matrix, "created_at": at.timestamp(), "environment": environment}
    return plan, {"is_complete": is_complete, "totals": {"cost_usd": usd}}


NOVEMBER, DECEMBER = datetime(2026, 11, 30, 23, 59, tzinfo=UTC), datetime(2026, 12, 1, 0, 0, tzinfo=UTC)


def test_runs_of_one_owner_matrix_and_month_are_one_row_the_latest_month_and_the_dearest_first():
    rows = spent([
        run("a", "nightly", NOVEMBER, 1.25), run("a", "nightly", NOVEMBER, 2.5, is_complete=False),
        run("b", "nightly", NOVEMBER, 9.0), run("a", "builds", NOVEMBER, 0.5), run("a", "nightly", DECEMBER, 0.1),
    ])  # fmt: skip

    assert [(row["month"], row["owner"], row["matrix"], row["runs"], row["open"], row["cost_usd"]) for row in rows] == [
        ("2026-12", "a", "nightly", 1, 0, 0.1), ("2026-11", "b", "nightly", 1, 0, 9.0),
        ("2026-11", "a", "nightly", 2, 1, 3.75), ("2026-11", "a", "builds", 1, 0, 0.5),
    ]  # fmt: skip


def test_what_nobody_paid_for_is_in_no_sum_of_what_was_paid():
    rows = spent([run("a", "m", NOVEMBER, 1.0), run("a", "m", NOVEMBER, 2.0, environment="local")])

    assert {row["environment"]: row["cost_usd"] for row in rows} == {"aws": 1.0, "local": 2.0}


def test_cents_do_not_get_lost_in_a_year_of_runs():
    [row] = spent(run("a", "m", NOVEMBER, 0.0123) for _ in range(365))

    assert row["cost_usd"] == pytest.approx(365 * 0.0123)
