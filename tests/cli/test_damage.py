"""Each file of a kept run is damaged in each way: who reads it names it and shows the rest, others do not care."""

import gzip
import json
import os
import random
import shutil
from fnmatch import fnmatch
from pathlib import Path

import pytest
from support.matrices import BUILD, EBS, document
from support.runs_for_reports import build_run
from support.tiers import each_with_the_first, first_is_quick

from local.keeping import runs
from matrix.answer.decision import decide
from matrix.answer.values import values_of
from matrix.report import csv_rows, markdown
from matrix.run import job
from matrix.run.receipt import receipt

INSTANCE = "AROAEXAMPLE:i-0001"
FLEETS = {"instanceType": "m6i.large", "count": [1, 2]}
ASKED = document(storage=[EBS], workload=[BUILD | {"expectedSeconds": 600}], fleet=[FLEETS], repetitions=3)


def write_kept_run(folder, run):
    """Write a run of two builds, on one instance and on two, as a local one; return the ids of its cells, sorted."""
    summary, results, plan = build_run({"ebs": {1: 900.0, 2: 950.0}}, environment="local")
    plan |= {"run": run, "environment": "local", "created_at": 1000.0, "bucket": "b"}
    row = {"kind": "instance", "id": "i-0001", "created_at": 1000.0, "gone_at": 2000.0}
    paid = receipt(run=run, plan=plan, rows=[row], metered_usd=0.5, now=6000.0, sweep=None, unasked=[])
    summary |= {"run": run, "receipt": paid, "decision": decide(summary, results=results)}
    execution = {"run": run, "status": "SUCCEEDED", "started_at": 1000.0, "ended_at": 5000.0, "error": "", "cause": ""}
    files = {
        "summary.json": summary, "plan.json": plan, "receipt.json": paid, "execution.json": execution,
        "matrix.json": ASKED, "booted/al2023-x86_64.json": {"image_id": "ami-1"},
        "summary.values.json": values_of(summary, results),
        "summary.csv": csv_rows.to_csv(summary), "summary.md": markdown.to_markdown(summary),
        "report.html": "<!DOCTYPE html>",
    }  # fmt: skip
    setting = {"run": run, "mount": {"kind": "root"}, "bucket": "b", "environment": "local", "now": 1000.0}
    for cell in plan["cells"]:
        board, instance = f"cells/{cell['id']}", f"cells/{cell['id']}/instances/{INSTANCE}"
        files |= {
            f"{board}/result.json": results[cell["id"]],
            f"{board}/job.json": job.measuring_job(cell=cell, gate_margin_s=5.0, **setting),
            f"{board}/meeting.json": {"nonce": "0" * 32},
            f"{board}/meet/{'0' * 32}/gates/0002.json": {"step": 2, "start_at": 1100.0, "opener": INSTANCE},
            f"{board}/meet/{'0' * 32}/ready/0002/{INSTANCE}": {"at": 1099.0},
            f"{board}/fleet.json": {"instances": ["i-0001"], "launched_at": 1000.0},
            f"{instance}/samples.json": {"schema": 1, "run": run, "cell": cell["id"], "samples": []},
            f"{instance}/done.json": {}, f"{instance}/heartbeat": "3",
            f"{instance}/log.gz": gzip.compress(b"mounted\n"), f"{instance}/raw/p01-r1.histograms.json": {},
        }  # fmt: skip
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(content) if isinstance(content, dict) else content
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return tuple(sorted(results))


def write_interrupted_run(folder, run):
    """Write the same run as after the death of its cloud at the end of the first cell."""
    cells = write_kept_run(folder, run)
    for name in ("summary.json", "summary.values.json", "summary.csv", "summary.md", "receipt.json", "report.html"):
        (folder / name).unlink()
    (folder / "cells" / cells[1] / "result.json").unlink()
    execution = {"run": run, "status": "ABORTED", "started_at": 1000.0, "ended_at": 5000.0, "error": "LocalCloudEnded",
                 "cause": "killed"}  # fmt: skip
    (folder / "execution.json").write_text(json.dumps(execution))
    states = dict(zip(cells, ("measured", "running"), strict=True))
    rows = [{"SK": {"S": f"CELL#{cell}"}, "cell": {"S": cell}, "state": {"S": states[cell]}} for cell in cells]
    rows.append({"SK": {"S": "FS#ebs"}, "file_system": {"S": "ebs"}, "state": {"S": "ready"}})
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return cells


def _replaced(path, by):
    path.unlink()
    by(path)


def _linked(path):
    """Replace a file by a link to a good copy of it, which could as well be any other file of the machine."""
    runs = next(parent for parent in path.parents if parent.name == "runs")
    copy = runs.with_name("elsewhere.json")
    shutil.copy(path, copy)
    _replaced(path, lambda place: place.symlink_to(copy))


DAMAGE = {
    "truncated": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "emptied": lambda path: path.write_bytes(b""),
    "random bytes": lambda path: path.write_bytes(random.Random(1).randbytes(4096)),
    "a link": _linked,
    "a link to nothing": lambda path: _replaced(path, lambda place: place.symlink_to("nothing")),
    "a link to itself": lambda path: _replaced(path, lambda place: place.symlink_to(place.name)),
    "a folder": lambda path: _replaced(path, Path.mkdir),
    "a list": lambda path: path.write_bytes(b"[1, 2]"),
    "brackets without end": lambda path: path.write_bytes(b"[" * 200_000),
}

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
    ("runs",): (["summary.json", "execution.json", "receipt.json"], "good"),
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
