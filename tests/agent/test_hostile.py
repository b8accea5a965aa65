"""No string of a job is ever a command: real agents, real tools, and a canary that no shell may touch."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.agent_cloud import dd_params, needs, parsed, touch_params

from agent.errors import JobInvalid

# The agents' environment says where it is: a name cannot hold the slashes of a path.
TOUCH = 'touch "$CANARY"'
HOSTILE_FOLDER = f"""a 'b' "c" $({TOUCH}) ;{TOUCH}; &`{TOUCH}` #*?~é!!\\"""
HOSTILE = [f"$({TOUCH})", f"`{TOUCH}`", f"1;{TOUCH}", f"1 | {TOUCH}", f"1 && {TOUCH}", f"1\n{TOUCH}", f"'; {TOUCH};'"]
FIO = {"options": {"rw": "write", "bs": "4k", "size": "64k", "ioengine": "psync", "time_based": 1, "runtime": 1}}
TRANSFER = {"tool": "cp", "threads": 2, "files": 4, "file_bytes": 1024}
TOOLS = [
    ("touch", touch_params(tool="touch", files=8), "touch"),
    ("touch", touch_params(tool="parallel", files=8), "parallel"),
    ("touch", touch_params(tool="parallel", files=8, directories="own"), "parallel"),
    ("touch", touch_params(files=8), "touch"),
    ("dd", dd_params(), "dd"),
    ("dd", dd_params(tool="parallel"), "parallel"),
    ("fio", FIO, "fio"),
    ("transfer", TRANSFER | {"tool": "rsync", "threads": 1}, "rsync"),
    ("transfer", TRANSFER | {"tool": "cp+parallel"}, "parallel"),
    ("transfer", TRANSFER | {"tool": "fpart+cpio+parallel"}, "fpart"),
]


@pytest.fixture
def canary(tmp_path: Path) -> Path:
    """The file that no shell may make."""
    return tmp_path / "canary"


@pytest.mark.parametrize(
    ("workload", "params"),
    [
        pytest.param(name, given, marks=needs(program), id=f"{name}-{given.get('tool', 'fio')}-{n}")
        for n, (name, given, program) in enumerate(TOOLS)
    ],
)
def test_every_tool_works_on_a_storage_whose_name_is_a_trap(
    cloud, instance, make_job, tmp_path, canary, workload, params
):
    # fio takes what follows these two for a comment.
    is_fio = workload == "fio"
    storage = tmp_path / (HOSTILE_FOLDER.translate({ord(one): None for one in ";#"}) if is_fio else HOSTILE_FOLDER)
    storage.mkdir()
    cloud.put("job.json", make_job(workload, [params], mount={"kind": "directory", "path": str(storage)}))

    code = instance.run(CANARY=str(canary))

    assert not canary.exists()
    assert code == 0


@needs("fpsync")
def test_fpsync_which_reads_its_paths_as_a_shell_is_not_started_on_such_a_storage(
    cloud, instance, make_job, tmp_path, canary
):
    storage = tmp_path / HOSTILE_FOLDER
    storage.mkdir()
    mount = {"kind": "directory", "path": str(storage)}
    cloud.put("job.json", make_job("transfer", [TRANSFER | {"tool": "fpsync"}], mount=mount))

    code = instance.run(CANARY=str(canary))

    assert not canary.exists()
    assert (code, instance.document("failed.json")["error"]) == (1, "ToolFailed")


@pytest.mark.parametrize("name", ["run", "cell"])
@pytest.mark.parametrize("value", [*HOSTILE, "..", "a/../b", "-rf"])
def test_a_job_whose_names_could_be_more_than_names_is_refused(make_job, name, value):
    with pytest.raises(JobInvalid, match=f"{name}: "):
        parsed(make_job() | {name: value})


@needs("fio")
@pytest.mark.parametrize("option", ["size", "ioengine", "buffer_pattern"])
@pytest.mark.parametrize("value", HOSTILE)
def test_no_option_of_fio_is_ever_a_command(cloud, instance, make_job, canary, option, value):
    cloud.put("job.json", make_job("fio", [{"options": FIO["options"] | {option: value}}]))

    code = instance.run(CANARY=str(canary))

    assert not canary.exists()
    # `1;…` is 1 and a comment to fio, all others are nonsense to it.
    is_comment = option == "buffer_pattern" and value.startswith("1;")
    assert (code, instance.has("failed.json")) == ((0, False) if is_comment else (1, True))
