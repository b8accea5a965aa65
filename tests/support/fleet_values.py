"""Fleets of random values for the tests of statistics."""

import numpy as np

from matrix.statistics.fleet_values import FleetValues


def fleet(table, *, is_shared=False):
    """A fleet's values from rows of instances."""
    rows = [(f"i-{i:03}", r, value) for i, row in enumerate(table) for r, value in enumerate(row, 1)]
    return FleetValues.of(rows, is_shared=is_shared)


def launched(tables, *, is_shared=True):
    """The values of several launches from one table each, with the same repetitions and separate instances."""
    each = [np.asarray(table, dtype=float) for table in tables]
    instances = tuple(f"i-{launch}-{i:03}" for launch, table in enumerate(each, 1) for i in range(len(table)))
    launch_of = tuple(launch for launch, table in enumerate(each, 1) for _ in table)
    repetitions = tuple(range(1, each[0].shape[1] + 1))
    return FleetValues(instances, repetitions, np.vstack(each), is_shared, launch_of)
