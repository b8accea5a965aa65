"""Fleets of drawn values for the tests of statistics."""

from matrix.statistics.fleet_values import FleetValues


def fleet(table, *, is_shared=False):
    """A fleet's values from rows of instances."""
    rows = [(f"i-{i:03}", r, value) for i, row in enumerate(table) for r, value in enumerate(row, 1)]
    return FleetValues.of(rows, is_shared=is_shared)
