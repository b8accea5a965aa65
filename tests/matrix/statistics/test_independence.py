"""What instances and repetitions are worth together."""

import numpy as np
from support.fleet_values import fleet

from matrix.statistics.fleet_values import FleetValues, from_columns
from matrix.statistics.spread import independent_n


def drawn(instances, repetitions, *, between_instances=0.0, between_repetitions=0.0, residual=0.02, seed=1):
    """Values around 1 with so much noise of each kind."""
    rng = np.random.default_rng(seed)
    own = between_instances * rng.normal(size=(instances, 1))
    shared = between_repetitions * rng.normal(size=(1, repetitions))
    return fleet(1 + own + shared + residual * rng.normal(size=(instances, repetitions)), is_shared=True)


def test_values_that_neither_share_are_all_worth_their_number():
    counts = [independent_n(drawn(50, 3, seed=seed)) for seed in range(20)]

    assert max(counts) <= 150
    assert np.median(counts) > 100


def test_noise_that_all_instances_share_lowers_the_worth_and_never_raises_it():
    levels = (0.0, 0.02, 0.05, 0.5)
    worth = [
        np.median([
            independent_n(drawn(50, 3, between_instances=0.03, between_repetitions=shared, seed=seed))
            for seed in range(30)
        ])
        for shared in levels
    ]  # fmt: skip

    assert list(worth) == sorted(worth, reverse=True)
    assert worth[0] > 50
    assert worth[-1] == 3


def test_instances_that_miss_repetitions_do_not_stop_the_count():
    table = [[1.0 + i, 1.5 + i, np.nan if i < 3 else 1.2 + i] for i in range(10)]
    rows = [(f"i-{i}", r, v) for i, row in enumerate(table) for r, v in enumerate(row) if not np.isnan(v)]

    assert 1 <= independent_n(FleetValues.of(rows, is_shared=True)) <= 10


def test_values_that_are_missing_are_not_counted():
    values = from_columns(
        {"instance": ["a", "a", "b"], "repetition": [1, 2, 1], "metrics": {"iops": [1.0, None, 3.0]}},
        "iops",
        is_shared=False,
    )

    assert sorted(values.pooled) == [1.0, 3.0]
    assert values.instances == ("a", "b")
