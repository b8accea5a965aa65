"""Reads of records end to end: a real agent process, real reads of real files, a folder as the storage."""

from __future__ import annotations

import ctypes
import mmap
import os
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from support.agent_cloud import BARRIER
from support.agent_reads import KIB, MIB, engine, read_params

from agent.engine import reads, records
from agent.errors import ToolFailed, WorkIncomplete
from agent.machine import counters
from agent.machine.workspace import Workspaces
from agent.mounts import describe
from agent.workloads import neighbours, read


def test_reads_that_take_seconds_keep_their_rate_over_time(sampled, instance, storage):
    # 32 requests, of which 12 are due in each second.
    [sample] = sampled("read", [read_params(rate_per_s_per_instance=12)])

    assert sample["raw"] == ["raw/p01-r1.histograms.json"]
    curve = instance.document("latencies-0000.json.gz")["curves"]["p01-r1"]
    # One reading before the start and one after the end: no operation is outside of them.
    assert curve["begun_at"] <= sample["work_started_at"] + 0.001
    assert curve["seconds"][-1] >= curve["operations"]["seconds"][-1]
    assert (curve["operations"]["done"][0], curve["operations"]["done"][-1]) == (0, 32)
    if "disk_read_bytes" in counters.of_storage(storage):  # not so in memory or in a container's layers
        read_bytes = curve["counted"]["disk_read_bytes"]
        assert len(read_bytes) == len(curve["seconds"]) >= 3
        assert read_bytes[0] == 0 < read_bytes[-1]


def data_path(params, folder):
    return Path(read.data_file(params, folder)["path"])


def test_each_instance_reads_the_data_of_one_other_and_nothing_of_it_is_left(tmp_path):
    fleet = {name: Workspaces(tmp_path, "run", "cell", name) for name in ("i-1", "i-2", "i-3")}
    params = read_params(data="neighbour")
    with ThreadPoolExecutor(3) as pool:
        places = {name: pool.submit(read.data_of_others, params, spaces.fresh(0), 3) for name, spaces in fleet.items()}
    chosen = {name: Path(place.result()["path"]) for name, place in places.items()}

    assert {name: path.name for name, path in chosen.items()} == {"i-1": "i-2", "i-2": "i-3", "i-3": "i-1"}
    assert {path.stat().st_size for path in chosen.values()} == {params["data_bytes"]}
    # Whoever is done leaves what others still read.
    fleet["i-2"].close()
    assert chosen["i-1"].exists()
    assert (
        engine(params, tmp_path, where={"reader": "file", "path": str(chosen["i-1"])})
        .tool["command"]
        .startswith("sequential preadv of 65536 bytes, O_DIRECT, of a neighbour's data")
    )
    for name in ("i-1", "i-3"):
        fleet[name].close()
    assert [path.name for path in tmp_path.iterdir()] == ["scratch"]


def test_all_instances_read_one_file_and_the_last_of_them_removes_it(tmp_path):
    fleet = {name: Workspaces(tmp_path, "run", "cell", name) for name in ("i-1", "i-2", "i-3")}
    params = read_params(data="shared")
    with ThreadPoolExecutor(3) as pool:
        places = [pool.submit(read.data_of_others, params, spaces.fresh(0), 3) for spaces in fleet.values()]
    [path] = {Path(place.result()["path"]) for place in places}

    assert path.stat().st_size == params["data_bytes"]
    written_at = path.stat().st_mtime_ns
    read.data_of_others(params, fleet["i-1"].fresh(1), 3)
    assert path.stat().st_mtime_ns == written_at
    for name in ("i-2", "i-1"):
        fleet[name].close()
        assert path.exists()
    fleet["i-3"].close()
    assert list(tmp_path.iterdir()) == []


