"""Watching, reading and listing runs, over rows and objects written as the contracts say."""

import csv
import gzip
import io
import json
import os
import tracemalloc
import zlib
from dataclasses import replace

import pytest
from support.cli_documents import CELLS, plan_document, rows, summary_document

from cli.follow import following
from cli.messages import terminal
from cli.target import deployment, logs
from cli.target.deployment import running_local_cloud
from cli.target.run_folders import RunFolders
from cli.target.service import Execution, Service
from cli.target.unzipping import MAX_BYTES


def finished(cloud, run="r", states=("measured", "measured")):
    """Write a run that has ended."""
    cloud.start(run)
    cloud.write_rows(run, rows(*states))
    cloud.write_document(run, "plan.json", plan_document())
    cloud.write_document(run, "summary.json", summary_document(run, states))
    cloud.end(run)


def test_watching_a_finished_run_shows_its_results_and_keeps_them(cloud, matrix, workdir):
    finished(cloud, states=("measured", "failed"))

    seen = matrix("watch", "r")

    assert seen.exit_code == 1
    assert "1 of 2 cells measured, 1 failed" in seen.output
    assert f"{CELLS[1]}: ToolMissing: fio is not installed" in seen.output
    assert json.loads((workdir / "runs/r/summary.json").read_text())["run"] == "r"


def test_a_look_at_a_run_reads_no_points_and_no_resources_and_those_of_a_cell_are_its_own(cloud):
    cloud.write_rows("r", rows())
    service = Service(running_local_cloud())

    seen = {row["SK"] for row in service.progress_rows("r")}
    measured, planned = (service.point_rows("r", cell) for cell in CELLS)

    assert seen == {"PLAN", "FS#ebs-gp3", *(f"CELL#{cell}" for cell in CELLS)}
    assert [row.keys() for row in measured] == [{"id", "metrics"}]
    assert planned == []


def test_latest_is_the_newest_run_of_a_cloud_or_of_those_kept_here(cloud, matrix, keep_run, workdir):
    finished(cloud, run="older")
    finished(cloud, run="newer")
    ended = {"run": "kept", "status": "SUCCEEDED", "started_at": 1000.0, "ended_at": 2000.0, "error": "", "cause": ""}
    keep_run("kept").joinpath("execution.json").write_text(json.dumps(ended))

    of_cloud = matrix("watch", "latest")
    (workdir / "cloud.json").unlink()
    kept = matrix("watch", "latest", "--json")

    assert "run newer:" in of_cloud.output
    assert json.loads(kept.stdout)["run"] == "kept"


def write_log(folder, cell, instance, text):
    """Write an instance's log as its agent does; returns the folder of the instance."""
    own = folder / "cells" / cell / "instances" / f"AROAEXAMPLE:{instance}"
    own.mkdir(parents=True)
    (own / "log.gz").write_bytes(gzip.compress(text.encode()))
    return own


def test_logs_are_printed_by_instance_those_that_failed_first(keep_run, matrix):
    folder = keep_run("r")
    write_log(folder, CELLS[0], "i-1", "booted\nmounted\n")
    write_log(folder, CELLS[0], "i-2", "booted\n\x1b[2Jno disk").joinpath("failed.json").write_text("{}")

    both, one = matrix("logs", "r", CELLS[0]), matrix("logs", "r", CELLS[0], "i-1")

    assert both.stdout.splitlines() == ["i-2 booted", "i-2 ?[2Jno disk", "i-1 booted", "i-1 mounted"]
    assert one.stdout.splitlines() == ["booted", "mounted"]


def test_logs_are_followed_by_heartbeats_and_each_log_when_it_comes_until_the_cell_ends(keep_run, matrix, monkeypatch):
    folder = keep_run("r")
    own = write_log(folder, CELLS[0], "i-1", "booted\nended\n")
    log = own.joinpath("log.gz").read_bytes()
    own.joinpath("log.gz").unlink()
    heartbeat = {"at": 1.0, "state": "running", "step": 1, "point": "p02\x1b"}
    # What becomes of the cell in the pauses between looks: a heartbeat, the same heartbeat again, the log, the result.
    steps = iter(
        [
            lambda: own.joinpath("heartbeat").write_text(json.dumps(heartbeat)),
            lambda: own.joinpath("heartbeat").write_text(json.dumps(heartbeat | {"at": 2.0})),
            lambda: own.joinpath("log.gz").write_bytes(log),
            lambda: (folder / "cells" / CELLS[0] / "result.json").write_text("{}"),
        ]
    )
    monkeypatch.setattr("time.sleep", lambda _: next(steps)())
    monkeypatch.setattr(RunFolders, "execution", lambda _, run: Execution(run, "RUNNING", 0.0))

    seen = matrix("logs", "r", CELLS[0], "--follow")

    assert seen.exit_code == 0
    assert seen.stdout.splitlines() == ["i-1 [running, step 2 p02?]", "i-1 booted", "i-1 ended"]


