"""Copying many files with the real tools, and what happens when a tool lies about it."""

from __future__ import annotations

import gzip
import os
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
from support.agent_cloud import needs

from agent.errors import SourceDoesNotFit
from agent.machine import counters
from agent.workloads import data_set, transfer
from agent.workloads.data_set import DataSet
from matrix.input.workloads.sizes import total_bytes

FILES, FILE_BYTES = 40, 3_000


def transfer_params(**changes):
    return {"tool": "cp", "files": FILES, "file_bytes": FILE_BYTES, "threads": 4, **changes}


@pytest.fixture
def plain_storage(tmp_path):
    """fpsync copies nothing where a path has a quote, as the storage of the other tests has."""
    folder = tmp_path / "storage"
    folder.mkdir()
    return folder


@needs("fpsync")
@needs("rsync")
def test_fpsync_copies_the_whole_data_set(measured, plain_storage):
    workload = {"type": "transfer", "tool": "fpsync", "files": FILES, "fileSize": FILE_BYTES, "threads": 4}

    [sample], _ = measured(workload, mount={"kind": "directory", "path": str(plain_storage)})

    assert sample["work"] == {"bytes": FILES * FILE_BYTES}
    assert sample["workers"] == 4
    assert list(plain_storage.iterdir()) == []


@pytest.mark.parametrize(
    ("sizes", "median", "largest"),
    [("exponential", 0.69, 8), ("lognormal 1.5", 0.333, 32), ("1024:75 13312:25", 0.25, 3.25)],
)
def test_sizes_of_a_distribution_have_its_mean_and_are_the_same_on_each_instance_and_in_the_plan(
    sizes, median, largest, tmp_path_factory
):
    sets = [data_set.provide(tmp_path_factory.mktemp(name), 2_000, 4096, sizes) for name in ("a", "b")]

    assert sets[0].file_sizes == sets[1].file_sizes
    assert sets[0].total_bytes == total_bytes(2_000, 4096, sizes) == pytest.approx(2_000 * 4096, rel=0.01)
    assert 1 <= min(sets[0].file_sizes) <= max(sets[0].file_sizes) <= largest * 4096
    assert sorted(sets[0].file_sizes)[1_000] == pytest.approx(median * 4096, rel=0.02)
    made = [(sets[0].folder / name).stat().st_size for name in sets[0].paths()]
    assert made == sets[0].file_sizes
    others = DataSet(tmp_path_factory.getbasetemp(), 2_000, 4096, f"{sizes} seed 7")
    assert others.file_sizes != sets[0].file_sizes
    assert others.total_bytes == pytest.approx(sets[0].total_bytes, rel=0.01)


def test_a_copy_that_takes_seconds_keeps_its_rate_over_time(sampled, instance, storage, fake_tool, bin_folder):
    fake_tool("cp", f'sleep 2.1; exec {shutil.which("cp")} "$@"')
    [sample] = sampled("transfer", [transfer_params()], env={"PATH": f"{bin_folder}:{os.environ['PATH']}"})

    assert sample["raw"] == []
    if "disk_write_bytes" in counters.of_storage(storage):  # not so in memory or in a container's layers
        curve = instance.document("latencies-0000.json.gz")["curves"]["p01-r1"]
        assert len(curve["counted"]["disk_write_bytes"]) == len(curve["seconds"]) >= 4
        assert "operations" not in curve


def test_threads_that_nobody_gave_are_four_for_each_processor():
    assert transfer.threads_of(transfer_params(tool="fpsync", threads=None)) == 4 * os.cpu_count()
    assert transfer.threads_of(transfer_params(tool="fpsync", threads=7)) == 7
    assert transfer.threads_of(transfer_params(tool="cp", threads=7)) == 1


def test_the_data_set_is_made_once_for_all_steps_of_an_instance(cloud, instance, make_job):
    job = make_job("transfer", [transfer_params()])
    job["steps"] = [{"point": "p01", "repetition": n} for n in (1, 2)]
    cloud.put("job.json", job)

    assert instance.run() == 0

    first, second = instance.samples()
    assert first["tool"]["argv"][2] == second["tool"]["argv"][2]  # the source
    assert not Path(first["tool"]["argv"][2]).exists()  # and nothing is left of it


def test_a_data_set_has_the_shape_that_was_asked_for_and_does_not_compress(tmp_path):
    found = data_set.provide(tmp_path, 501, 2_000)

    paths = [path for path in found.folder.rglob("*") if path.is_file()]
    assert {str(path.relative_to(found.folder)) for path in paths} == set(found.paths())
    assert {path.stat().st_size for path in paths} == {2_000}
    assert {len(list(folder.iterdir())) for folder in found.folder.iterdir()} == {500, 1}
    assert len({path.name for path in paths}) == 501
    content = b"".join(path.read_bytes() for path in paths)
    assert len(gzip.compress(content, 9)) > 0.99 * len(content)


