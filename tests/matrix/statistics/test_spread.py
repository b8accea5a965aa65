"""Differences between instances and between repetitions are told apart; outliers are marked and stay."""

import numpy as np
import pytest
from support.fleet_values import fleet

from matrix.statistics.describing import outliers
from matrix.statistics.spread import spread


def test_medians_of_instances_and_of_repetitions_are_kept_apart():
    found = spread(fleet([[10, 20], [30, 40]]))

    assert found["instance_medians"] == {"low": 15, "high": 35, "relative": pytest.approx(20 / 25)}
    assert found["repetition_medians"] == {"low": 20, "high": 30, "relative": pytest.approx(10 / 25)}
    assert found["by_repetition"][0] == {"repetition": 1, "n": 2, "median": 20}


def test_an_outlier_is_marked_with_its_instance_and_how_far_out_it_is():
    values = fleet([[float(v)] for v in (*range(1, 12), 28, 100)])
    # Quartiles of 13 values are the 4th and the 10th: 4 and 10, so fences at -5 and 19, far out beyond 28.

    found = outliers(values)

    assert found["fences"] == {"low": -5, "high": 19}
    assert [(one["instance"], one["value"], one["side"], one["kind"]) for one in found["listed"]] == [
        ("i-012", 100, "high", "far out"),
        ("i-011", 28, "high", "outside"),
    ]
    assert len(values.pooled) == 13


def test_seven_values_and_equal_quartiles_are_not_judged():
    assert outliers(fleet([[float(v)] for v in (1, 1, 1, 1, 1, 1, 99)]))["fences"] is None
    assert outliers(fleet([[float(v)] for v in (5, 5, 5, 5, 5, 5, 5, 5, 5, 99)]))["count"] == 0


def test_of_normal_values_few_are_marked():
    rng = np.random.default_rng(8)
    marked = sum(outliers(fleet(rng.normal(100, 5, (200, 1))))["count"] for _ in range(50))

    # 0.7 % of 10,000.
    assert 40 <= marked <= 120