def test_a_neighbour_that_does_not_come_fails_the_step_and_half_a_file_is_nobodys(tmp_path, monkeypatch):
    monkeypatch.setattr(neighbours, "TIMEOUT_S", 0)
    workspaces = Workspaces(tmp_path, "run", "cell", "i-1")
    workspace = workspaces.fresh(0)
    folder = workspace.target.parents[1] / "neighbours" / "data-neighbour"

    def break_off(path):
        path.write_text("half")
        raise WorkIncomplete("no room")

    with pytest.raises(WorkIncomplete, match="no room"):
        neighbours.data_of_neighbour(workspace, "data", 2, break_off)
    assert list(folder.iterdir()) == []
    (folder / ".i-2").write_text("half")
    with pytest.raises(WorkIncomplete, match="1 of 2 instances have written"):
        neighbours.data_of_neighbour(workspace, "data", 2, Path.touch)
    workspaces.close()


def test_a_fleet_of_two_reads_each_others_data(cloud, fleet, make_job, storage):
    instances = fleet(2)
    cloud.put("job.json", make_job("read", [read_params(data="neighbour")], instances=2, barrier=BARRIER))
    cloud.meet([instance.id for instance in instances])

    for instance in instances:
        instance.start()

    assert [instance.process.wait(60) for instance in instances] == [0, 0]
    assert all("of a neighbour's data" in instance.samples()[0]["tool"]["command"] for instance in instances)
    assert list(storage.iterdir()) == []


def test_data_that_does_not_fit_is_named_with_a_way_out(tmp_path):
    (tmp_path / "no-folder").write_text("")

    with pytest.raises(
        WorkIncomplete, match=r"2097152 bytes to read could not be written: .*; write a smaller dataSize"
    ):
        read.data_file(read_params(), tmp_path / "no-folder")


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (lambda data: data[: 8 * KIB] * 256, "record 0 was read where record"),
        (lambda data: bytes(len(data)), "there is no record"),
        (lambda data: bytes(byte ^ (n % (8 * KIB) == 8_000) for n, byte in enumerate(data)), "with another content"),
        (lambda data: data[: -32 * KIB], "the file ends within the request"),
    ],
    ids=["another record", "zeros", "a bit", "short"],
)
@pytest.mark.parametrize("mode", ["threads", "processes"])
def test_a_storage_that_returns_something_else_fails_the_sample(tmp_path, harm, said, mode):
    params = read_params(access="random", requests=256, request_bytes=8 * KIB)
    file = data_path(params, tmp_path)
    file.write_bytes(harm(file.read_bytes()))

    with pytest.raises(ToolFailed, match=said):
        engine(params, tmp_path, mode)


def test_random_reads_take_every_part_once_and_threads_share_them():
    params = read_params(access="random", requests=256)

    shares = reads.draw({**params, "seed": "p01/1"})

    assert [len(share) for share in shares] == [64] * 4
    drawn = [offset for share in shares for offset in share]
    assert sorted(drawn) == [number * 64 * KIB for number in range(256)] != drawn
    assert reads.draw({**params, "seed": "p01/1"}) == shares
    assert reads.draw({**params, "seed": "p01/2"}) != shares


def test_byte_offsets_lie_in_each_threads_own_stretch_and_may_repeat():
    # 4 stretches of 2 records and so 8,193 places each, 4,096 draws for each.
    params = read_params(
        access="random", request_bytes=8 * KIB, offsets="bytes", requests=4 * 4_096, data_bytes=64 * KIB
    )

    shares = reads.draw({**params, "seed": "p01/1"})

    assert [len(share) for share in shares] == [4_096] * 4
    stretches = [range(n * 16 * KIB, n * 16 * KIB + 8 * KIB + 1) for n in range(4)]
    assert all(offset in stretch for share, stretch in zip(shares, stretches, strict=True) for offset in share)
    assert any(len(set(share)) < len(share) for share in shares)
    assert any(offset % KIB for share in shares for offset in share)
    assert reads.draw({**params, "seed": "p01/1"}) == shares


