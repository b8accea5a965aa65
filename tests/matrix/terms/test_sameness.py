"""A cell is the same in two runs by what is measured, not by what it is called."""

import pytest

from matrix.terms.fingerprint import cell_key

EFS = {"type": "efs", "throughputMode": "elastic", "name": "ours", "emulated": False, "tls": None}
TOUCH = {"type": "touch", "name": "small", "files": 32, "repetitions": 3}
FLEET = {"instanceType": "m6i.large", "count": 10, "spot": False}


def key(storage=EFS, workload=TOUCH, fleet=FLEET, environment="aws"):
    """The key of a cell that differs in one thing."""
    return cell_key(environment, storage, workload, fleet)


def test_a_key_begins_with_words_and_stays_the_same_in_later_versions():
    assert key() == "aws/efs/touch/m6i.large-x10/3eefac49040d"


@pytest.mark.parametrize(
    "same",
    [
        {"storage": {**EFS, "name": "theirs"}},
        {"storage": {"throughputMode": "elastic", "type": "efs", "aFieldOfALaterVersion": []}},
        {"workload": {"type": "touch", "name": "large", "files": 64}},
        {"fleet": {**FLEET, "spot": True, "quorum": 0.9}},
    ],
)
def test_names_and_fields_that_are_not_set_make_no_other_cell(same):
    assert key(**same) == key()


@pytest.mark.parametrize(
    "other",
    [
        {"storage": {**EFS, "throughputMode": "bursting"}},
        {"storage": {**EFS, "emulated": True}},
        {"workload": {"type": "build"}},
        {"fleet": {**FLEET, "count": 11}},
        {"fleet": {**FLEET, "placement": "spread"}},
        {"environment": "local"},
    ],
)
def test_what_is_measured_otherwise_is_another_cell(other):
    assert key(**other) != key()


def test_commands_are_the_same_by_their_names():
    pip, git = ({"type": "command", "name": name} for name in ("pip", "git"))

    assert key(workload=pip) != key(workload=git)