def test_logs_come_by_instance_for_a_program_and_line_by_line_while_they_are_followed(keep_run, matrix):
    folder = keep_run("r")
    write_log(folder, CELLS[0], "i-1", "booted\nmounted\n")
    write_log(folder, CELLS[0], "i-2", "booted")

    whole = json.loads(matrix("logs", "r", CELLS[0], "--json").stdout)
    followed = [json.loads(line) for line in matrix("logs", "r", CELLS[0], "--follow", "--json").stdout.splitlines()]

    lines = {each["instance"]: each["lines"] for each in whole["instances"]}
    assert lines == {"i-1": ["booted", "mounted"], "i-2": ["booted"]}
    assert sorted((each["instance"], each["line"]) for each in followed) == [
        ("i-1", "booted"), ("i-1", "mounted"), ("i-2", "booted"),
    ]  # fmt: skip


def test_logs_that_are_not_there_or_damaged_are_said(keep_run, matrix):
    write_log(keep_run("r"), CELLS[0], "i-1", "booted").joinpath("log.gz").write_bytes(b"no gzip")

    absent, damaged = matrix("logs", "r", CELLS[0], "i-9"), matrix("logs", "r", CELLS[0])

    assert (absent.exit_code, damaged.exit_code) == (2, 1)
    assert "no log of i-9 in run r" in absent.stderr
    assert "instances with a log: i-1" in absent.stderr
    assert "i-1/log.gz cannot be read" in damaged.stderr


