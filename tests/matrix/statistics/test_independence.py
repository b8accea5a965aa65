"""What repetitions of the same instances are worth."""

import numpy as np
import pytest
from support.fleet_values import fleet

from matrix.statistics.fleet_values import from_columns
from matrix.statistics.independence import independent_n, intraclass_correlation


def test_repetitions_that_only_repeat_are_worth_nothing():
    same = fleet([[value] * 3 for value in range(1, 11)])

    assert independent_n(same) == 10


def test_repetitions_of_instances_that_do_not_differ_count_in_full():
    # Each instance has the same three values: nothing lies between instances.
    assert independent_n(fleet([[1, 2, 3]] * 10)) == 30


def test_the_correlation_of_a_known_table():
    # Means 2, 4, 6: between = 2 * (4 + 0 + 4) / 2 = 8; within = 3 * 2 / 3 = 2; (8 - 2) / (8 + 2) = 0.6.
    assert intraclass_correlation(np.array([[1.0, 3.0], [3.0, 5.0], [5.0, 7.0]])) == pytest.approx(0.6)


def test_kish_design_effect_turns_the_correlation_into_a_number_of_values():
    table = [[1, 3], [3, 5], [5, 7], [1, 3], [3, 5], [5, 7]]
    # Means 2 4 6 2 4 6: between = 2 * 16 / 5 = 6.4, within = 12 / 6 = 2; correlation 4.4 / 8.4; 12 / (1 + 0.524) = 7.9.

    assert independent_n(fleet(table)) == 7


def test_fewer_than_six_instances_count_once_each():
    assert independent_n(fleet(np.random.default_rng(1).normal(size=(5, 20)))) == 5


def test_one_instance_alone_is_as_many_as_its_repetitions():
    alone = fleet([[1, 2, 3, 4, 5, 6, 7]])

    assert (independent_n(alone), alone.unit_name) == (7, "repetitions")


def test_one_repetition_of_each_instance_is_as_many_as_instances():
    assert independent_n(fleet([[float(v)] for v in range(50)])) == 50


def test_values_that_are_missing_are_not_counted():
    values = from_columns(
        {"instance": ["a", "a", "b"], "repetition": [1, 2, 1], "metrics": {"iops": [1.0, None, 3.0]}}, "iops"
    )

    assert sorted(values.pooled) == [1.0, 3.0]
    assert values.instances == ("a", "b")
