"""The functions that delete must work when the report, the statistics or the plan cannot even be imported."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# What draws or computes. A broken module of these must not stop a function that ends what costs money.
NOT_NEEDED = ("matrix.report", "matrix.answer", "matrix.statistics", "matrix.published", "numpy", "scipy")
LISTED = "import sys, {name}; print(*sorted(sys.modules))"


@pytest.mark.parametrize("name", ["reap", "stop_fleet", "delete_file_system", "check_deleted"])
def test_what_deletes_imports_neither_the_report_nor_statistics(name):
    environment = os.environ | {"PYTHONPATH": str(ROOT / "functions"), "AWS_DEFAULT_REGION": "eu-central-1"}
    command = [sys.executable, "-c", LISTED.format(name=name)]

    ended = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True)

    assert ended.returncode == 0, ended.stderr
    modules = ended.stdout.split()
    assert "aws.teardown" in modules or name == "stop_fleet"
    assert [module for module in modules if module.startswith(NOT_NEEDED)] == []
