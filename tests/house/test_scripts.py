"""The scripts beside the Makefile: what they refuse, what they say, what make tells the programs that it calls."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BARE, CI, RERUN = ROOT / "tools" / "bare.sh", ROOT / ".ci" / "run", ROOT / "tools" / "rerun.py"
SHELLCHECK = Path(sys.executable).with_name("shellcheck")


def call(*command, **environment):
    """Run a command to its end, on this PATH or another."""
    return subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True)


@pytest.fixture
def programs(tmp_path):
    """A PATH with the programs that a script calls before it looks for others."""
    folder = tmp_path / "programs"
    folder.mkdir()
    for name in ("bash", "dirname", "env", "id", "mkdir", "tee", "grep", "sort", "head", "rm", "cat", "sed"):
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
    # The suites need no plugin but xdist, and to import the others takes half of the time.
    lean = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": "-p xdist.plugin"}
    return copy.parents[1], call(copy, *targets, PATH=str(programs), **lean)


def test_ci_names_what_an_ordinary_user_cannot_install_and_runs_the_tests_all_the_same(programs):
    _, ended = run_ci(programs, make='echo "made $* with $PYTEST_ADDOPTS"')

    assert ended.returncode == 0
    assert "ci: only root may install, so tests that need these are skipped: " in ended.stdout
    assert "fio" in ended.stdout.split("skipped: ")[1].splitlines()[0].split()
    made = [line for line in ended.stdout.splitlines() if line.startswith("made ")]
    assert [line.split()[1] for line in made] == ["lint", "types", "test-all", "test-old"]
    assert all("--durations=40" in line for line in made)


def test_ci_keeps_the_slowest_tests_and_ends_as_make_ended(programs):
    lines = ["3.10s call     tests/a.py::one", "12.00s setup    tests/b.py::two", "1.00s call     tests/c.py::three"]

    clone, ended = run_ci(programs, "quick", "test", make=f"printf '%s\\n' {' '.join(map(repr, lines))}; exit 3")

    kept = (clone / ".local" / "ci" / "durations.txt").read_text().splitlines()
    assert kept == [lines[1], lines[0], lines[2]]
    assert ended.stdout.splitlines()[-3:] == kept
    assert ended.returncode == 1


# Flaky tests fail when they run first and pass from then on; red ones fail each time.
SUITE = """
import pathlib
import pytest

@pytest.mark.parametrize("name", {flaky!r})
def test_flaky(name):
    seen = pathlib.Path(f"seen-{{name}}")
    was_seen = seen.exists()
    seen.touch()
    assert was_seen

@pytest.mark.parametrize("name", {red!r})
def test_red(name):
    assert not name

def test_green():
    pass
"""


def run_suite(programs, flaky=(), red=(), make='"$PYTHON" -m pytest -q -n 2 suite'):
    """Let .ci/run run a suite of a test's own, by a make that calls pytest, with the tool that repeats failed tests."""
    clone = programs.parent / "clone"
    (clone / "suite").mkdir(parents=True)
    (clone / "suite" / "test_suite.py").write_text(SUITE.format(flaky=list(flaky), red=list(red)))
    (clone / "pytest.ini").write_text("[pytest]\n")
    (clone / "tools").mkdir()
    shutil.copy(RERUN, clone / "tools")
    (clone / ".venv" / "bin").mkdir(parents=True)
    put(clone / ".venv" / "bin", "python", f'exec {sys.executable} "$@"')
    _, ended = run_ci(programs, "test-all", make=make.replace("$PYTHON", sys.executable))
    disturbed = clone / ".local" / "ci" / "disturbed.txt"
    return ended, disturbed.read_text().splitlines() if disturbed.exists() else None


def test_ci_is_green_and_names_the_tests_that_pass_once_they_run_alone(programs):
    ended, disturbed = run_suite(programs, flaky=["a", "b c - d", "e"])

    names = [f"suite/test_suite.py::test_flaky[{name}]" for name in ("a", "b c - d", "e")]
    assert ended.returncode == 0
    assert disturbed == names
    assert ended.stdout.splitlines()[-3:] == [f"ci: disturbed: {name}" for name in names]
    # pytest skips the empty set of parameters of the other test.
    assert "4 passed, 0 failed, 1 skipped" in ended.stdout.splitlines()


@pytest.mark.parametrize(
    ("flaky", "red"), [((), ["x"]), (["a", "b"], ["x"]), (["a", "b", "c", "d"], ())], ids=["red", "both", "four"]
)
def test_ci_stays_red_where_a_test_fails_again_or_more_than_three_failed(programs, flaky, red):
    ended, disturbed = run_suite(programs, flaky, red)

    assert ended.returncode == 1
    assert disturbed is None
    assert ("once more, alone" in ended.stdout) == (len(flaky) + len(red) <= 3)


@pytest.mark.parametrize(
    "make",
    [
        '"$PYTHON" -m pytest -q -x suite; exit 1',  # stopped at the first failure: others never ran
        '"$PYTHON" -m pytest -q suite >/dev/null; echo "a linter is red"; exit 2',
        "echo no test at all; exit 2",
    ],
)
def test_ci_repeats_nothing_of_a_run_that_failed_otherwise(programs, make):
    ended, disturbed = run_suite(programs, ["a"], make=make)

    assert ended.returncode == 1
    assert disturbed is None
    assert "the run did not end with failed tests alone" in ended.stdout


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
