"""Sweeps at the same time: the receipt is that of the sweep that began last, whoever ends last."""

import pytest
from botocore.exceptions import EndpointConnectionError
from support.function_events import RUN
from support.refusals import refusal

import reap
from aws.records import bucket, table
from aws.run import executions
from aws.storages.efs import cloud as efs
from aws.teardown import copies, receipts
from matrix.terms.sentences import receipt_sentence
from matrix.text.endings import describe_state

DENIED = refusal("UnauthorizedOperation", "DescribeSnapshots")


def receipt_of(run=RUN):
    in_bucket, row = bucket.get(f"runs/{run}/receipt.json"), table.receipt_row(run)
    assert in_bucket["sweep"] == {"at": float(row["sweep"]["at"]), "remaining": row["sweep"]["remaining"]}
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


def test_a_sweep_whose_receipt_is_complete_does_not_close_what_a_later_one_has_opened_again(planned, monkeypatch):
    settle = receipts.settle

    def settle_late(run):
        """Let the later sweep go from its beginning to its end before the earlier one notes its result."""
        receipt = settle(run)
        if receipt["sweep"]["at"] < 200:
            receipts.after_sweep(run, {"at": 200.25, "remaining": 1})
        return receipt

    monkeypatch.setattr(receipts, "settle", settle_late)
    receipts.after_sweep(RUN, {"at": 100.5, "remaining": 0})

    assert receipt_of()["sweep"] == {"at": 200.25, "remaining": 1}
    assert table.open_receipts() == [RUN]


@pytest.mark.parametrize(
    ("module", "name", "error"),
    [
        (copies, "_snapshots", DENIED),
        (type(efs), "copies", DENIED),
        (copies, "_snapshots", EndpointConnectionError(endpoint_url="https://ec2")),
    ],
)
def test_where_a_service_was_not_asked_nothing_says_that_all_is_gone_and_sweeps_ask_again_for_a_week(
    planned, context, monkeypatch, module, name, error
):
    def refuse(*_):
        raise error
        yield

    monkeypatch.setattr(executions, "status", lambda _arn: "ABORTED")
    monkeypatch.setattr(module, name, refuse)

    swept = reap.handler({}, context)

    assert list(swept["unasked"]) in (["ebs-snapshot"], ["efs-recovery-point"])
    assert not receipt_of()["is_complete"]
    assert table.open_receipts() == [RUN]
    [reason] = receipt_of()["unasked"]
    assert f"not searched: {reason}" in receipt_sentence(receipt_of())
    ended = {"status": "measured", "environment": "aws", "cells": [], "receipt": receipt_of()}
    assert describe_state(ended).endswith(f"not searched: {reason}")

    receipts.after_sweep(RUN, {"at": table.ended_at(RUN) + receipts.ASKED_AGAIN_FOR_S + 1, "remaining": 0})
    assert table.open_receipts() == []  # each open receipt makes each sweep longer
    assert not receipt_of()["is_complete"]


def test_a_run_whose_receipt_cannot_be_written_keeps_no_other_run_from_its_own(planned, context, monkeypatch):
    after_sweep = receipts.after_sweep

    def refuse_some(run, sweep):
        if run != RUN:
            raise EndpointConnectionError(endpoint_url="https://s3files.eu-south-2.api.aws/")
        after_sweep(run, sweep)

    monkeypatch.setattr(executions, "status", lambda _arn: "ABORTED")
    monkeypatch.setattr(receipts, "after_sweep", refuse_some)
    table._update("a-run-before", "PLAN", {"run": "a-run-before", "created_at": 1.0})
    table.reopen_receipt("a-run-before", 1.0)

    reap.handler({}, context)

    assert table.open_receipts() == ["a-run-before"]
