"""The scripts beside the Makefile: what they refuse, what they say, what make tells the programs that it calls."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BARE, CI = ROOT / "tools" / "bare.sh", ROOT / ".ci" / "run"
SHELLCHECK = Path(sys.executable).with_name("shellcheck")


def call(*command, **environment):
    """Run a command to its end, on this PATH or another."""
    return subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True)


@pytest.fixture
def programs(tmp_path):
    """A PATH with the programs that a script calls before it looks for others."""
    folder = tmp_path / "programs"
    folder.mkdir()
    for name in ("bash", "dirname", "env", "id", "mkdir", "tee", "grep", "sort", "head"):
        (folder / name).symlink_to(shutil.which(name))
    return folder


def put(folder, name, script):
    """Put a program of a test's own on a PATH."""
    (folder / name).write_text(f"#!/bin/bash\n{script}\n")
    (folder / name).chmod(0o755)


@pytest.mark.parametrize("script", [BARE, CI], ids=lambda path: path.name)
def test_shellcheck_has_nothing_to_say(script):
    checked = call(SHELLCHECK, script)

    assert checked.stdout == ""
    assert checked.returncode == 0


@pytest.mark.parametrize(
    ("arguments", "problem"), [(["benchmark"], "'benchmark' is no step"), (["--as", "guest"], "not 'guest'")]
)
def test_bare_refuses_what_is_no_step_and_no_account(arguments, problem):
    ended = call(BARE, *arguments)

    assert ended.returncode == 2
    assert problem in ended.stderr


@pytest.mark.parametrize(
    ("user", "reason"), [("1000", "only root may make"), ("0", "mmdebstrap is not installed; try: apt-get install")]
)
def test_bare_says_why_it_cannot_run_here(programs, user, reason):
    (programs / "id").unlink()
    put(programs, "id", f"echo {user}")
    if not Path("/etc/debian_version").exists() and user == "0":
        reason = "this is not Debian"

    ended = call(BARE, "demo", PATH=str(programs))

    assert ended.returncode == 77
    assert reason in ended.stderr


def run_ci(programs, *targets, make):
    """Run a copy of .ci/run as a user who may not install, with a make of the test's own."""
    (programs / "id").unlink()
    put(programs, "id", "echo 1000")
    put(programs, "make", make)
    copy = programs.parent / "clone" / ".ci" / "run"
    copy.parent.mkdir(parents=True)
    shutil.copy(CI, copy)
    return copy.parents[1], call(copy, *targets, PATH=str(programs))


def test_ci_names_what_an_ordinary_user_cannot_install_and_runs_the_tests_all_the_same(programs):
    _, ended = run_ci(programs, make='echo "made $* with $PYTEST_ADDOPTS"')

    assert ended.returncode == 0
    assert "ci: only root may install, so tests that need these are skipped: " in ended.stdout
    assert "fio" in ended.stdout.split("skipped: ")[1].splitlines()[0].split()
    assert "made test-all with --durations=40" in ended.stdout


def test_ci_keeps_the_slowest_tests_and_ends_as_make_ended(programs):
    lines = ["3.10s call     tests/a.py::one", "12.00s setup    tests/b.py::two", "1.00s call     tests/c.py::three"]

    clone, ended = run_ci(programs, "quick", "test", make=f"printf '%s\\n' {' '.join(map(repr, lines))}; exit 3")

    kept = (clone / ".local" / "ci" / "durations.txt").read_text().splitlines()
    assert kept == [lines[1], lines[0], lines[2]]
    assert ended.stdout.splitlines()[-3:] == kept
    assert ended.returncode == 3


@pytest.mark.parametrize("given", ["", "0"])
def test_make_has_uv_trust_what_the_machine_trusts_unless_told_otherwise(tmp_path, given):
    # A Makefile that includes ours and shows what its commands would see.
    (tmp_path / "Makefile").write_text(f"include {ROOT / 'Makefile'}\nshown:\n\t@echo [$$UV_SYSTEM_CERTS]\n")
    bundles = ("/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem")
    environment = {"UV_SYSTEM_CERTS": given} if given else {}
    own = {name: value for name, value in os.environ.items() if name != "UV_SYSTEM_CERTS"}

    shown = subprocess.run(
        ["make", "-C", tmp_path, "-s", "shown"], env=own | environment, capture_output=True, text=True
    )

    assert shown.stdout.strip() == f"[{given or ('1' if any(map(os.path.exists, bundles)) else '')}]"
