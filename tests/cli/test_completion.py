"""The Tab key: commands, options, runs and cells, in the shells themselves where they are here."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from cli.inputs import completing

BASH = """
source <(matrix --completion bash)
for line in "matrix resu" "matrix results k" "matrix results --form" "matrix logs kept efs-e"; do
  COMP_WORDS=($line); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _matrix_completion matrix; echo "${COMPREPLY[@]}"
done
"""
FISH = """
matrix --completion fish | source
for line in "matrix resu" "matrix results k" "matrix results --form" "matrix logs kept efs-e"
  complete -C $line | string split -f1 \\t
end
"""


def in_shell(shell, script):
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    seen = subprocess.run([program, "-c", script], env={**os.environ, "PATH": path}, capture_output=True, text=True)
    assert seen.stderr == ""
    return seen.stdout.split()


@pytest.mark.parametrize(("shell", "script"), [("bash", BASH), pytest.param("fish", FISH, marks=pytest.mark.slow)])
def test_a_shell_completes_commands_options_runs_and_cells(keep_run, shell, script):
    (keep_run("kept") / "cells" / "efs-elastic.touch.m6i.large-x1").mkdir(parents=True)
    keep_run("another")

    assert in_shell(shell, script) == ["results", "kept", "--format", "efs-elastic.touch.m6i.large-x1"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_each_shell_asks_matrix_itself(matrix, shell):
    shown = matrix("--completion", shell)

    assert shown.exit_code == 0
    assert f"_MATRIX_COMPLETE=complete_{shell}" in shown.stdout


def test_cells_of_any_run_are_offered_where_none_is_named(keep_run):
    for run, cell in (("a", "ebs.dd"), ("b", "efs.dd")):
        (keep_run(run) / "cells" / cell).mkdir(parents=True)

    assert completing.cells(SimpleNamespace(params={}), "e") == ["ebs.dd", "efs.dd"]
    assert set(completing.runs("")) == {"latest", "a", "b"}
