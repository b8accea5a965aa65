"""Storages that nobody can write, and those whose server takes root's rights: what works there, and what is named."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

import pytest
from support.agent_cloud import ROOT
from support.closed import read_only, root_without

THERE = {"cache/other": "of a folder with the name of the default", "letters/a": "from a", "todo": "nothing"}
POINT = {"name": "reads", "prepare": None, "populate": None, "jobs": 1, "cache_path": None, "container": None}
FROM_ROOT = 'test "$(cat "$CACHE_DIR"/todo "$CACHE_DIR"/letters/a)" = "nothingfrom a"'
FROM_FOLDER = 'test "$(cat "$CACHE_DIR"/a)" = "from a"; echo made > made'
LOCAL = {"workDirectory": "local", "buildDirectory": "local"}


@pytest.fixture
def closed(storage):
    """The Python of an agent for which the storage is a read-only mount, with some files on it."""
    for path, text in THERE.items():
        file = Path(f"{storage}.content") / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return read_only(storage)


@pytest.fixture
def job_on_it(make_job, storage):
    """A job of commands on a storage that is only read."""

    def make(kind, *points):
        mount = {"kind": "directory", "path": str(storage), "is_read_only": True}
        return make_job(kind, [{**POINT, **point} for point in points], mount=mount, workload={"type": kind, **LOCAL})

    return make


@pytest.mark.parametrize("kind", ["command", "build"])
def test_it_is_read_from_its_root_or_from_the_folder_that_the_matrix_names(cloud, instance, job_on_it, closed, kind):
    cloud.put("job.json", job_on_it(kind, {kind: FROM_ROOT}, {kind: FROM_FOLDER, "cache_path": "letters"}))

    assert instance.run(closed) == 0

    assert len(instance.samples()) == 2


def test_a_folder_that_it_lacks_is_named_beside_those_that_it_has(cloud, instance, job_on_it, closed):
    cloud.put("job.json", job_on_it("command", {"command": "true", "cache_path": "letters/2026"}))

    assert instance.run(closed) == 1

    failed = instance.document("failed.json")
    assert failed["error"] == "CacheMissing"
    assert "letters/2026" in failed["message"]
    assert "cache, letters, todo" in failed["message"]


def test_a_run_that_has_to_write_names_a_storage_that_is_closed(failure, storage, closed):
    assert (
        failure(mount={"kind": "directory", "path": str(storage), "folder": "storage-matrix-run"}, python=closed)[
            "error"
        ]
        == "StorageReadOnly"
    )


@pytest.mark.parametrize(("how", "mode"), [({"folder": "storage-matrix-run"}, 0o755), ({"is_read_only": True}, 0o700)])
def test_a_server_that_squashes_root_is_named_where_that_user_may_not_write_or_read(
    failure, storage, tmp_path, how, mode
):
    python = root_without(tmp_path, "dac_override", "dac_read_search")
    os.chown(storage, 4711, 4711)
    storage.chmod(mode)
    mount = {"kind": "directory", "path": str(storage), **how}
    workload = {"type": "command", **LOCAL}
    failed = failure("command", [{**POINT, "command": "true"}], mount=mount, workload=workload, python=python)

    assert failed["error"] == "RootSquashed"


def test_a_tool_that_fails_where_root_is_squashed_says_so(failure, storage, tmp_path):
    """As cpio and fpsync do, which keep the owners of what they copy."""
    python = root_without(tmp_path, "chown")
    folder = storage / "storage-matrix-run"
    folder.mkdir()
    os.chown(folder, 4711, 4711)
    mount = {"kind": "directory", "path": str(storage), "folder": folder.name}
    failed = failure("command", [{**POINT, "command": "chown 1000 ."}], mount=mount, python=python)

    assert failed["error"] == "ToolFailed"
    assert "root is user 4711 on this storage (root_squash)" in failed["message"]


@pytest.mark.parametrize(
    ("squashed_to", "owner", "error"),
    [
        (65_534, 65_534, "RootSquashed"),
        # Made by another machine, and closed to the user that root is mapped to.
        (65_534, 0, "RootSquashed"),
        # Root without the right to give files away, as on an immutable folder: nobody's server maps it.
        (0, 65_534, "ToolFailed"),
        (0, 0, "ToolFailed"),
        # Mountpoint shows all files as those of the user that its command names, and refuses chown.
        (0, 1000, ""),
    ],
)
def test_only_a_server_that_maps_root_to_another_user_is_reported_as_root_squash(tmp_path, squashed_to, owner, error):
    python = root_without(tmp_path, "chown")
    # As a server of NFS does: the file system takes root for the other user.
    code = (
        "import ctypes, pathlib, sys; from agent.programs import containers; libc = ctypes.CDLL(None);"
        f" libc.setfsuid({squashed_to}); containers.make_writable(pathlib.Path(sys.argv[1]))"
    )

    # Of pytest's folders other users see nothing.
    with tempfile.TemporaryDirectory() as place:
        Path(place).chmod(0o711)
        folder = Path(place) / "cache"
        folder.mkdir(mode=0o755)
        os.chown(folder, owner, owner)
        done = subprocess.run([python, "-c", code, str(folder)], capture_output=True, text=True, check=False, cwd=ROOT)

    assert (done.returncode != 0) == bool(error)
    assert error in done.stderr
