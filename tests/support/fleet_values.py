"""Fleets of drawn values for the tests of statistics."""

from matrix.statistics.fleet_values import FleetValues


def fleet(table):
    """A fleet's values from rows of instances."""
    return FleetValues.of([(f"i-{i:03}", r, v) for i, row in enumerate(table) for r, v in enumerate(row, 1)])
