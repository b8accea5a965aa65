"""Outputs, names and files as users have them: another encoding, a name that leads away, a file that is none."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MAIN = "from cli.main import main; main()"


C_LOCALE = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


# For ASCII alone click writes UTF-8.
@pytest.mark.parametrize(("encoding", "written"), [({"PYTHONIOENCODING": "latin-1"}, "latin-1"), (C_LOCALE, "utf-8")])
def test_an_output_that_is_not_utf_8_fails_no_command(keep_run, encoding, written):
    keep_run("r", name="größe – ×")
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT}/functions", **encoding}

    for form in ("table", "json", "markdown"):
        said = subprocess.run(
            [sys.executable, "-c", MAIN, "results", "r", "--format", form],
            env=environment,
            capture_output=True,
            check=False,
        )
        assert said.returncode == 0, said.stderr
        assert b"UnicodeEncodeError" not in said.stderr
        if form == "json":
            assert json.loads(said.stdout.decode(written))["name"] == "größe – ×"


@pytest.mark.parametrize("name", ["..", ".", "r/..", "/"])
def test_no_name_of_a_run_leads_out_of_the_folder_of_runs(keep_run, matrix, workdir, name):
    keep_run("r").joinpath("summary.json").rename(workdir / "summary.json")

    for command in ("results", "report", "watch"):
        said = matrix(command, name)
        assert said.exit_code == 2, said.output
        assert "cannot be the name of a run" in said.stderr


def test_a_pipe_is_not_a_file_of_fio(matrix, tmp_path):
    os.mkfifo(tmp_path / "pipe")

    said = matrix("import", str(tmp_path / "pipe"))

    assert said.exit_code == 2
    assert "is not a file" in said.stderr


HUNG_UP = """
import os, signal, sys
from pathlib import Path
from cli.console import opening
page = Path(sys.argv[1])
# What nohup has started ignores it, and hands that on.
signal.signal(signal.SIGHUP, signal.SIG_DFL)
with opening._leading_there(page, "http://127.0.0.1:1/#token=t"):
    print("token=t" in page.read_text(), flush=True)
    os.kill(os.getpid(), signal.SIGHUP)
    signal.pause()
"""


def test_a_closed_terminal_leaves_no_page_with_a_dead_address(tmp_path):
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT}/functions"}
    said = subprocess.run(
        [sys.executable, "-c", HUNG_UP, str(tmp_path / "console.html")], env=environment, capture_output=True,
        text=True, timeout=60, check=False,
    )  # fmt: skip

    assert said.stdout == "True\n", said.stderr
    assert said.returncode == -signal.SIGHUP
    assert "token" not in (tmp_path / "console.html").read_text()
