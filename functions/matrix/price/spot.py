"""Spot prices from EC2's price history: the price of a type now, and its lowest and highest price."""

from collections.abc import Iterable, Mapping
from typing import Any

from matrix.price.book import SpotPrice

HISTORY_S = 7 * 86_400.0


def spot_prices(history: Iterable[Mapping[str, Any]]) -> dict[str, SpotPrice]:
    """Return the price of each instance type from entries of DescribeSpotPriceHistory, in any order.

    An entry is a change of the price in one zone: the newest one of a zone is in force.
    """
    entries: dict[str, list[Mapping[str, Any]]] = {}
    for entry in history:
        entries.setdefault(entry["InstanceType"], []).append(entry)
    return {name: _price(of_type) for name, of_type in entries.items()}


def _price(entries: list[Mapping[str, Any]]) -> SpotPrice:
    newest: dict[str, float] = {}
    for entry in sorted(entries, key=lambda change: change["Timestamp"]):
        newest[entry["AvailabilityZone"]] = float(entry["SpotPrice"])
    seen = [float(entry["SpotPrice"]) for entry in entries]
    return SpotPrice(min(seen), sum(newest.values()) / len(newest), max(seen), len(newest))
