"""`.ci/run` runs failed tests once more: it must neither hide a red test nor turn red for a busy machine."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
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
"""


def run_ci(clone, target, make):
    """Run a copy of .ci/run where root is nobody, and make a script of the test's own."""
    for name, script in {
        ".venv/bin/python": f'exec {sys.executable} "$@"',
        "programs/id": "echo 1000",
        "programs/make": make,
    }.items():
        path = clone / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/bash\n{script}\n")
        path.chmod(0o755)
    (clone / ".ci").mkdir()
    shutil.copy(ROOT / ".ci" / "run", clone / ".ci")
    (clone / "pytest.ini").write_text("[pytest]\n")
    # To import all plugins takes half of the time.
    environment = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PATH": f"{clone}/programs:{os.environ['PATH']}"}
    ended = subprocess.run(
        [clone / ".ci" / "run", target], env=os.environ | environment, capture_output=True, text=True
    )
    disturbed = clone / ".local" / "ci" / "disturbed.txt"
    return ended, disturbed.read_text().splitlines() if disturbed.exists() else None


@pytest.mark.parametrize(
    ("flaky", "red", "target", "is_green"),
    [
        (["a", "b c", "d"], [], "test-all", True),
        (["a"], ["x"], "test-all", False),
        (["a", "b", "c", "d"], [], "test-all", False),
        (["a"], [], "lint", False),  # ruff may have failed beside the tests
    ],
    ids=["three pass", "one is red", "four are too many", "not of tests alone"],
)
def test_ci_is_green_only_if_at_most_three_tests_failed_and_all_pass_at_the_end(tmp_path, flaky, red, target, is_green):
    (tmp_path / "test_suite.py").write_text(SUITE.format(flaky=flaky, red=red))

    ended, disturbed = run_ci(tmp_path, target, f"{sys.executable} -m pytest -q test_suite.py")

    assert (ended.returncode == 0) is is_green, ended.stdout
    assert disturbed == ([f"test_suite.py::test_flaky[{name}]" for name in flaky] if is_green else None)
    assert all(f"ci: disturbed: test_suite.py::test_flaky[{name}]" in ended.stdout for name in flaky if is_green)


@pytest.mark.parametrize(
    "make",
    [
        f"{sys.executable} -m pytest -q -x test_suite.py",  # it stopped at the first failure: others never ran
        "echo no test at all; exit 2",
    ],
)
def test_ci_stays_red_if_the_run_ended_before_its_last_test(tmp_path, make):
    (tmp_path / "test_suite.py").write_text(SUITE.format(flaky=["a"], red=[]))

    ended, disturbed = run_ci(tmp_path, "test-all", make)

    assert (ended.returncode, disturbed) == (1, None)
