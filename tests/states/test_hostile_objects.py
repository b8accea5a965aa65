"""Whatever lies on the blackboard instead of a document, Poll fleet and Analyse cell go on or name the bad object."""

import time

import pytest
from support.function_events import RUN
from support.hostile import HOSTILE
from support.launched_cell import FLEET, launch_cell

import analyse_cell
import analyse_run
import poll_cache
import poll_fleet
from aws.fleet import watching
from aws.records import bucket
from aws.stack.clients import client
from contract.keys import RAW_LETTER
from matrix.terms.errors import CacheFailed, InstanceFailed, InvalidDocument, InvalidSamples
from matrix.terms.keys import Board

# What an instance may write below its own name: each that an agent writes, and those that functions write elsewhere.
UPLOADS = [
    "heartbeat", "done.json", "failed.json", "samples.json", "log.gz", "latencies-0000.json.gz",
    "raw/p01-r1.histograms.json", "job.json", "meet/0/gates/0000.json", "fleet.json",
    "result.json", "9" * 500, "\x1b[2J",
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


def test_a_poll_lists_every_name_that_means_anything_and_nothing_that_was_measured(stack):
    for name in UPLOADS[:7]:
        put(f"runs/w/instances/AROA:i-1/{name}", b"{}")

    listed = {key.rpartition("/")[2] for key, _ in bucket.listing("runs/w/instances/", RAW_LETTER)}

    assert listed == {"heartbeat", "done.json", "failed.json", "samples.json", "log.gz", "latencies-0000.json.gz"}


@pytest.mark.slow
def test_poll_fleet_goes_on_whatever_an_instance_writes(cell, board, context):
    kept = {key: bucket.get_bytes(key) for key, _ in bucket.listing(board.instances)}
    # A fleet that has failed once stays so.
    for name in sorted(UPLOADS, key=lambda name: name == "failed.json"):
        key = f"{board.instances}AROA:i-1/{name}"
        for body in HOSTILE.values():
            put(key, body)

            try:
                polled = poll_fleet.handler({"run": RUN, "cell": cell["id"], "poll_s": 10}, context)
            except InstanceFailed as failed:
                # Whoever writes it has failed, whatever it says.
                assert name == "failed.json"
                assert "i-1" in str(failed)
                assert str(failed).isprintable()
            else:
                assert polled["state"] in ("waiting", "running"), name
        if key in kept:
            put(key, kept[key])
        else:
            client("s3").delete_object(Bucket="results", Key=key)


@pytest.mark.parametrize("name", [name for name in UPLOADS if name.startswith("raw/")])
def test_analyse_cell_names_the_raw_file_that_it_leaves_out(cell, board, context, name):
    for body in HOSTILE.values():
        put(f"{board.instances}AROA:i-1/{name}", body)

        analyse_cell.handler({"run": RUN, "cell": cell["id"]}, context)

        [warning] = [each["reason"] for each in bucket.get(board.result)["warnings"] if each["code"] == "unreadable"]
        assert f"i-1, {name.removeprefix('raw/')}: " in warning
        assert warning.isprintable()


def test_analyse_cell_refuses_samples_by_their_instance(cell, board, context):
    for body in HOSTILE.values():
        put(f"{board.instances}AROA:i-1/samples.json", body)

        with pytest.raises(InvalidSamples, match=r"samples.json: .* \(i-1\)$") as refused:
            analyse_cell.handler({"run": RUN, "cell": cell["id"]}, context)

        assert str(refused.value).isprintable()


def test_analyse_cell_reads_no_other_upload(cell, board, context):
    for body in HOSTILE.values():
        for name in set(UPLOADS) - {"samples.json"}:
            if not name.startswith("raw/"):
                put(f"{board.instances}AROA:i-1/{name}", body)

        analysed = analyse_cell.handler({"run": RUN, "cell": cell["id"]}, context)

        assert analysed["state"] == "measured"


@pytest.mark.parametrize("document", ["job", "fleet"])
def test_poll_fleet_says_which_document_of_ours_is_damaged(cell, board, context, document):
    key = getattr(board, document)
    for body in HOSTILE.values():
        put(key, body)

        with pytest.raises(InvalidDocument) as refused:
            poll_fleet.handler({"run": RUN, "cell": cell["id"], "poll_s": 10}, context)

        assert str(refused.value).startswith(key)
        assert str(refused.value).isprintable()


def test_analyse_cell_says_that_the_record_of_the_fleet_is_damaged(cell, board, context):
    for body in HOSTILE.values():
        put(board.fleet, body)

        with pytest.raises(InvalidDocument) as refused:
            analyse_cell.handler({"run": RUN, "cell": cell["id"]}, context)

        assert str(refused.value).startswith(board.fleet)


@pytest.fixture
def other_boards(cell, board):
    """The boards of the instance that fills a cache, and of one of which an image is made."""
    boards = Board.of_cache(RUN, "fs"), Board.of_image(RUN, "image")
    for other in boards:
        bucket.put(other.job, bucket.get(board.job) | {"barrier": None})  # one instance has nobody to meet
        bucket.put(other.fleet, bucket.get(board.fleet))
    return boards


@pytest.mark.parametrize("name", ["failed.json", "heartbeat"])
def test_a_cache_and_an_image_are_waited_for_whatever_their_instance_writes(other_boards, name):
    for body in HOSTILE.values():
        for other in other_boards:
            put(f"{other.instances}AROA:i-1/{name}", body)

            try:
                watched = watching.watch(other)
            except InstanceFailed as failed:
                assert name == "failed.json"
                assert str(failed).isprintable()
            else:
                assert watched.progress.state in ("waiting", "running")


@pytest.mark.parametrize("document", ["job", "fleet"])
def test_poll_cache_says_which_document_of_ours_is_damaged(other_boards, context, document):
    key = getattr(other_boards[0], document)
    for body in HOSTILE.values():
        put(key, body)

        with pytest.raises(CacheFailed) as failed:
            poll_cache.handler({"run": RUN, "file_system": "fs", "poll_s": 10}, context)

        assert key in str(failed.value)
        assert str(failed.value).isprintable()


def test_analyse_run_says_which_result_is_damaged(cell, board, context):
    for body in HOSTILE.values():
        put(board.result, body)

        with pytest.raises(InvalidDocument) as refused:
            analyse_run.handler({"run": RUN}, context)

        assert str(refused.value).startswith(board.result)


def test_an_object_of_no_instance_of_the_fleet_changes_nothing(cell, board, context):
    for name in ("samples.json", "failed.json", "done.json", "raw/p01-r1.series.json"):
        put(f"{board.instances}AROA:i-9/{name}", b"x")

    analyse_cell.handler({"run": RUN, "cell": cell["id"]}, context)

    assert (
        bucket.get(board.result)["points"][0]["metrics"]["files_per_s"]["n"]
        == len(FLEET) * cell["steps"][-1]["repetition"]
    )
