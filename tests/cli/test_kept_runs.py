"""A run's folder after a kill or a loss of power: what the next command and the next cloud read in it."""

import json
import os
import random
import threading
from pathlib import Path

import pytest
from support.cli_documents import plan_document, summary_document
from support.power_loss import Bucket, Copier, assert_nothing_is_lost, lose_power

from cli.messages.errors import UnreadableRun
from cli.target import run_folders
from cli.target.run_folders import RunFolders
from local.keeping import runs
from local.keeping.runs import KeptExecution, KeptRuns
from local.programs.liveness import started_ticks
from matrix.answer.decision import decide

# No process has this number: Linux allows 2**22 of them.
DEAD = {"cloud_pid": 2**22 + 1, "cloud_started_ticks": 1}
CELLS = 8
# As many as the writing lasts; some of them are checked.
COPIES, CHECKED = 1_000, 25


def execution(run, status="RUNNING", **cloud):
    """How a run stands whose cloud is dead, unless said otherwise."""
    return KeptExecution(run, status, 1000.0, None, "", "", f"arn:aws:states:::execution:m:{run}", **{**DEAD, **cloud})


def plan_of(cells):
    """A plan with so many cells."""
    plan = plan_document()
    ids = [f"ebs-gp3.touch.m6i.large-x{n}" for n in range(1, cells + 1)]
    first = plan["cells"][0]
    every = [
        {**first, "id": cell, "fleet": {**first["fleet"], "count": n, "architecture": "x86_64"}}
        for n, cell in enumerate(ids, 1)
    ]
    totals = {**plan["totals"], "cells": cells}
    return {**plan, "cells": every, "file_systems": [{**plan["file_systems"][0], "cells": ids}], "totals": totals,
            "run": "r", "environment": "local", "created_at": 1000.0}  # fmt: skip


def result_of(cell, number):
    """A measured result whose median is the cell's number, large enough to be torn."""
    measured = summary_document()["cells"][0]
    points = [
        {**point, "metrics": {"files_per_s": {**point["metrics"]["files_per_s"], "p50": float(number)}}}
        for point in measured["points"]
    ]
    return {
        **measured,
        "id": cell["id"],
        "fleet": cell["fleet"],
        "points": points,
        "warnings": [{"code": "overhead", "share": 0.5, "points": ["w" * 50_000]}],
    }


def put(kept, name, document):
    """Keep a document of run r."""
    body = json.dumps(document).encode()
    assert kept.keep_object(f"runs/r/{name}", lambda: body)


def write_run(kept, plan):
    """Write what a run writes, in its order."""
    kept.keep_execution(execution("r"))
    put(kept, "matrix.json", {"name": "small"})
    put(kept, "plan.json", plan)
    for number, cell in enumerate(plan["cells"]):
        board, instance = f"cells/{cell['id']}", f"cells/{cell['id']}/instances/AROA:i-1"
        put(kept, f"{board}/job.json", {"cell": cell["id"]})
        for step in range(4):
            put(kept, f"{board}/meet/0/gates/{step:04d}.json", {"step": step, "start_at": 1.0})
            put(kept, f"{board}/meet/0/ready/{step:04d}/AROA:i-1", {"at": 1.0})
            put(kept, f"{instance}/samples.json", {"steps": ["s" * 5_000] * step})
            kept.keep_row("r", {"PK": {"S": "RUN#r"}, "SK": {"S": f"CELL#{cell['id']}"}, "cell": {"S": cell["id"]},
                                "state": {"S": "running"}, "step": {"N": str(step)}})  # fmt: skip
        put(kept, f"{board}/result.json", result_of(cell, number))


