"""Tables of values as documents keep them: by rows, with holes."""

import numpy as np
import pytest

from matrix.statistics.fleet_values import FleetValues, from_columns

INSTANCES, REPETITIONS = ["a", "b", "c", "d"], [1, 2, 3]
TABLES = {
    "whole": [(instance, repetition, 1.5 * repetition) for instance in INSTANCES for repetition in REPETITIONS],
    "one value missing": [(instance, repetition, 2.0) for instance in INSTANCES for repetition in (1, 2)][1:],
    "an instance missing": [(instance, repetition, 3.0) for instance in "acd" for repetition in REPETITIONS],
    "a repetition missing": [(instance, repetition, 4.0) for instance in INSTANCES for repetition in (1, 3)],
    "nothing": [],
}


@pytest.mark.parametrize("launch_of", [{}, {"a": 1, "b": 1, "c": 2, "d": 3}], ids=["once", "launches"])
@pytest.mark.parametrize("rows", TABLES)
def test_values_that_were_kept_by_rows_are_the_same_again(rows, launch_of):
    values = FleetValues.of(TABLES[rows], is_shared=True, launch_of=launch_of)

    kept = values.rows(INSTANCES, REPETITIONS)
    again = FleetValues.of_rows(INSTANCES, REPETITIONS, kept, is_shared=True, launch_numbers=list(launch_of.values()))

    assert [len(row) for row in kept] == [3] * 4
    assert (again.instances, again.repetitions, again.launch_numbers) == (
        values.instances, values.repetitions, values.launch_numbers,
    )  # fmt: skip
    assert np.array_equal(again.table, values.table, equal_nan=True)


def test_values_that_are_missing_are_not_counted():
    values = from_columns(
        {"instance": ["a", "a", "b"], "repetition": [1, 2, 1], "metrics": {"iops": [1.0, None, 3.0]}},
        "iops",
        is_shared=False,
    )

    assert sorted(values.pooled) == [1.0, 3.0]
    assert values.instances == ("a", "b")
