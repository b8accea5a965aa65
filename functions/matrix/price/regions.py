"""Cost of a matrix in each region, cheapest first, and the products that a region lacks.

The price list answers a query without a region for all regions, so all regions take as many queries as one.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypedDict

from matrix.input.matrix import Matrix
from matrix.input.storage_names import brief_names
from matrix.price.pricing_api import is_of_usage, price_in, queries
from matrix.storages.base import Storage
from matrix.terms.charges import Query
from matrix.terms.documents.parts import CostRange

REGIONAL = "AWS Region"  # other locations of a price list are Local Zones and Wavelength Zones

NOT_ENABLED = "not enabled for this account"


class RegionCost(TypedDict):
    """A region in the table: its cost in US dollars, or the products that it lacks."""

    region: str
    cost_usd: CostRange | None
    missing: list[str]
    reason: str
    """Why the region's prices could not be queried; empty if they could."""
    book_prices: list[str]
    """Products without a single price there. The book's price counts, with a wider range."""


@dataclass(frozen=True)
class Region:
    """Response of EC2 in a region: its instance types, or the reason of a failed query."""

    name: str
    instance_types: frozenset[str] = frozenset()
    reason: str = ""


@dataclass
class PriceList:
    """The price list's products by query and region."""

    products: dict[Query, dict[str, list[str]]] = field(default_factory=dict)

    def take(self, query: Query, products: Iterable[str]) -> None:
        """Keep an answer of the price list: the products of whole regions that are of the query's usage."""
        regions = self.products.setdefault(query, {})
        for text in products:
            attributes = json.loads(text)["product"]["attributes"]
            if attributes.get("locationType", REGIONAL) == REGIONAL and is_of_usage(text, query):
                regions.setdefault(attributes.get("regionCode", ""), []).append(text)

    def usd(self, matrix: Matrix, region: str) -> dict[str, float]:
        """Return the prices of a matrix in a region by name, in the book's units."""
        asked = {query.name: price_in(self._products_in(query, region), query) for query in queries(matrix)}
        return {name: usd for name, usd in asked.items() if usd is not None}

    def _products_in(self, query: Query, region: str) -> list[str]:
        return self.products.get(query, {}).get(region, [])

    def lacks(self, query: Query, region: str) -> bool:
        """Return whether other regions have a product and this region does not.

        A product that no region has shows nothing: the price list uses another name for it.
        """
        return bool(self.products.get(query)) and not self._products_in(query, region)

    def has(self, query: Query) -> bool:
        """Return whether any region has a product."""
        return bool(self.products.get(query))


def instance_types(matrix: Matrix) -> list[str]:
    """Return the instance types of fleets and file servers."""
    # Instance types have a point in their names, prices of the book have none.
    return [query.name for query in queries(matrix) if "." in query.name]


def storages_of(matrix: Matrix) -> dict[str, Storage]:
    """Return the storages of a matrix by name."""
    texts = {json.dumps(storage.document, sort_keys=True): storage for _, storage in matrix.located("storage")}
    names = brief_names((text, storage.document) for text, storage in texts.items())
    return {name: texts[text] for text, name in names.items()}


def all_queries(matrix: Matrix) -> list[Query]:
    """Return all queries to the price list: prices, and products that show in which regions a storage is offered."""
    shown = [query for storage in storages_of(matrix).values() for query in storage.offer_queries]
    return list(dict.fromkeys([*queries(matrix), *shown]))


def missing(matrix: Matrix, region: Region, listed: PriceList) -> list[str]:
    """Return the instance types and storages of a matrix that a region has not."""
    types = instance_types(matrix)
    if region.reason:
        # The region could not be queried, so the price list decides.
        sold = {query.name: not listed.lacks(query, region.name) for query in queries(matrix)}
        lacking = [name for name in types if not sold[name]]
    else:
        lacking = [name for name in types if name not in region.instance_types]
    for name, storage in storages_of(matrix).items():
        # A file server's instance is among the types.
        products = [query for query in storage.offer_queries if query.name not in types]
        if any(listed.lacks(query, region.name) for query in products):
            lacking.append(name)
    return lacking


def unchecked(matrix: Matrix, listed: PriceList) -> list[str]:
    """Return the shared storages that the price list knows by no product, so that no region is known to lack them."""
    return [
        name
        for name, storage in storages_of(matrix).items()
        if storage.traits.is_shared and not any(map(listed.has, storage.offer_queries))
    ]


def in_one_region(matrix: Matrix) -> list[str]:
    """Return the parts of a matrix that exist in one region only: the user's file systems and images."""
    ids = [storage.existing_id for storage in storages_of(matrix).values() if storage.existing_id]
    own_image = matrix.image.ami if matrix.image and matrix.image.ami else None
    return [*ids, *([own_image] if own_image else [])]


def in_order(regions: Iterable[RegionCost]) -> list[RegionCost]:
    """Return the regions: cheapest first, then regions with a failed query, then regions that lack a product."""
    return sorted(
        regions,
        key=lambda each: (
            bool(each["missing"]),
            bool(each["reason"]),
            each["cost_usd"]["expected"] if each["cost_usd"] else 0.0,
            each["region"],
        ),
    )


def best(regions: Iterable[Mapping[str, object]]) -> str | None:
    """Return the first region that answered and lacks nothing."""
    return next((str(each["region"]) for each in regions if not each["missing"] and not each["reason"]), None)
