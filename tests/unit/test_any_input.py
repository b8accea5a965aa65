"""Whatever the input, the answer is a plan or a list of problems: never another exception, never an unsafe id."""

import json
import re

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from matrices import (
    BUILD,
    DD,
    EBS,
    EFS,
    FIO,
    FLEET,
    FSX,
    INSTANCE_STORE,
    READ,
    THROUGHPUT,
    TOUCH,
    TRANSFER,
    YOCTO,
    document,
)  # fmt: skip

from matrix.check.read import read_matrix
from matrix.plan.planning import plan
from matrix.terms.problems import InvalidMatrix

SAFE = re.compile(r"[A-Za-z0-9._-]{1,100}")
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(-1, 2000)
    | st.floats()
    | st.text(max_size=20)
    | st.sampled_from(
        ["gp3", "io2", "elastic", "provisioned", "maxIO", "zero", "4k", "1GiB", "m6i.large", "../..", "$(x)"]
    )
)
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4)
)
WHOLE = document(
    storage=[EBS | {"iops": 4000, "throughputMiBps": 200}, EFS | {"performanceMode": "generalPurpose"}, FSX],
    workload=[TOUCH, DD, FIO, BUILD, TRANSFER, THROUGHPUT],
    fleet=[FLEET | {"count": [1, 2]}],
    include=[{"storage": EBS, "workload": TOUCH, "fleet": {"instanceType": "c5.large", "count": 3}}],
    exclude=[{"storage": {"type": "ebs"}, "fleet": {"count": 2}}],
    repetitions=2,
    budgetUsd=10,
    objective={"metric": "files_per_s", "atLeast": 10},
)
# What a matrix may say beside: the other storages and workloads, how a fleet is launched, what its image holds.
RARER = document(
    storage=[
        EBS | {"raid0": 2}, EFS | {"tls": True, "iam": True, "deployment": "regional"},
        FSX | {"nfsVersion": "4.2", "nconnect": 16}, INSTANCE_STORE, {"type": "s3", "client": "mountpoint"},
    ],
    workload=[READ, YOCTO, BUILD | {"jobs": [1, 2]}],
    fleet=[{"instanceType": "m6id.4xlarge", "count": 4, "spot": True, "quorum": 0.5, "placement": [50, 50]}],
    exclude=[{"storage": {"type": "s3"}, "workload": {"type": one}} for one in ("yocto", "build")],
    image={"os": "ubuntu-22.04", "bake": True, "packages": ["git"], "containers": ["docker.io/library/alpine:3.20"]},
    maxConcurrentFileSystems=2,
    deadlineHours=48,
    owner="me",
)  # fmt: skip
MATRICES = [WHOLE, RARER]


def answer(text):
    """Plan the text; fails the test on any exception but InvalidMatrix, and on an unsafe plan."""
    try:
        planned = plan(read_matrix(text)).to_document()
    except InvalidMatrix as error:
        assert error.problems
        for problem in error.problems:
            json.dumps(problem.to_document(), allow_nan=False)
            assert str(problem).isprintable()
            assert problem.rule
            assert problem.fix
        return
    json.dumps(planned, allow_nan=False)
    ids = [cell["id"] for cell in planned["cells"]]
    assert len(set(ids)) == len(ids)
    assert all(SAFE.fullmatch(one) for one in ids)
    cost = planned["totals"]["cost_usd"]
    assert 0 <= cost["low"] <= cost["expected"] <= cost["high"]
    for cell in planned["cells"]:
        assert cell["poll_s"] >= 10
        assert cell["expected_s"] <= cell["deadline_s"]


def places(value, path=()):
    """Every place in a JSON document."""
    yield path
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from places(inner, (*path, key))


# The first step of a path says which of the matrices.
PLACES = [path for path in places(MATRICES) if len(path) > 1]


def mutated(path, change):
    """A matrix with one place changed."""
    copy = json.loads(json.dumps(MATRICES))
    here = copy
    for step in path[:-1]:
        here = here[step]
    change(here, path[-1])
    return json.dumps(copy[path[0]])


@settings(max_examples=200, deadline=None)
@given(JSON)
def test_any_json_is_a_plan_or_a_list_of_problems(value):
    answer(json.dumps(value))


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=200) | st.text(max_size=200))
def test_any_text_is_a_plan_or_a_list_of_problems(text):
    answer(text)


@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(PLACES), JSON)
def test_a_good_matrix_with_any_value_replaced_is_a_plan_or_a_list_of_problems(path, value):
    answer(mutated(path, lambda parent, key: parent.__setitem__(key, value)))


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(PLACES))
def test_a_good_matrix_with_anything_left_out_is_a_plan_or_a_list_of_problems(path):
    answer(mutated(path, lambda parent, key: parent.pop(key)))


@settings(max_examples=200, deadline=None)
@given(st.sampled_from([path for path in PLACES if isinstance(path[-1], str)]), st.text(max_size=20), JSON)
def test_a_good_matrix_with_any_key_added_is_a_plan_or_a_list_of_problems(path, key, value):
    answer(mutated(path, lambda parent, _: parent.__setitem__(key, value)))


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from([path for path in PLACES if path[1] in {"storage", "fleet", "workload"}]),
    st.integers(0, 10**12) | st.floats(0, 1e300, allow_nan=False),
)
def test_any_number_in_any_place_is_a_plan_or_a_list_of_problems(path, number):
    answer(mutated(path, lambda parent, key: parent.__setitem__(key, number)))


def test_the_matrices_that_are_mutated_are_good():
    cells = [plan(read_matrix(json.dumps(one))).to_document()["totals"]["cells"] for one in MATRICES]

    assert cells == [3 * 6 * 2 - 6 + 1, 5 * 3 - 2]
