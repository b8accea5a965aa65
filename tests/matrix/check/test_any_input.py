"""Whatever the input, the answer is a plan or a list of problems: never another exception, never an unsafe id."""

import json

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.mutations import MATRICES, PLACES, answer, mutated

from matrix.check.read import read_matrix
from matrix.plan.planning import plan

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


@settings(max_examples=200)
@given(JSON)
def test_any_json_is_a_plan_or_a_list_of_problems(value):
    answer(json.dumps(value))


@settings(max_examples=100)
@given(st.binary(max_size=200) | st.text(max_size=200))
def test_any_text_is_a_plan_or_a_list_of_problems(text):
    answer(text)


@settings(max_examples=250, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(PLACES), JSON)
def test_a_good_matrix_with_any_value_replaced_is_a_plan_or_a_list_of_problems(path, value):
    answer(mutated(path, lambda parent, key: parent.__setitem__(key, value)))


@settings(max_examples=200)
@given(st.sampled_from(PLACES))
def test_a_good_matrix_with_anything_left_out_is_a_plan_or_a_list_of_problems(path):
    answer(mutated(path, lambda parent, key: parent.pop(key)))


@settings(max_examples=200)
@given(st.sampled_from([path for path in PLACES if isinstance(path[-1], str)]), st.text(max_size=20), JSON)
def test_a_good_matrix_with_any_key_added_is_a_plan_or_a_list_of_problems(path, key, value):
    answer(mutated(path, lambda parent, _: parent.__setitem__(key, value)))


@settings(max_examples=200)
@given(
    st.sampled_from([path for path in PLACES if path[1] in {"storage", "fleet", "workload"}]),
    st.integers(0, 10**12) | st.floats(0, 1e300, allow_nan=False),
)
def test_any_number_in_any_place_is_a_plan_or_a_list_of_problems(path, number):
    answer(mutated(path, lambda parent, key: parent.__setitem__(key, number)))


def test_the_matrices_that_are_mutated_are_good():
    cells = [plan(read_matrix(json.dumps(one))).to_document()["totals"]["cells"] for one in MATRICES]

    assert cells == [3 * 5 * 2 - 5 + 1, 5 * 4 - 2]
