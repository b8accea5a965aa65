"""Today's prices from AWS's price list: queries for a matrix, and the prices in the Pricing API's answers.

Each storage has the queries of its products. If a query matches no product, or several at different prices, the book's
price stays in force. Spot prices come from EC2's price history.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from matrix.input.matrix import Matrix
from matrix.price.book import SpotPrice
from matrix.storages.ebs import volume_queries
from matrix.terms.charges import Query, instance_query
from matrix.terms.grouping import grouped


def queries(matrix: Matrix) -> list[Query]:
    """Return the queries for the instance types and storages of a matrix."""
    needed = [instance_query(name) for name in dict.fromkeys(fleet.instance_type for fleet in matrix.fleets())]
    needed += volume_queries("gp3")  # every instance has such a root volume
    for _, storage in matrix.located("storage"):
        needed += storage.price_queries
    return list(dict.fromkeys(needed))


def price_in(products: Iterable[str], query: Query) -> float | None:
    """Return the price per unit of the book in the products of a response, None unless it is unambiguous."""
    prices = set()
    for text in products:
        product = json.loads(text)
        if _usage_type(product).endswith(query.usage) and not _is_infrequent(product):
            prices |= set(_on_demand_usd(product))
    return prices.pop() * query.scale if len(prices) == 1 else None


def _usage_type(product: Any) -> str:
    return str(product["product"]["attributes"].get("usagetype", ""))


def _is_infrequent(product: Any) -> bool:
    """`IATimedStorage-ByteHrs` ends like `TimedStorage-ByteHrs`, but is the Infrequent Access class."""
    return any(word in _usage_type(product) for word in ("IATimed", "ArchiveTimed", "BackupUsage"))


def _on_demand_usd(product: Any) -> Iterable[float]:
    for offer in product.get("terms", {}).get("OnDemand", {}).values():
        for dimension in offer["priceDimensions"].values():
            usd = float(dimension["pricePerUnit"].get("USD", 0.0))
            if usd > 0 and float(dimension.get("beginRange") or 0) == 0:
                yield usd


HISTORY_S = 7 * 86_400.0


def spot_prices(history: Iterable[Mapping[str, Any]]) -> dict[str, SpotPrice]:
    """Return the price of each instance type from entries of DescribeSpotPriceHistory, in any order.

    An entry is a change of the price in one zone: the newest one of a zone is in force.
    """
    entries = grouped((entry["InstanceType"], entry) for entry in history)
    return {name: _spot_price(of_type) for name, of_type in entries.items()}


def _spot_price(entries: list[Mapping[str, Any]]) -> SpotPrice:
    newest: dict[str, float] = {}
    for entry in sorted(entries, key=lambda change: change["Timestamp"]):
        newest[entry["AvailabilityZone"]] = float(entry["SpotPrice"])
    seen = [float(entry["SpotPrice"]) for entry in entries]
    return SpotPrice(min(seen), sum(newest.values()) / len(newest), max(seen), len(newest))