def test_a_data_set_that_was_left_half_made_is_made_anew(tmp_path):
    (tmp_path / "unfinished-3x100" / "d00000").mkdir(parents=True)
    (tmp_path / "unfinished-3x100" / "d00000" / "f00000007").write_bytes(b"old")

    found = data_set.provide(tmp_path, 3, 100)

    assert sorted(path.name for path in found.folder.rglob("f*")) == ["f00000000", "f00000001", "f00000002"]


@pytest.mark.parametrize(
    ("disk", "message"),
    [
        ({"f_bavail": 1_000}, "needs .* bytes .*, 4096000 are free"),
        # 10 files of 1 MB are 245 blocks each; with the inodes and what must stay free.
        ({"f_bavail": 18_835}, "needs 77149184 bytes .*, 77148160 are free"),
        ({"f_favail": 10, "f_files": 100}, "needs 12 inodes .*, 10 are free"),
    ],
)
def test_a_data_set_beyond_the_free_disk_is_refused_before_a_file_is_made(tmp_path, monkeypatch, disk, message):
    known = {"f_frsize": 4096, "f_bavail": 18_836, "f_files": 0, "f_favail": 0}
    monkeypatch.setattr(os, "statvfs", lambda _: SimpleNamespace(**known))
    assert data_set.provide(tmp_path / "fits", 10, 1_000_000)
    monkeypatch.setattr(os, "statvfs", lambda _: SimpleNamespace(**known | disk))

    with pytest.raises(SourceDoesNotFit, match=message):
        data_set.provide(tmp_path, 10, 1_000_000)


def test_a_large_data_set_has_few_blocks_twice(monkeypatch):
    """A pool, and what it serves, of a 256th: so many of it come twice as of the real one."""
    monkeypatch.setattr(data_set, "POOL_BYTES", 1 << 18)
    monkeypatch.setattr(data_set, "POOL_SERVES_BYTES", 1 << 25)
    content = data_set._RandomBytes()
    blocks = [bytes(content.take(4096)) for _ in range(1 << 15)]

    assert len(set(blocks)) > 0.97 * len(blocks)


LIES = {
    # What a broken copy does after the real one, and what the sample's failure says.
    "a byte differs": ('printf x | dd of="$one" bs=1 seek=99 conv=notrunc 2>/dev/null', "differs from what was"),
    "a file is short": ('truncate -s 10 "$one"', "40 of 40 files with 117010 of 120000 bytes"),
    "a file is missing": ('rm "$one"', "39 of 40 files with 117000 of 120000 bytes"),
    "a file has another name": ('mv "$one" "$one-x"', "d00000/f00000007 is not there"),
    "nothing was copied": ('rm -r "$4"/*', "0 of 40 files with 0 of 120000 bytes"),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_tampered_destination_fails_the_sample(failure, instance, fake_tool, bin_folder, lie):
    tampering, said = LIES[lie]
    real = shutil.which("cp")
    fake_tool("cp", f'{real} "$@" || exit; set -- x "$@"; one="$4/d00000/f00000007"; {tampering}')
    failed = failure("transfer", [transfer_params()], env={"PATH": f"{bin_folder}:{os.environ['PATH']}"})

    assert failed["error"] == "WorkIncomplete"
    assert said in failed["message"]
    assert not instance.has("samples.json")


@needs("fpsync")
@needs("rsync")
def test_fpsync_is_not_given_a_folder_that_its_shell_would_read_a_command_from(failure, instance):
    # The real one, and a storage with a quote in its name: it would complete without error and have copied nothing.
    failed = failure("transfer", [transfer_params(tool="fpsync")])

    assert failed["error"] == "ToolFailed"
    assert "use a folder of letters" in failed["message"]
    assert not instance.has("samples.json")


def test_a_data_set_on_the_storage_itself_is_said_in_the_sample(tmp_path):
    assert "same file system" in transfer.same_disk(tmp_path, tmp_path)[0]
    assert transfer.same_disk(tmp_path, Path("/proc")) == []


def test_the_published_command_lines_are_written_literally(tmp_path):
    def line(tool):
        return " ".join(transfer.copy_argv(tool, Path("/ebs/data-1m"), Path("/efs/x"), 32, Path("/tmp/s")))

    assert line("rsync") == "rsync -r /ebs/data-1m/ /efs/x"
    assert line("fpsync") == "fpsync -n 32 -v -t /tmp/s/fpsync /ebs/data-1m/ /efs/x/"
    assert 'find "$1" -type f | parallel --will-cite -q -j "$3" cp {} "$2"' in line("cp+parallel")
    assert "--pipepart --round-robin --delay .1 --block 1M" in line("fpart+cpio+parallel")
    assert "fpart -z -n 1 -o" in line("fpart+cpio+parallel")