@pytest.mark.parametrize("size", [8 * KIB, 64 * KIB, 10_000])
def test_bytes_from_any_offset_on_are_read_and_held_against_the_records_that_they_lie_in(tmp_path, size):
    params = read_params(access="random", request_bytes=size, offsets="bytes", caching="cached", requests=64)

    outcome = engine(params, tmp_path, "threads")

    assert outcome.metrics["requests_per_s"] * outcome.metrics["duration_s"] == pytest.approx(64)
    assert outcome.tool["checked_records"] == 64
    file = data_path(params, tmp_path)
    data = file.read_bytes()
    file.write_bytes(bytes(byte ^ (n % KIB == 1_000) for n, byte in enumerate(data)))
    with pytest.raises(ToolFailed, match="with another content"):
        engine(params, tmp_path, "threads")


def test_other_bytes_than_the_records_at_an_offset_have_are_told_from_them(tmp_path):
    params = read_params(access="random", request_bytes=8 * KIB, offsets="bytes", caching="cached", requests=4)
    plan = {**params, **read.data_file(params, tmp_path)}
    reader = reads.reader_of(plan)
    reader.read([5_000], [])
    content = bytes(reader.content)

    reads.check(plan, reader, 5_000, content)
    with pytest.raises(records.RecordWrong, match="at byte 5001 other bytes were read"):
        reads.check(plan, reader, 5_001, content)


def test_sequential_threads_read_one_part_after_the_other_in_stretches_of_their_own():
    # 4 threads, half of the data is read: 8 requests each of the 16 in each quarter.
    params = read_params(requests=32, data_bytes=64 * 64 * KIB)

    shares = reads.draw(params)

    assert shares == [[n * MIB + request * 64 * KIB for request in range(8)] for n in range(4)]


def test_a_large_read_is_one_system_call_and_each_of_its_records_is_checked_in_turn(tmp_path, monkeypatch):
    params = read_params(requests=64, request_bytes=MIB, threads=1)
    plan = {**params, **read.data_file(params, tmp_path)}
    calls, preadv = [], os.preadv
    monkeypatch.setattr(os, "preadv", lambda *asked: calls.append(asked[2]) or preadv(*asked))
    checked = []
    monkeypatch.setattr(reads.records, "check", lambda _, number: checked.append(number))

    stamps = reads.read_all(plan, reads.reader_of(plan), reads.draw(plan)[0])

    assert calls == [number * MIB for number in range(64)]
    assert len(stamps) == 65
    assert [number % 128 for number in checked] == list(range(64))


def test_records_know_their_number_and_are_incompressible():
    made = bytes(records.Records(8 * KIB).chunk(1_000, 512))

    for n in range(512):
        records.check(made[n * 8 * KIB : (n + 1) * 8 * KIB], 1_000 + n)
    # 128 KiB is what OpenZFS compresses at once by default, 1 MiB at most.
    assert all(len(zlib.compress(made[at : at + MIB])) > MIB for at in range(0, len(made), MIB))
    with pytest.raises(records.RecordWrong):
        records.check(made[: 8 * KIB], 1_001)


def test_what_cached_reads_have_read_ahead_of_their_time_is_given_back(tmp_path):
    params = read_params(caching="cached")
    plan = {**params, **read.data_file(params, tmp_path)}
    if _is_tmpfs(tmp_path):
        pytest.skip("memory has no cache in front of it")

    reads.measure_pilot(plan, reads.draw(plan)[0])

    assert _cached_pages(plan["path"]) == 0


def _is_tmpfs(path):
    return describe("directory", path).fstype == "tmpfs"


def _cached_pages(path):
    """How many pages of a file are in memory, as the kernel tells it (mincore)."""
    size = Path(path).stat().st_size
    with Path(path).open("r+b") as file, mmap.mmap(file.fileno(), size, prot=mmap.PROT_READ | mmap.PROT_WRITE) as view:
        held = (ctypes.c_ubyte * (size // mmap.PAGESIZE))()
        start = ctypes.c_char.from_buffer(view)
        libc = ctypes.CDLL(None, use_errno=True)
        said = libc.mincore(ctypes.c_void_p(ctypes.addressof(start)), ctypes.c_size_t(size), held)
        del start
        assert said == 0
        return sum(one & 1 for one in held)
