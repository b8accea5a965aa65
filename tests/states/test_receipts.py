"""Sweeps at the same time: the receipt is that of the sweep that began last, whoever ends last."""

import pytest
from support.function_events import RUN, load_event

import plan_matrix
from aws.records import bucket, table
from aws.teardown import receipts


@pytest.fixture
def planned(stack, context):
    """A run that is planned, and has created nothing."""
    plan_matrix.handler(load_event("plan_matrix"), context)


def receipt_of(run=RUN):
    in_bucket, row = bucket.get(f"runs/{run}/receipt.json"), table.receipt_row(run)
    assert (
        in_bucket["sweep"] == row["sweep"] == {"at": float(row["sweep"]["at"]), "remaining": row["sweep"]["remaining"]}
    )
    assert in_bucket["is_complete"] is row["is_complete"]
    return in_bucket


def test_a_sweep_that_began_earlier_and_ends_later_does_not_replace_the_receipt(planned):
    receipts.after_sweep(RUN, {"at": 200.25, "remaining": 0})

    receipts.after_sweep(RUN, {"at": 100.5, "remaining": 2})
    receipts.make(RUN, sweep=None)  # Analyse run, of a run that was stopped in this state

    assert receipt_of()["sweep"] == {"at": 200.25, "remaining": 0}
    assert receipt_of()["is_complete"]
    assert table.open_receipts() == []


def test_a_sweep_that_began_later_replaces_even_a_complete_receipt_and_has_it_visited_again(planned):
    receipts.after_sweep(RUN, {"at": 100.5, "remaining": 0})

    receipts.after_sweep(RUN, {"at": 200.25, "remaining": 1})

    assert receipt_of()["sweep"] == {"at": 200.25, "remaining": 1}
    assert table.open_receipts() == [RUN]


@pytest.mark.parametrize("written_first", ["receipt.json", "summary.json"])
def test_documents_that_a_later_sweep_has_written_meanwhile_are_not_those_of_the_earlier_one_at_the_end(
    planned, monkeypatch, written_first
):
    summary = {"run": RUN, "receipt": None, "left_behind": [], "file_systems": []}
    monkeypatch.setattr(bucket, "read", lambda *_: dict(summary))
    put = bucket.put

    def put_late(key, document):
        """Let the later sweep go first from its beginning to its end."""
        if key.endswith(written_first):
            monkeypatch.setattr(bucket, "put", put)
            receipts.after_sweep(RUN, {"at": 200.25, "remaining": 0})
        put(key, document)

    monkeypatch.setattr(bucket, "put", put_late)
    receipts.after_sweep(RUN, {"at": 100.5, "remaining": 2})

    assert receipt_of()["sweep"]["remaining"] == 0
    assert bucket.get(f"runs/{RUN}/summary.json")["receipt"] == receipt_of()
    assert table.open_receipts() == []
