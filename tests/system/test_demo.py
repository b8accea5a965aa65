"""The demo as a newcomer runs it: one command, the real template, functions and agents, a report at the end."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from support.runs import ROOT

MATRIX = Path(sys.executable).with_name("matrix")
pytestmark = pytest.mark.smoke


def matrix(folder: Path, *arguments: str) -> str:
    """What the command prints; fails the test with all it said where it ends in an error."""
    done = subprocess.run([MATRIX, *arguments], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_demo_ends_with_every_cell_measured_a_report_and_nothing_left(tmp_path: Path):
    output = matrix(tmp_path, "run", str(ROOT / "events" / "local-demo.json"), "--local")

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
    assert "these figures say nothing about AWS" in " ".join(output.split())
    rows = matrix(tmp_path, "results", folder.name, "--local", "--format", "csv").splitlines()
    metrics = sum(len(point["metrics"]) for cell in summary["cells"] for point in cell["points"])
    assert len(rows) == 1 + metrics
