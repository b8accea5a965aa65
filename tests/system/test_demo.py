"""The demo as a newcomer runs it, on a cloud that judges roles and records calls: the real template, functions, agents.

That a command starts such a cloud by itself: test_wheel.py.
"""

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from judge import exchanges
from support.runs import ROOT, start_cloud

MATRIX = Path(sys.executable).with_name("matrix")
pytestmark = pytest.mark.smoke
RECORD = "exchanges.jsonl"


def matrix(folder: Path, *arguments: str, **environment: str) -> str:
    """What the command prints; fails the test with all it said where it ends in an error."""
    variables = {**os.environ, **environment}
    done = subprocess.run([MATRIX, *arguments], cwd=folder, capture_output=True, text=True, env=variables)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder in which the demo has run, and what it has printed."""
    folder = tmp_path_factory.mktemp("demo")
    demo = json.loads((ROOT / "events/local/first.json").read_text(encoding="utf-8"))
    # Shorter steps and smaller fleets than a newcomer's: what they measure says nothing here.
    touch, dd = demo["workload"]
    fleet = [demo["fleet"][0] | {"count": [1, 2]}]
    short = demo | {"fleet": fleet, "workload": [touch | {"files": 512}, dd | {"dataSize": "32MiB"}]}
    (folder / "local-demo.json").write_text(json.dumps(short))
    with start_cloud(folder / ".local", "--record", str(folder / RECORD)):
        return folder, matrix(folder, "run", "local-demo.json", "--local")


def test_aws_would_have_accepted_every_request_of_the_demo(demo: tuple[Path, str]):
    made = exchanges.read(demo[0] / RECORD)

    assert {"ec2:RunInstances", "efs:CreateFileSystem", "stepfunctions:StartExecution", "s3:PutObject"} <= {
        exchange.call for exchange in made
    }
    assert exchanges.refusals(made) == set()


def test_aws_could_have_given_every_answer_of_the_demo(demo: tuple[Path, str]):
    assert exchanges.differences(exchanges.read(demo[0] / RECORD)) - exchanges.KNOWN_DIFFERENCES.keys() == set()


def test_the_demo_ends_with_every_cell_measured_a_report_and_nothing_left(demo: tuple[Path, str]):
    tmp_path, output = demo

    [folder] = (tmp_path / ".local" / "runs").iterdir()
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    assert summary["totals"] == {"cells": 8, "measured": 8, "failed": 0, "skipped": 0}
    for cell in summary["cells"]:
        # Two repetitions on each instance.
        values = cell["instances"]["expected"] * 2
        for point in cell["points"]:
            assert {metric["n"] for metric in point["metrics"].values()} == {values}, (cell["id"], point["id"])
    assert summary["receipt"]["is_complete"]
    assert {resource["gone_at"] is not None for resource in summary["receipt"]["resources"]} == {True}

    page = (folder / "report.html").read_text(encoding="utf-8")
    assert all(cell["id"] in page for cell in summary["cells"])
    assert "not AWS: no storage is recommended" in " ".join(output.split())
    rows = list(csv.DictReader(matrix(tmp_path, "results", folder.name, "--local", "--format", "csv").splitlines()))
    metrics = sum(len(point["metrics"]) for cell in summary["cells"] for point in cell["points"])
    # Service times of storages have no cell.
    assert sum(bool(row["cell"]) for row in rows) == metrics
