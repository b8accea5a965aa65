"""Each file of a kept run is damaged in each way: who reads it names it and shows the rest, others do not care."""

import json
import os
import shutil
from fnmatch import fnmatch

import pytest
from support.kept_run import DAMAGE, write_interrupted_run, write_kept_run
from support.tiers import each_with_the_first, first_is_quick

from cli.target import documents
from local.keeping import runs

CELLS = "cells/*/result.json"
# What each command reads of a run, and words of what it shows although one of these is damaged.
READERS = {
    ("results", "r"): (["summary.json"], "1 × m6i.large"),
    ("results", "r", "--format", "json"): (["summary.json"], '"id": "ebs-gp3-200gib-3000iops.build.m6i.large-x2"'),
    ("results", "r", "--format", "csv"): (["summary.json"], "ebs-gp3-200gib-3000iops.build.m6i.large-x2,"),
    ("results", "r", "--format", "markdown"): (["summary.json"], "2 × m6i.large"),
    ("results", "r", "--published"): (["summary.json"], "run r"),
    ("results", "latest"): (["summary.json"], "1 × m6i.large"),
    ("report", "r"): (["summary.json", "plan.json", "receipt.json", "matrix.json", CELLS], "report.html"),
    ("compare", "r", "good", "--all"): (["summary.values.json"], "1 × m6i.large"),
    ("compare", "good", "r", "--all"): (["summary.values.json"], "1 × m6i.large"),
    ("runs",): (["summary.json", "execution.json"], "good"),
    # The rest is only measured once nothing is damaged: what is measured again must be known before.
    ("run", "--resume", "r", "--local", "--detach"): (["plan.json", "matrix.json", CELLS], ""),
}


@pytest.fixture
def kept(workdir):
    """Two kept runs, of which one is to be damaged."""
    for run in ("good", "r"):
        write_kept_run(workdir / "runs" / run, run)
    return workdir / "runs" / "r"


