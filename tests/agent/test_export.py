"""Files that become objects: written to a folder, put into a real S3 server (moto) by somebody else, and looked for."""

from __future__ import annotations

import json
import threading
import time

import pytest
from moto.core import DEFAULT_ACCOUNT_ID
from moto.s3.models import s3_backends
from support.agent_cloud import BUCKET, REGION
from support.matrices import S3_FILES

from agent.engine import exports, worker_pool

MARK = "owners/fs-1"


@pytest.fixture
def exporting(cloud, storage):
    """Somebody who puts each file of the storage into the bucket, DELAY_S after it was written."""
    cloud.s3.put_object(Bucket=BUCKET, Key=MARK, Body=json.dumps({"prefix": "p/"}).encode())
    over = threading.Event()

    def run() -> None:
        done = set()
        while not over.wait(0.1):
            for path in storage.rglob("*"):
                if path not in done and path.is_file() and time.time() - path.stat().st_mtime > DELAY_S:
                    done.add(path)
                    cloud.s3.put_object(Bucket=BUCKET, Key=f"p/{path.relative_to(storage)}", Body=path.read_bytes())

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    yield
    over.set()
    thread.join()


DELAY_S = 2.0


def mount_of(storage):
    where = {"bucket": BUCKET, "mark": MARK, "region": REGION}
    return {"kind": "directory", "path": str(storage), "exported_to": where}


def test_a_file_takes_from_its_close_until_a_listing_shows_it(measured, storage, exporting):
    workload = {"type": "export", "files": 6, "fileSize": 5_000, "threads": 2, "atMostSeconds": 60}

    [sample], _ = measured(workload, S3_FILES, mount_of(storage))

    metrics = sample["metrics"]
    assert DELAY_S <= metrics["visible_p50_s"] <= metrics["visible_p90_s"] * 1.01
    assert metrics["visible_p90_s"] <= metrics["visible_p100_s"] * 1.01
    assert metrics["visible_p100_s"] <= metrics["duration_s"]
    assert sample["work"] == {"files": 6, "write_bytes": 30_000}


def test_files_that_become_no_objects_in_time_fail_the_sample():
    with pytest.raises(exports.NotVisible, match="1 of 2 files"):
        exports.wait_until_visible({"0": 1, "1": 1}, lambda: {"0": 5}, 5, until_ns=time.monotonic_ns() - 1)


def test_an_object_of_another_size_is_not_yet_the_file(monkeypatch):
    pages = [{"0": 3}, {}, {"0": 5}]
    monkeypatch.setattr(exports.time, "sleep", lambda _s: None)

    seen = exports.wait_until_visible(
        {"0": 1}, lambda: pages.pop(0), 5, until_ns=time.monotonic_ns() + worker_pool.SECOND_NS * 60
    )

    assert seen.keys() == {"0"}
    assert pages == []


def test_as_many_files_as_a_thread_may_have_are_one_page_beside_the_object_of_their_directory(cloud):
    cloud.s3.put_object(Bucket=BUCKET, Key="p/0/", Body=b"")
    # As requests they would take 10 s of processor time.
    for number in range(1_000):
        s3_backends[DEFAULT_ACCOUNT_ID]["aws"].put_object(BUCKET, f"p/0/{number}", b"x")

    listed = exports.object_sizes(cloud.s3, BUCKET, "p/0/")

    assert listed == {str(number): 1 for number in range(1_000)}
