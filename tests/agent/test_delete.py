"""Deleting many files, by rm under GNU parallel and by the engine."""

from __future__ import annotations

import pytest

from agent.errors import WorkIncomplete
from agent.workloads import delete

PARAMS = {"files": 60, "file_bytes": 10, "directories": 3, "tool": "engine", "threads": None}


def test_the_published_line_deletes_directories_eight_at_once_for_each_processor():
    assert delete.REMOVE_PARALLEL.endswith('ls -d */ | parallel --will-cite -j "$2" rm -r')
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


def test_files_that_cannot_be_made_are_told_with_the_reason(tmp_path, monkeypatch):
    """In /proc nobody can create a file, root neither: as on a storage that is full."""
    monkeypatch.setattr(delete.Path, "mkdir", lambda directory: directory.symlink_to("/proc/self"))

    with pytest.raises(WorkIncomplete, match=r"4 files .* could not all be made: .*d00000/f0-\d"):
        delete.make({"files": 4, "directories": 1, "file_bytes": 1}, tmp_path)
