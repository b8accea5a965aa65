"""Whatever lies on the blackboard instead of a document, Poll fleet and Analyse cell go on or name the bad object."""

import gzip
import json
import time

import pytest
from support.function_events import RUN
from support.launched_cell import FLEET, launch_cell
from support.tiers import first_is_quick

import analyse_cell
import poll_fleet
from aws.records import bucket
from aws.stack.clients import client
from matrix.terms.errors import InstanceFailed, InvalidDocument, InvalidSamples
from matrix.terms.keys import Board

HOSTILE = {
    "nothing": b"",
    "zeros": b"\x00" * 4096,
    "no UTF-8": b"\xff\xfe\x80",
    "brackets without end": b"[" * 200_000,
    "cut off": b'{"schema": 1, "run": "r',
    "NaN": b'{"step": NaN, "instances": Infinity}',
    "a number of 5,000 digits": b'{"step": ' + b"9" * 5000 + b"}",
    "a list": b"[1, 2]",
    "another form": b'{"instances": {"a": [null]}, "steps": "x", "step": {}, "samples": 5, "error": [], "message": {}}',
    "an escape sequence": json.dumps({"error": "\x1b[2J", "message": "\x1b]0;title\x07"}).encode(),
    "a bomb": gzip.compress(b"[" * 50_000_000, 1),
}  # fmt: skip
# What an instance may write below its own name: each that an agent writes, and those that functions write elsewhere.
UPLOADS = [
    "ready-0000", "heartbeat", "done.json", "failed.json", "samples.json", "log.gz", "raw/p01-r1.histograms.json",
    "raw/p01-r1.series.json", "job.json", "gate.json", "fleet.json", "result.json", "ready-" + "9" * 500, "\x1b[2J",
]  # fmt: skip


@pytest.fixture
def cell(stack, context):
    """A cell that was launched just now, both instances of which have uploaded all that an instance may."""
    return launch_cell(context, time.time())


@pytest.fixture
def board(cell):
    """The blackboard of the cell."""
    return Board.of_cell(RUN, cell["id"])


def put(key, body):
    """Write an object, whatever it is."""
    client("s3").put_object(Bucket="results", Key=key, Body=body)


@pytest.mark.parametrize("name", first_is_quick(UPLOADS), ids=lambda name: repr(name[:30]))
def test_poll_fleet_goes_on_whatever_an_instance_writes(cell, board, context, name):
    for body in HOSTILE.values():
        put(f"{board.instances}AROA:i-1/{name}", body)

        try:
            polled = poll_fleet.handler({"run": RUN, "cell": cell["id"], "poll_s": 10}, context)
        except InstanceFailed as failed:
            # Whoever writes failed.json has failed, whatever it says.
            assert name == "failed.json"
            assert "i-1" in str(failed)
            assert str(failed).isprintable()
        else:
            assert polled["state"] in ("waiting", "running")


@pytest.mark.parametrize("name", [name for name in UPLOADS if name.startswith("raw/")])
def test_analyse_cell_names_the_raw_file_that_it_leaves_out(cell, board, context, name):
    for body in HOSTILE.values():
        put(f"{board.instances}AROA:i-1/{name}", body)

        analyse_cell.handler({"run": RUN, "cell": cell["id"]}, context)

        [warning] = [text for text in bucket.get(board.result)["warnings"] if "left out" in text]
        assert f"i-1, {name.removeprefix('raw/')}: " in warning
        assert warning.isprintable()


@pytest.mark.parametrize("damage", first_is_quick(HOSTILE))
def test_analyse_cell_refuses_samples_by_their_instance(cell, board, context, damage):
    put(f"{board.instances}AROA:i-1/samples.json", HOSTILE[damage])

    with pytest.raises(InvalidSamples, match=r"i-1\): samples.json") as refused:
        analyse_cell.handler({"run": RUN, "cell": cell["id"]}, context)

    assert str(refused.value).isprintable()


def test_analyse_cell_reads_no_other_upload(cell, board, context):
    for body in HOSTILE.values():
        for name in set(UPLOADS) - {"samples.json"}:
            if not name.startswith("raw/"):
                put(f"{board.instances}AROA:i-1/{name}", body)

        analysed = analyse_cell.handler({"run": RUN, "cell": cell["id"]}, context)

        assert analysed["state"] == "measured"


@pytest.mark.parametrize("document", ["job", "gate", "fleet"])
@pytest.mark.parametrize("damage", first_is_quick(HOSTILE))
def test_poll_fleet_says_which_document_of_ours_is_damaged(cell, board, context, document, damage):
    key = getattr(board, document)
    put(key, HOSTILE[damage])

    with pytest.raises(InvalidDocument) as refused:
        poll_fleet.handler({"run": RUN, "cell": cell["id"], "poll_s": 10}, context)

    assert str(refused.value).startswith(key)
    assert str(refused.value).isprintable()


@pytest.mark.parametrize("damage", first_is_quick(HOSTILE))
def test_analyse_cell_says_that_the_record_of_the_fleet_is_damaged(cell, board, context, damage):
    put(board.fleet, HOSTILE[damage])

    with pytest.raises(InvalidDocument) as refused:
        analyse_cell.handler({"run": RUN, "cell": cell["id"]}, context)

    assert str(refused.value).startswith(board.fleet)


def test_an_object_of_no_instance_of_the_fleet_changes_nothing(cell, board, context):
    for name in ("samples.json", "failed.json", "done.json", "raw/p01-r1.series.json"):
        put(f"{board.instances}AROA:i-9/{name}", b"x")

    analyse_cell.handler({"run": RUN, "cell": cell["id"]}, context)

    assert (
        bucket.get(board.result)["points"][0]["metrics"]["files_per_s"]["n"]
        == len(FLEET) * cell["steps"][-1]["repetition"]
    )
