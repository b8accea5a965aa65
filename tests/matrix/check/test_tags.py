"""Tags of a matrix and of the stack: AWS's limits, with our own tags counted, and told with path, value and way out."""

import re

import botocore.session
import pytest
from hypothesis import given
from hypothesis import strategies as st

from matrix.check.read import check_matrix
from matrix.check.tags import MOST_GIVEN, inherited, inherited_problems, tag_problems
from matrix.terms.problems import InvalidMatrix

SMALL = {
    "name": "tagged", "storage": [{"type": "efs"}], "workload": [{"type": "touch", "files": 8}],
    "fleet": [{"instanceType": "m6i.large"}],
}  # fmt: skip


def refused(given_tags):
    """Path, value, rule and way out of each problem of a matrix with these tags."""
    with pytest.raises(InvalidMatrix) as error:
        check_matrix(SMALL | {"tags": given_tags})
    return [problem.to_document() for problem in error.value.problems]


@pytest.mark.parametrize(
    "given_tags",
    [
        {},
        {"CostCenter": "4711"},
        {"Kostenstelle: Köln": "Größe 3", "empty": "", "日本": "_.:/=+-@"},
        {"k" * 128: "v" * 256},
        {f"k{i}": "v" for i in range(MOST_GIVEN)},
        {"name": "Name is ours and keys are case sensitive"},
    ],
)
def test_tags_that_every_service_takes_are_taken(given_tags):
    assert check_matrix(SMALL | {"tags": given_tags}).matrix.tags == given_tags


@pytest.mark.parametrize(
    ("given_tags", "path", "rule", "fix"),
    [
        ({"": "x"}, 'tags[""]', "is an empty key", "CostCenter"),
        ({"aws:x": "y"}, 'tags["aws:x"]', "begins with aws:", "another key"),
        ({"AWS:x": "y"}, 'tags["AWS:x"]', "begins with aws:", "another key"),
        ({"x": "aws:y"}, "tags.x", "begins with aws:", "another"),
        ({"Name": "mine"}, "tags.Name", "Storage Matrix sets itself", "another key"),
        ({"storage-matrix:run": "r"}, 'tags["storage-matrix:run"]', "Storage Matrix sets itself", "another key"),
        ({"storage-matrix:owner": "me"}, 'tags["storage-matrix:owner"]', "sets itself", 'write "owner"'),
        ({"k" * 129: "v"}, None, "is a key of 129 characters, of 128", "shorter"),
        ({"k": "v" * 257}, "tags.k", "is a value of 257 characters, of 256", "shorter"),
        ({"k": "a,b"}, "tags.k", "is a value with \",\", which EFS and FSx refuse", "letters, digits"),
        ({"k#": "a"}, 'tags["k#"]', "is a key with \"#\"", "letters, digits"),
        ({"k": "a\nb"}, "tags.k", "is a value with", "letters, digits"),
        ({"k": "💰"}, "tags.k", "is a value with", "letters, digits"),
        ({"k": 4711}, "tags.k", "must be a text", "in quotes"),
        ({"k": None}, "tags.k", "must be a text", "in quotes"),
        (["CostCenter"], "tags", "must be an object", "{ }"),
        (
            {f"k{i}": "v" for i in range(MOST_GIVEN + 1)}, "tags",
            "44 tags; AWS takes 50 for a resource, and Storage Matrix sets up to 7", "at most 43",
        ),
    ],
)  # fmt: skip
def test_what_a_service_would_refuse_is_told_with_path_rule_and_way_out(given_tags, path, rule, fix):
    [problem] = refused(given_tags)

    assert path in (None, problem["path"])
    assert rule in problem["rule"]
    assert fix in problem["fix"]


def test_wrong_tags_are_told_together_with_what_else_is_wrong():
    with pytest.raises(InvalidMatrix) as error:
        check_matrix(SMALL | {"tags": {"aws:x": "y", "k": "#"}, "repetitions": 0})

    assert {problem.path for problem in error.value.problems} == {'tags["aws:x"]', "tags.k", "repetitions"}


@given(st.text(max_size=20))
def test_characters_are_taken_as_the_models_of_efs_and_fsx_have_them(text):
    shapes = [
        botocore.session.get_session().get_service_model(service).shape_for("TagValue").metadata
        for service in ("efs", "fsx")
    ]
    assert {shape["pattern"] for shape in shapes} == {r"^([\p{L}\p{Z}\p{N}_.:/=+\-@]*)$"}
    # Of ASCII the classes of Unicode are these; re knows none of them.
    ascii_only = re.sub(r"[^\x00-\x7f]", "", text)
    is_good = bool(re.fullmatch(r"[A-Za-z0-9 _.:/=+\-@]*", ascii_only))

    found = [problem for problem in tag_problems({"k": ascii_only}) if "aws:" not in problem.rule]
    assert (found == []) is is_good


@pytest.mark.parametrize(
    ("of_stack", "of_matrix", "both"),
    [
        ({}, {}, {}),
        ({"A": "1"}, {}, {"A": "1"}),
        ({"A": "1", "B": "2"}, {"A": "3"}, {"A": "3", "B": "2"}),
        ({"Name": "x", "storage-matrix:run": "y", "aws:z": "z", "A": "1"}, {}, {"A": "1"}),
    ],
)
def test_what_a_run_creates_has_the_tags_of_the_stack_and_of_the_matrix_which_count_first(of_stack, of_matrix, both):
    assert inherited(of_stack, of_matrix) == both
    assert list(inherited_problems(of_stack, of_matrix)) == []


def test_too_many_tags_together_are_told_with_how_many_are_the_stacks():
    of_stack = {f"s{i}": "v" for i in range(30)}
    of_matrix = {f"m{i}": "v" for i in range(20)}

    [problem] = inherited_problems(of_stack, of_matrix)

    assert (problem.path, problem.value) == ("tags", 20)
    assert "50 tags; AWS takes 50 for a resource, and Storage Matrix sets up to 7 itself; 30 of them" in problem.rule
    assert "sam deploy --tags" in problem.fix


def test_a_tag_of_the_stack_that_efs_and_fsx_refuse_is_told():
    """CloudFormation and EC2 take it."""
    [problem] = inherited_problems({"k": "a&b"}, {})

    assert problem.path == 'tags of the stack: "k"'
    assert "refuse" in problem.rule