def test_a_log_is_unzipped_no_further_than_to_a_bound_in_little_memory(keep_run, matrix):
    own = write_log(keep_run("r"), CELLS[0], "i-1", "booted")
    packer = zlib.compressobj(9, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
    # Long lines: each costs tracemalloc some microseconds.
    line_of_it = 100 * "booted " + "\n"
    bomb = b"".join([packer.compress(line_of_it.encode() * 1_500) for _ in range(100)]) + packer.flush()
    own.joinpath("log.gz").write_bytes(bomb)
    assert len(bomb) < 2 * 2**20

    tracemalloc.start()
    seen = 0
    for line in logs.of_cell(RunFolders(), "r", CELLS[0])["i-1"]:
        assert line == line_of_it[: len(line)]
        seen += 1
    _, most_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert seen == MAX_BYTES // len(line_of_it) + 1
    assert most_bytes < 32 * 2**20
    own.joinpath("log.gz").write_bytes(bomb[:-100])
    cut = matrix("logs", "r", CELLS[0])
    assert cut.exit_code == 1
    assert "i-1/log.gz is shown as far as 16,777,216 bytes: more are zipped in it" in " ".join(cut.stderr.split())


def test_logs_on_aws_come_from_the_bucket(cloud, matrix):
    cloud.start("r")
    key = f"runs/r/cells/{CELLS[0]}/instances/AROAEXAMPLE:i-1/log.gz"
    cloud.client.s3.put_object(Bucket="results", Key=key, Body=gzip.compress(b"booted"))

    assert matrix("logs", "r", CELLS[0], "--local").stdout == "booted\n"


@pytest.mark.parametrize("command", ["watch", "stop"])
def test_figures_that_were_loaded_are_neither_watched_nor_stopped(keep_run, matrix, command):
    keep_run("published", environment="published")

    seen = matrix(command, "published")

    assert seen.exit_code == 1
    assert "was never started here" in seen.stderr
    assert "matrix results published" in seen.stderr


def test_a_run_that_ended_before_its_analysis_says_why(cloud, matrix):
    cloud.start("r")
    error = {"name": "FileSystemFailed", "message": "quota"}
    cloud.write_rows("r", [{"SK": "FS#efs", "file_system": "efs", "state": "failed", "error": error}])
    cloud.end("r")

    seen = matrix("watch", "r", "--local")

    assert seen.exit_code == 1
    assert "run r ended ABORTED" in seen.stderr
    assert "storage efs: FileSystemFailed: quota" in seen.stderr


@pytest.fixture
def unread():
    """A pipe whose reader has left, as in `matrix results | head -1`."""
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as file:
        yield file


def test_a_run_that_nobody_reads_of_any_more_is_not_watched_to_its_end(cloud, matrix, unread, monkeypatch):
    cloud.start("r")
    monkeypatch.setattr(terminal, "stdout", lambda: terminal.Pipe(file=unread))
    monkeypatch.setattr(following, "POLL_EVERY_S", {"local": 0})
    look = following.look
    # Only its reader's absence can end the command: the run itself goes on for ever.
    monkeypatch.setattr(
        following, "look", lambda *at, **how: replace(look(*at, **how), execution=Execution("r", "RUNNING", 0.0))
    )

    assert matrix("watch", "r", "--local").exit_code == 0


def test_results_come_as_csv_markdown_and_json(keep_run, matrix):
    keep_run("r")

    rows = csv.DictReader(io.StringIO(matrix("results", "r", "--format", "csv").stdout))
    markdown = matrix("results", "latest", "--format", "markdown").stdout

    assert [(row["cell"], row["point"], row["p50"]) for row in rows] == [
        (cell, point, "305.0") for cell in CELLS for point in ("p01", "p02")
    ]
    assert "| EBS gp3 | 4 × m6i.large | threads 4 | 100 |" in markdown
    for options in (["--format", "json"], ["--json", "--all"]):
        assert json.loads(matrix("results", *options).stdout) == summary_document("r")


DEAD = json.dumps({"pid": 2**22 - 1, "started_ticks": 1, "endpoint": "http://localhost:1", "region": "us-east-1",
                   "access_key": "LOCAL", "secret_key": "local"})  # pragma: allowlist secret # fmt: skip


@pytest.mark.parametrize("text", [None, DEAD, "", "[]", "{}", '{"pid": 1}', "\udcff"])
def test_no_damaged_or_dead_file_of_a_local_cloud_is_one(workdir, matrix, text):
    if text is not None:
        (workdir / "cloud.json").write_bytes(text.encode(errors="surrogateescape"))

    seen = matrix("watch", "r", "--local")

    assert seen.exit_code == 1
    assert "no local cloud is running" in seen.stderr
    assert "matrix local up" in seen.stderr


def test_json_and_another_format_exclude_each_other(keep_run, matrix):
    keep_run("r")

    for command in (("results", "r"), ("import", "a.json")):
        seen = matrix(*command, "--json", "--format", "csv")

        assert (seen.exit_code, seen.stdout) == (2, "")
        assert "--json and --format csv exclude each other" in seen.stderr


def test_runs_lists_kept_and_running_ones_newest_first(cloud, keep_run, matrix):
    keep_run("kept")
    cloud.start("going")

    listed = json.loads(matrix("runs", "--json").stdout)

    assert [(one["run"], one["status"]) for one in listed] == [("going", "RUNNING"), ("kept", "measured")]


def receipt(usd, *, is_complete=True):
    totals = {"resources": 1, "gone": 1, "resources_usd": usd, "metered_usd": 0.0, "cost_usd": usd}
    return {"schema": 1, "run": "r", "at": 1.0, "is_complete": is_complete, "resources": [], "sweep": None,
            "totals": totals}  # fmt: skip


def test_runs_of_this_machine_have_the_cost_of_their_receipts_and_it_is_said_that_nothing_was_paid(keep_run, matrix):
    (keep_run("first") / "receipt.json").write_text(json.dumps(receipt(1.5)))
    (keep_run("second") / "receipt.json").write_text(json.dumps(receipt(2.25, is_complete=False)))
    keep_run("third")

    listed, shown = json.loads(matrix("runs", "--json").stdout), matrix("runs").stdout

    assert {one["run"]: (one["cost_usd"], one["is_receipt_complete"]) for one in listed} == {
        "first": (1.5, True), "second": (2.25, False), "third": (None, None),
    }  # fmt: skip
    assert "$2.25 so far" in shown
    assert "2 runs would have cost on AWS: $3.75" in shown


def test_runs_of_a_stack_have_cost_what_the_receipts_in_its_bucket_say(cloud, matrix, monkeypatch):
    deployed = deployment.running_local_cloud()
    monkeypatch.setattr(deployment, "deployed_stack", lambda *_: deployed)
    cloud.start("going")
    cloud.start("over")
    cloud.end("over")
    cloud.write_document("over", "receipt.json", receipt(3.5))

    listed, shown = matrix("runs", "--stack", "mine", "--json"), matrix("runs", "--stack", "mine").stdout

    assert {one["run"]: one["cost_usd"] for one in json.loads(listed.stdout)} == {"going": None, "over": 3.5}
    assert "1 run cost: $3.50" in shown


def test_a_damaged_receipt_is_named_and_the_other_runs_are_listed(keep_run, matrix):
    (keep_run("first") / "receipt.json").write_text(json.dumps(receipt(1.5)))
    (keep_run("second") / "receipt.json").write_text("{")

    seen = matrix("runs", "--json")

    assert seen.exit_code == 1
    assert {one["run"]: one["cost_usd"] for one in json.loads(seen.stdout)} == {"first": 1.5, "second": None}
    assert "receipt.json" in seen.stderr
