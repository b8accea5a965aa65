"""An NFS export that exists: what may be written of it, and what the plan says."""

import pytest

from matrix.check.read import check_matrix
from matrix.plan.planning import plan
from matrix.terms.problems import InvalidMatrix

NFS = {"type": "nfs", "source": "files.example.com:/export/builds"}


def matrix(storage, **changes):
    return {
        "name": "filer",
        "storage": [storage],
        "workload": [{"type": "touch", "files": 64}],
        "fleet": [{"instanceType": "m6i.large", "count": 2}],
        **changes,
    }


def problems(document):
    with pytest.raises(InvalidMatrix) as refusal:
        check_matrix(document)
    return {problem.path: problem.rule for problem in refusal.value.problems}


def test_it_takes_no_time_to_make_costs_nothing_and_its_speed_is_said_to_be_guessed():
    planned = plan(check_matrix(matrix(NFS)))

    [file_system] = planned.file_systems
    assert (file_system.id, file_system.cost.high) == ("nfs-files-builds", 0)
    assert any(
        "nobody knows how fast an NFS server of yours is" in line for line in planned.to_document()["assumptions"]
    )


def test_the_plan_says_that_it_is_left_as_it_was():
    [warning] = [each for each in check_matrix(matrix(NFS)).warnings if each.path == "storage[0].source"]

    assert "the file system itself is not changed, tagged or deleted" in warning.rule


@pytest.mark.parametrize(
    "source",
    [
        "/export",
        "files.example.com",
        "files:export",
        "files:/../etc",
        "files:/a/.hidden",
        "files:/a b",
        "-o:/x",
        "a;b:/",
    ],
)
def test_a_source_is_a_server_and_a_path(source):
    assert "storage[0].source" in problems(matrix(NFS | {"source": source}))


@pytest.mark.parametrize(
    "source", ["10.0.3.7:/", "svm-1.fs-0123.fsx.eu-west-1.amazonaws.com:/vol1", "files:/a/b_c/d.e"]
)
def test_servers_are_named_or_numbered(source):
    check_matrix(matrix(NFS | {"source": source}))


@pytest.mark.parametrize("options", ["ro", "hard,bg", "fsc", "exec", "nfsvers=4.1,x-systemd.automount"])
def test_options_by_which_something_else_would_be_measured_are_refused(options):
    assert "storage[0].options" in problems(matrix(NFS | {"options": options}))


def test_a_soft_mount_is_warned_about():
    checked = check_matrix(matrix(NFS | {"options": "nfsvers=4.1,soft,max_connect=2"}))

    [warning] = [each for each in checked.warnings if each.path == "storage[0].options"]
    assert "data may be lost" in warning.rule


def test_a_cache_that_nobody_would_remove_is_refused():
    build = {"type": "build", "build": "true", "populate": "true"}

    assert "nobody would remove" in problems(matrix(NFS, workload=[build]))["workload[0].type"]
