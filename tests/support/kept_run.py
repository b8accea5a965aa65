"""A kept run with all of its files, made by the code that makes them on AWS; and all ways to damage a file."""

import gzip
import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path

from support.matrices import BUILD, EBS, document
from support.runs_for_reports import build_run

from matrix.answer.decision import decide
from matrix.answer.values import values_of
from matrix.report import csv_rows, markdown
from matrix.run import job
from matrix.run.receipt import receipt

INSTANCE = "AROAEXAMPLE:i-0001"
FLEETS = {"instanceType": "m6i.large", "count": [1, 2]}
ASKED = document(storage=[EBS], workload=[BUILD | {"expectedSeconds": 600}], fleet=[FLEETS], repetitions=3)


def write_kept_run(folder: Path, run: str) -> tuple[str, ...]:
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


def write_interrupted_run(folder: Path, run: str) -> tuple[str, ...]:
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


def _replaced(path: Path, by: Callable[[Path], object]) -> None:
    path.unlink()
    by(path)


def _linked(path: Path) -> None:
    """Replace a file by a link to a good copy of it, which could as well be any other file of the machine."""
    runs = next(parent for parent in path.parents if parent.name == "runs")
    copy = runs.with_name("elsewhere.json")
    shutil.copy(path, copy)
    _replaced(path, lambda place: place.symlink_to(copy))


DAMAGE: dict[str, Callable[[Path], object]] = {
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
