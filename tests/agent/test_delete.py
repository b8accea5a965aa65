"""Deleting many files, by rm under GNU parallel and by the engine."""

from __future__ import annotations

import shutil

import pytest

from agent.errors import WorkIncomplete
from agent.workloads import delete

PARAMS = {"files": 60, "file_bytes": 10, "directories": 3, "tool": "engine", "threads": None}
needs_parallel = pytest.mark.skipif(not shutil.which("parallel"), reason="parallel is not installed")


@pytest.mark.parametrize("tool", ["engine", pytest.param("parallel", marks=needs_parallel)])
def test_all_files_are_made_before_the_time_and_gone_after_it(cloud, instance, make_job, storage, tool):
    cloud.put("job.json", make_job("delete", [{**PARAMS, "tool": tool}]))

    assert instance.run() == 0

    [sample] = instance.samples()
    metrics = sample["metrics"]
    assert metrics["files_per_s"] * metrics["duration_s"] == pytest.approx(60)
    assert sample["work"] == {"files": 60}
    assert sample["tool"]["name"] == tool
    assert ("delete_lat_p50_us" in metrics) == (tool == "engine")
    assert list(storage.iterdir()) == []


def test_the_published_line_deletes_directories_eight_at_once_for_each_processor():
    assert delete.REMOVE_PARALLEL.endswith('ls -d */ | parallel --will-cite -j "$2" rm -r')
    assert delete.THREADS_PER_CPU == 8
    assert delete.tools(PARAMS) == set()
    assert delete.tools({**PARAMS, "tool": "parallel"}) == {"bash", "ls", "rm", "parallel"}


def test_files_lie_equally_many_in_each_directory_with_their_size(tmp_path):
    directories = delete.make({**PARAMS, "file_bytes": (1 << 20) + 7}, tmp_path)

    sizes = {folder: [file.stat().st_size for file in (tmp_path / folder).iterdir()] for folder in directories}
    assert {folder: (len(each), set(each)) for folder, each in sizes.items()} == {
        folder: (20, {(1 << 20) + 7}) for folder in directories
    }


def test_a_rm_that_leaves_a_file_is_incomplete(tmp_path):
    delete.make(PARAMS, tmp_path)

    with pytest.raises(WorkIncomplete, match="60 files are left"):
        delete._verify(tmp_path)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"files": 0}, "files"),
        ({"directories": "3; rm"}, "directories"),
        ({"tool": "rm"}, "tool"),
        ({"threads": 0}, "threads"),
    ],
)
def test_what_could_be_a_command_is_refused(changes, field):
    assert any(sentence.startswith(field) for sentence in delete.problems({**PARAMS, **changes}))
