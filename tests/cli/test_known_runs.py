"""A name that no run has is answered with the nearest and with the newest runs."""

import json

import pytest

NAMES = ["published-yocto", *(f"nightly-{number:02}" for number in range(12))]
COMMANDS = [
    ("results", "published-yocot"),
    ("report", "published-yocot"),
    ("compare", "published-yocot"),
    ("watch", "published-yocot"),
    ("watch", "published-yocot", "--local"),
    ("stop", "published-yocot"),
    ("stop", "published-yocot", "--local"),
    ("logs", "published-yocot", "a-cell"),
    ("logs", "published-yocot", "a-cell", "--follow"),
    ("run", "--local", "--resume", "published-yocot"),
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_mistyped_run_is_answered_with_the_nearest_and_all_that_are_kept(matrix, keep_run, command):
    for name in NAMES:
        keep_run(name)

    said = matrix(*command)

    assert said.exit_code == 2
    assert "did you mean published-yocto?" in said.stderr
    assert sum(name in said.stderr for name in NAMES[1:]) == 5, said.stderr
    assert "and 8 more (`matrix runs`)" in said.stderr


@pytest.mark.parametrize("command", [each for each in COMMANDS if "--resume" not in each], ids=" ".join)
def test_beside_a_running_cloud_its_runs_and_the_kept_ones_are_named(cloud, matrix, keep_run, command):
    for name in NAMES:
        keep_run(name)
    cloud.start("under-way")

    said = matrix(*command, *([] if "--local" in command else ["--local"]))

    assert said.exit_code == 2
    assert "did you mean published-yocto?" in said.stderr
    assert "and 9 more" in said.stderr


def test_a_mistyped_latest_and_a_mistyped_cell_are_recognised(matrix, keep_run):
    folder = keep_run("r") / "cells" / "ebs.touch.m6i.large-x1" / "instances"
    folder.mkdir(parents=True)
    (folder / "x").write_text("")

    assert "did you mean latest?" in matrix("results", "latst").stderr
    wrong = matrix("logs", "r", "ebs.tuch.m6i.large-x1").stderr
    assert "run r has no cell ebs.tuch" in wrong
    assert "did you mean ebs.touch.m6i.large-x1? the cells are ebs.touch.m6i.large-x1" in wrong
    assert "no instance of it has a log" in matrix("logs", "r", "ebs.touch.m6i.large-x1").stderr


def test_a_mistyped_command_is_answered_with_the_nearest(matrix):
    assert "did you mean results?" in matrix("reslts").stderr
    assert "see them all: `matrix --help`" in matrix("frobnicate").stderr


def test_the_beginning_of_a_name_is_enough_where_only_one_run_has_it(matrix, keep_run):
    for name in NAMES:
        keep_run(name)

    assert json.loads(matrix("results", "publ", "--json").stdout)["run"] == "published-yocto"
    several = matrix("results", "nightly-1")
    assert several.exit_code == 2
    # Those that begin so are named first.
    first = several.stderr.partition("the newest runs: ")[2].split(", ")[:2]
    assert sorted(first) == ["nightly-10", "nightly-11"]