def test_from_copies_at_any_moment_with_power_lost_every_measured_cell_is_read_and_taken_over(tmp_path, monkeypatch):
    """Of a run that is written without a pause; tests/system/test_kills.py copies real ones."""
    chance = random.Random(1)
    plan, work = plan_of(CELLS), tmp_path / "work"
    writer = threading.Thread(target=write_run, args=(KeptRuns(work / "runs"), plan))

    with Copier(work, tmp_path / "copies", 0.004, COPIES) as copier:
        writer.start()
        writer.join()

    counts = set()
    for copy in copier.copies[:: -(-len(copier.copies) // CHECKED)]:
        lose_power(copy.folder, chance)
        monkeypatch.setenv("MATRIX_WORKDIR", str(copy.folder))
        counts.add(assert_nothing_is_lost(copy))
    assert len(counts) > 1, "the copies were all of the same moment"


@pytest.fixture
def killed(workdir):
    """A run of which one cell of two was measured when its cloud was killed."""
    kept = KeptRuns(workdir / "runs")
    plan = plan_of(2)
    kept.keep_execution(execution("r"))
    put(kept, "plan.json", plan)
    put(kept, f"cells/{plan['cells'][0]['id']}/result.json", result_of(plan["cells"][0], 7))
    return plan


def test_a_killed_run_shows_what_it_measured_and_how_to_go_on(killed, matrix, workdir):
    table, report = matrix("results", "r"), matrix("report", "r")
    as_csv, as_json = matrix("results", "latest", "--format", "csv"), matrix("results", "r", "--format", "json")

    assert table.exit_code == report.exit_code == 0
    assert "1 of 2 cells measured · interrupted" in table.stdout
    assert "`matrix run --resume r --local`" in table.stdout
    assert "7.0" in as_csv.stdout
    assert "1 of 2 cells were measured before the run ended (ABORTED: LocalCloudEnded)" in as_csv.stderr
    assert json.loads(as_json.stdout)["totals"] == {"cells": 2, "measured": 1, "failed": 0, "skipped": 1}
    page = (workdir / "runs/r/report.html").read_text()
    assert "1 of 2" in page
    assert "matrix run --resume r --local" in page


def test_watching_a_killed_run_shows_its_end(killed, matrix, workdir):
    KeptRuns(workdir / "runs").keep_row(
        "r", {"SK": {"S": "CELL#c"}, "cell": {"S": killed["cells"][0]["id"]}, "state": {"S": "measured"}}
    )

    seen = matrix("watch", "r")

    assert seen.exit_code == 1
    assert "run r: ABORTED (LocalCloudEnded), 1 of 2 cells measured" in seen.stdout
    assert "ended ABORTED: LocalCloudEnded: the local cloud" in seen.stderr
    assert "matrix run --resume r --local" in seen.stderr


@pytest.mark.parametrize(
    ("at_least", "states", "is_shown", "code"),
    [
        (50, ("measured", "measured"), True, 0),
        (50, ("measured", "measured"), False, 5),  # by values alone
        (5000, ("measured", "measured"), False, 4),
        (5000, ("measured", "failed"), False, 1),
    ],
)
def test_a_run_is_good_only_if_its_objective_is_reached(workdir, matrix, at_least, states, is_shown, code):
    kept = KeptRuns(workdir / "runs")
    kept.keep_execution(execution("r", "SUCCEEDED"))
    summary = summary_document("r", states=states)
    decision = decide(summary, objective={"metric": "files_per_s", "atLeast": at_least})
    for question in decision["questions"] if is_shown else ():
        question["state"] = "shown"
    put(kept, "summary.json", {**summary, "decision": decision})

    seen = matrix("watch", "r")

    assert seen.exit_code == code
    assert ("no storage is shown to reach P10 of files_per_s" in " ".join(seen.stderr.split())) == (code == 5)
    missed = "no storage reaches P10 of files_per_s at least 5,000 files/s in 4 of 4 comparisons"
    assert (missed in " ".join(seen.stderr.split())) == (code == 4)


def test_a_run_under_way_is_not_taken_for_a_killed_one(workdir, matrix, killed):
    own = {"cloud_pid": os.getpid(), "cloud_started_ticks": started_ticks(os.getpid())}
    KeptRuns(workdir / "runs").keep_execution(execution("r", **own))

    assert runs.close_interrupted(workdir / "runs") == []
    assert "still goes on" in matrix("results", "r").stderr


def test_a_name_that_is_taken_is_refused_before_two_runs_share_a_folder(killed, matrix, scenario):
    seen = matrix("run", scenario(), "--local", "--name", "r")

    assert seen.exit_code == 2
    assert "a run r is kept in" in seen.stderr


def test_a_run_that_took_cells_over_is_restored_with_the_run_that_has_them(killed, workdir):
    taken = {**killed["cells"][0], "taken_from": {"run": "r", "cell": killed["cells"][0]["id"]}}
    later = {**killed, "run": "later", "cells": [taken, killed["cells"][1]]}
    KeptRuns(workdir / "runs").keep_object("runs/later/plan.json", json.dumps(later).encode)
    bucket = Bucket()

    run_folders.restore(bucket, "later")

    assert bucket.document("r", f"cells/{taken['id']}/result.json")["state"] == "measured"


def test_a_damaged_result_is_named_before_anything_is_restored(killed, workdir):
    result = workdir / "runs/r/cells" / killed["cells"][0]["id"] / "result.json"
    result.write_bytes(result.read_bytes()[:1000])
    bucket = Bucket()

    with pytest.raises(UnreadableRun, match=r"result\.json cannot be read"):
        run_folders.restore(bucket, "r")

    assert not bucket.objects


def test_a_damaged_upload_is_left_out_and_named(killed, workdir):
    upload = workdir / "runs/r/cells" / killed["cells"][0]["id"] / "instances/AROA:i-1/samples.json"
    upload.parent.mkdir(parents=True)
    upload.write_text("{")
    bucket = Bucket()

    assert run_folders.restore(bucket, "r") == [str(upload)]
    assert sorted(path.rsplit("/", 1)[1] for path in bucket.objects) == ["plan.json", "result.json"]


def test_rows_that_were_cut_off_leave_out_one_row(workdir):
    kept = KeptRuns(workdir / "runs")
    for state in ("planned", "running"):
        kept.keep_row("r", {"SK": {"S": "CELL#a"}, "cell": {"S": "a"}, "state": {"S": state}})
    path = workdir / "runs/r/rows.jsonl"
    path.write_bytes(path.read_bytes()[:-9])

    kept.keep_row("r", {"SK": {"S": "CELL#b"}, "cell": {"S": "b"}, "state": {"S": "planned"}})

    assert [(row["SK"], row["state"]) for row in RunFolders().progress_rows("r")] == [
        ("CELL#a", "planned"),
        ("CELL#b", "planned"),
    ]


@pytest.mark.parametrize("key", ["runs/r/a/../../../out", "runs/r//a", "runs/r/" + "n" * 256, "runs/r/execution.json",
                                 "runs/r/a\0b", "runs/r", "agents/a"])  # fmt: skip
def test_a_key_that_is_not_a_path_of_the_run_is_not_kept(workdir, key):
    assert not KeptRuns(workdir / "runs").keep_object(key, lambda: b"x")
    assert not [path for path in workdir.parent.rglob("*") if path.is_file()]


def test_of_a_key_and_one_below_it_the_first_is_kept(workdir):
    kept = KeptRuns(workdir / "runs")

    assert kept.keep_object("runs/r/a", lambda: b"x")
    assert not kept.keep_object("runs/r/a/b", lambda: b"y")
    assert not list(workdir.rglob("*.partial"))


def test_results_are_on_the_disk_before_their_name_is_and_heartbeats_are_not_waited_for(workdir, monkeypatch):
    done = []
    fsync, replace = os.fsync, Path.replace

    def sync(descriptor):
        done.append(("synced", Path(f"/proc/self/fd/{descriptor}").readlink().name))
        fsync(descriptor)

    def rename(path, target):
        done.append(("renamed", target.name))
        return replace(path, target)

    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(Path, "replace", rename)
    kept = KeptRuns(workdir / "runs")

    kept.keep_object("runs/r/cells/c/heartbeat", lambda: b"x")
    kept.keep_object("runs/r/cells/c/result.json", lambda: b"x")

    assert done[0] == ("renamed", "heartbeat")
    assert done[1][0] == "synced"
    assert done[1][1].endswith(".partial")
    assert done[2] == ("renamed", "result.json")
    assert [name for _, name in done[3:]] == ["c", "cells", "r", "runs"]
