"""`matrix baseline`, and comparisons with a baseline."""

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
    said = matrix("baseline", "set", "release", "first", "--local")
    [listed] = json.loads(matrix("baseline", "list", "--local", "--json").stdout)

    assert said.stdout == "baseline release of this machine is first now\n"
    assert {name: listed[name] for name in ("name", "run", "matrix")} == {
        "name": "release",
        "run": "first",
        "matrix": "nightly",
    }
    assert (workdir / "baselines/release/baseline.json").is_file()
    again = matrix("baseline", "set", "release", "second")
    assert again.stdout == "baseline release of this machine is second now (before: first)\n"
    assert "second" in matrix("baseline", "list").stdout


def test_a_comparison_takes_baselines_and_the_newest_other_run_of_the_same_matrix(three, matrix):
    matrix("baseline", "set", "release", "first", "--local")
    matrix("baseline", "set", "newest", "second", "--local")

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
    matrix("baseline", "set", "release", "first", "--local")

    for arguments in (("compare", "baseline:relase", "second"), ("baseline", "delete", "relase")):
        seen = matrix(*arguments, "--local")
        assert seen.exit_code == 2
        assert "did you mean release?" in seen.stderr
        assert "baselines that exist: release" in seen.stderr


def test_a_baseline_is_deleted_and_its_run_stays(three, matrix, workdir):
    matrix("baseline", "set", "release", "first", "--local")

    assert matrix("baseline", "delete", "release", "--local").exit_code == 0
    assert matrix("baseline", "list", "--local", "--json").stdout == "[]\n"
    assert (workdir / "runs/first/summary.json").is_file()


@pytest.mark.parametrize("name", ["", "../up", "a b", "-x"])
def test_a_name_that_would_be_no_name_of_a_run_is_none_of_a_baseline(three, matrix, name):
    assert matrix("baseline", "set", "--local", "--", name, "first").exit_code == 2


def test_a_damaged_baseline_is_named_and_can_be_set_again(three, matrix, workdir):
    matrix("baseline", "set", "release", "first", "--local")
    (workdir / "baselines/release/baseline.json").write_text('{"schema": 1}')

    seen = matrix("baseline", "list", "--local")

    assert seen.exit_code == 1
    assert "baselines/release/baseline.json of this machine: name: Field required" in " ".join(seen.stderr.split())
    assert "matrix baseline set release RUN" in " ".join(seen.stderr.split())
    assert matrix("baseline", "set", "release", "first", "--local").stdout.endswith("is first now\n")


def test_baselines_of_a_stack_are_objects_of_its_results_bucket(stack, matrix, workdir):
    stack.start("nightly-1")
    stack.write_document("nightly-1", "summary.json", summary_document("nightly-1", environment="aws"))

    said = matrix("baseline", "set", "release", "nightly-1", "--stack", "mine")

    assert said.stdout == "baseline release of the stack mine is nightly-1 now\n"
    body = stack.client.s3.get_object(Bucket="results", Key="baselines/release/baseline.json")["Body"].read()
    assert json.loads(body)["run"] == "nightly-1"
    assert not (workdir / "baselines").exists()
    assert matrix("baseline", "delete", "release", "--stack", "mine").exit_code == 0
    assert matrix("baseline", "list", "--stack", "mine", "--json").stdout == "[]\n"
