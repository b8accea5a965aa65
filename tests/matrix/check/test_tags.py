"""Tags of a matrix and of the stack: AWS's limits, with our own tags counted, and told with path, value and fix."""

import re

import botocore.session
import pytest
from hypothesis import given
from hypothesis import strategies as st

from matrix.check.tags import inherited, inherited_problems, tag_problems


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