def files_of(folder):
    """The names of all files of a run."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def is_written(command, name):
    """Whether a command writes a file of a run."""
    return (command[0], name) == ("report", "report.html")


def restore(path, good):
    """Put a good file in place of a damaged one."""
    path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
    path.write_bytes(good.read_bytes().replace(b'"good"', b'"r"'))


def is_read(command, name):
    """Whether a command reads a file of a run."""
    return any(fnmatch(name, pattern) for pattern in READERS[command][0])


def assert_damage_is_named(matrix, command, file):
    """That the command fails, names the file, shows the rest, and no traceback."""
    said = matrix(*command)

    assert said.exit_code == 1, said.output
    assert f"{file} cannot be read: " in said.stderr
    assert READERS[command][1] in said.stdout
    assert "Traceback" not in said.output
    assert "unexpected" not in said.stderr


@pytest.mark.parametrize(("damage", "command"), each_with_the_first(DAMAGE, READERS, " ".join))
def test_a_command_names_the_damaged_file_and_shows_the_rest(kept, matrix, request, command, damage):
    if command[0] == "run":
        request.getfixturevalue("cloud")
    for name in [name for name in files_of(kept) if is_read(command, name)]:
        good = kept.with_name("good") / name
        DAMAGE[damage](kept / name)

        assert_damage_is_named(matrix, command, kept / name)

        restore(kept / name, good)
    assert matrix(*command).exit_code == 0


@pytest.mark.parametrize(
    ("damage", "command"), each_with_the_first(sorted(DAMAGE, key=lambda name: name != "a link"), READERS, " ".join)
)
def test_a_command_does_not_care_about_files_that_it_does_not_read(kept, matrix, request, command, damage):
    if command[0] == "run":
        request.getfixturevalue("cloud")
    for name in [name for name in files_of(kept) if not is_read(command, name) and not is_written(command, name)]:
        DAMAGE[damage](kept / name)

    assert matrix(*command).exit_code == 0


FIRST = "ebs-gp3-200gib-3000iops.build.m6i.large-x1"
# The same of a run that ended before its analysis. Of the cell whose result is damaged there is no more than its name.
INTERRUPTED = {
    ("results", "r"): (["plan.json", "execution.json", "matrix.json", CELLS], "interrupted"),
    ("results", "latest", "--all"): (["plan.json", "execution.json", "matrix.json", CELLS], "m6i.large"),
    ("results", "r", "--format", "json"): (["plan.json", "execution.json", "matrix.json", CELLS], FIRST),
    ("report", "r"): (["plan.json", "execution.json", "matrix.json", CELLS], "report.html"),
    ("compare", "r", "r"): (["plan.json", "execution.json", "matrix.json", CELLS], "Base r"),
    ("watch", "r"): (["plan.json", "execution.json", "rows.jsonl"], FIRST),
    ("runs",): (["execution.json"], "r"),
}


@pytest.mark.parametrize(("damage", "command"), each_with_the_first(DAMAGE, INTERRUPTED, " ".join))
def test_of_an_interrupted_run_the_damaged_file_is_named_and_the_rest_shown(workdir, matrix, command, damage):
    folder, spare = workdir / "runs" / "r", workdir / "spare"
    write_interrupted_run(spare, "r")
    read, shown = INTERRUPTED[command]
    for name in [name for name in files_of(spare) if any(fnmatch(name, pattern) for pattern in read)]:
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(spare, folder)
        DAMAGE[damage](folder / name)

        said = matrix(*command)

        assert said.exit_code == 1, said.output
        assert f"{folder / name} cannot be read: " in said.stderr
        assert shown in said.stdout, name
        assert "local" in said.stdout or command[0] in ("watch", "compare"), "these figures are of this machine"
        assert "Traceback" not in said.output
        assert "unexpected" not in said.stderr
        assert "region" not in said.stderr


@pytest.mark.parametrize("row", [
    b"[1]", b'{"SK": {"S": "CELL#c"}, "state": {"S": "running"}}', b'{"SK": {"S": "FS#f"}, "state": {"S": "gone"}}',
    b'{"SK": {"S": "CELL#c"}, "cell": {"L": []}, "state": {"S": "x"}}', b'{"SK": {"X": 1}}',
    b'{"SK": {"S": 5}, "state": 7}', b"\x00" * 300, b"[" * 200_000,
])  # fmt: skip
def test_a_damaged_row_is_counted_and_the_others_are_shown(workdir, matrix, row):
    write_interrupted_run(workdir / "runs" / "r", "r")
    rows = workdir / "runs" / "r" / "rows.jsonl"
    rows.write_bytes(row + b"\n" + rows.read_bytes())

    said = matrix("watch", "r")

    assert said.exit_code == 1
    assert f"{rows} cannot be read: 1 of its lines is damaged" in said.stderr
    assert f"cell {FIRST}: measured" in said.stdout
    assert "unexpected" not in said.stderr


@pytest.mark.parametrize("field", ["run", "cloud_pid", "cloud_started_ticks", "started_at", "error"])
def test_a_hostile_execution_stops_no_cloud_from_starting_and_leads_nowhere(workdir, tmp_path, field):
    folder = workdir / "runs" / "r"
    write_interrupted_run(folder, "r")
    hostile = {"run": "../../elsewhere", "status": "RUNNING", "started_at": 1.0, "ended_at": None, "error": "",
               "cause": "", "arn": "", "cloud_pid": 2**22 + 1, "cloud_started_ticks": 1}  # fmt: skip
    (folder / "execution.json").write_text(json.dumps({**hostile, **({} if field == "run" else {field: ["x"]})}))
    (workdir / "runs" / "linked").symlink_to(tmp_path)

    sentences = runs.close_interrupted(workdir / "runs")

    assert len(sentences) == (1 if field == "run" else 0)
    assert not (tmp_path / "elsewhere").exists()
    assert not (tmp_path / "execution.json").exists()


def test_a_pipe_in_place_of_a_file_is_named_rather_than_read_for_ever(kept, matrix):
    (kept / "summary.json").unlink()
    os.mkfifo(kept / "summary.json")

    assert_damage_is_named(matrix, ("results", "r"), kept / "summary.json")


OF_OBJECTS = ["truncated", "emptied", "random bytes", "a list", "brackets without end"]


@pytest.mark.parametrize("has_folder", [False, True], ids=["bucket", "folder"])
@pytest.mark.parametrize("name", ["plan.json", "summary.json"])
@pytest.mark.parametrize("damage", first_is_quick(OF_OBJECTS))
def test_a_damaged_object_of_an_ended_run_is_named_and_its_end_shown_all_the_same(
    cloud, kept, matrix, name, damage, has_folder
):
    DAMAGE[damage](kept / name)
    cloud.start("r")
    for path in sorted(path for path in kept.rglob("*") if path.is_file()):
        cloud.client.s3.put_object(Bucket="results", Key=f"runs/r/{path.relative_to(kept)}", Body=path.read_bytes())
    cloud.end("r")
    if not has_folder:
        shutil.rmtree(kept)
    where = kept if has_folder else "s3://results/runs/r"

    said = matrix("watch", "r", "--local")

    assert said.exit_code == 1
    assert f"{where}/{name} cannot be read: " in said.stderr
    assert "1 × m6i.large" in said.stdout
    assert "Traceback" not in said.output


@pytest.mark.parametrize(
    "command", [("results", "r"), ("compare", "r", "r"), ("runs",), ("report", "r"), ("watch", "r")], ids=" ".join
)
def test_a_file_of_somebody_else_writes_no_escape_sequence_to_the_terminal(kept, matrix, command):
    error = {"M": {"name": {"S": "\x07"}, "message": {"S": "\x1b[2J"}}}
    (kept / "rows.jsonl").write_text(
        json.dumps({"SK": {"S": "CELL#c"}, "cell": {"S": "c"}, "state": {"S": "\x1b[2J"}, "error": error})
    )
    for file in (kept / "summary.json", *kept.glob("cells/*/result.json")):
        hostile = file.read_text().replace('"m6i.large"', r'"m6i\u001b]0;owned\u0007"')
        file.write_text(hostile.replace('"status": "measured"', r'"status": "\u001b[2Jmeasured"'))

    said = matrix(*command)

    assert said.exit_code == 0
    assert "\x1b" not in said.output
    assert "\x07" not in said.output


@pytest.mark.parametrize("code", [0x00, 0x08, 0x0B, 0x1B, 0x1F, 0x7F, 0x80, 0x9B, 0x9F])
@pytest.mark.parametrize("is_escaped", [True, False])
def test_no_control_character_of_a_document_is_shown(code, is_escaped):
    text = json.dumps({"text": f"a{chr(code)}b"}, ensure_ascii=is_escaped or code < 0x20).encode()

    assert documents.parsed(text, "notes.json", "notes.json", "")["text"] == "a?b"
