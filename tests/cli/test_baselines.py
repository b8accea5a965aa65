"""Baselines: they are set, listed and deleted by `matrix compare`; and comparisons with a baseline."""

import json
import os

import pytest
from support.cli_documents import summary_document


@pytest.fixture
def three(keep_run):
    """Keep three runs of this machine, of which the newest is of another matrix."""
    for day, (run, name) in enumerate([("first", "nightly"), ("second", "nightly"), ("third", "other")]):
        folder = keep_run(run, name=name)
        summary = folder / "summary.json"
        stamp = 1_000 + day
        os.utime(summary, (stamp, stamp))


def test_a_baseline_is_a_name_of_a_run_and_is_listed_with_its_matrix(three, matrix, workdir):
    said = matrix("compare", "first", "--set-baseline", "release", "--local")
    [listed] = json.loads(matrix("compare", "--baselines", "--local", "--json").stdout)

    assert said.stdout == "baseline release of this machine is first now\n"
    assert {name: listed[name] for name in ("name", "run", "matrix")} == {
        "name": "release",
        "run": "first",
        "matrix": "nightly",
    }
    assert (workdir / "baselines/release/baseline.json").is_file()
    again = matrix("compare", "second", "--set-baseline", "release")
    assert again.stdout == "baseline release of this machine is second now (before: first)\n"
    assert "second" in matrix("compare", "--baselines").stdout


def test_a_comparison_takes_baselines_and_the_newest_other_run_of_the_same_matrix(three, matrix):
    matrix("compare", "first", "--set-baseline", "release", "--local")
    matrix("compare", "second", "--set-baseline", "newest", "--local")

    of_first = json.loads(matrix("compare", "baseline:release", "latest", "--json").stdout)
    of_second = json.loads(matrix("compare", "baseline:newest", "--json").stdout)
    of_third = matrix("compare", "third", "latest", "--local")
    as_run = json.loads(matrix("compare", "second", "baseline:release", "--json").stdout)

    assert of_first["run"] == "second", "the newest of all is of another matrix"
    assert (of_second["base"], of_second["run"]) == ("second", "first")
    assert (as_run["base"], as_run["run"]) == ("second", "first")
    assert of_third.exit_code == 2
    assert "no other run of the matrix other has results, to be compared with third" in of_third.stderr


def test_a_name_that_no_baseline_has_is_answered_with_those_that_exist(three, matrix):
    matrix("compare", "first", "--set-baseline", "release", "--local")

    for arguments in (("compare", "baseline:relase", "second"), ("compare", "--delete-baseline", "relase")):
        seen = matrix(*arguments, "--local")
        assert seen.exit_code == 2
        assert "did you mean release?" in seen.stderr
        assert "baselines that exist: release" in seen.stderr


def test_a_baseline_is_deleted_and_its_run_stays(three, matrix, workdir):
    matrix("compare", "first", "--set-baseline", "release", "--local")

    assert matrix("compare", "--delete-baseline", "release", "--local").exit_code == 0
    assert matrix("compare", "--baselines", "--local", "--json").stdout == "[]\n"
    assert (workdir / "runs/first/summary.json").is_file()


@pytest.mark.parametrize("name", ["", "../up", "a b", "-x"])
def test_a_name_that_would_be_no_name_of_a_run_is_none_of_a_baseline(three, matrix, name):
    assert matrix("compare", "first", f"--set-baseline={name}", "--local").exit_code == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "BASE is missing"),
        (["--set-baseline", "release"], "--set-baseline takes one run, got 0"),
        (["first", "second", "--set-baseline", "release"], "--set-baseline takes one run, got 2"),
        (["first", "--baselines"], "--baselines takes no run, got 1"),
        (["--baselines", "--delete-baseline", "release"], "--baselines and --delete-baseline exclude each other"),
        (["first", "--set-baseline", "release", "--require-verdict"], "--set-baseline compares nothing"),
    ],
)
def test_what_neither_compares_nor_means_one_baseline_is_refused_and_nothing_is_set(three, matrix, arguments, words):
    seen = matrix("compare", *arguments, "--local")

    assert seen.exit_code == 2
    assert words in " ".join(seen.stderr.split())
    assert matrix("compare", "--baselines", "--local", "--json").stdout == "[]\n"


def test_a_damaged_baseline_is_named_and_can_be_set_again(three, matrix, workdir):
    matrix("compare", "first", "--set-baseline", "release", "--local")
    (workdir / "baselines/release/baseline.json").write_text('{"schema": 1}')

    seen = matrix("compare", "--baselines", "--local")

    assert seen.exit_code == 1
    assert "baselines/release/baseline.json of this machine: name: Field required" in " ".join(seen.stderr.split())
    assert "matrix compare RUN --set-baseline release" in " ".join(seen.stderr.split())
    assert matrix("compare", "first", "--set-baseline", "release", "--local").stdout.endswith("is first now\n")


def test_baselines_of_a_stack_are_objects_of_its_results_bucket(stack, matrix, workdir):
    stack.start("nightly-1")
    stack.write_document("nightly-1", "summary.json", summary_document("nightly-1", environment="aws"))

    said = matrix("compare", "nightly-1", "--set-baseline", "release", "--stack", "mine")

    assert said.stdout == "baseline release of the stack mine is nightly-1 now\n"
    body = stack.client.s3.get_object(Bucket="results", Key="baselines/release/baseline.json")["Body"].read()
    assert json.loads(body)["run"] == "nightly-1"
    assert not (workdir / "baselines").exists()
    assert matrix("compare", "--delete-baseline", "release", "--stack", "mine").exit_code == 0
    assert matrix("compare", "--baselines", "--stack", "mine", "--json").stdout == "[]\n"
