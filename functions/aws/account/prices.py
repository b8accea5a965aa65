"""Today's prices from the Pricing API and EC2's Spot prices; those that AWS does not return are in the price book."""

from datetime import UTC, datetime
from typing import Any

from aws_lambda_powertools import Logger
from botocore.exceptions import BotoCoreError, ClientError

from aws.stack.clients import impatient_client
from aws.stack.clock import now
from contract.retryable import reason_of
from matrix.input.matrix import Matrix
from matrix.plan.assumptions import spot_types
from matrix.price.book import PriceBook, SpotPrice, published_prices
from matrix.price.pricing_api import HISTORY_S, price_in, queries, spot_prices
from matrix.terms.charges import Query

# The price of one type changes some dozen times a week in each zone.
MAX_ENTRIES = 5_000


def spot_prices_of(matrix: Matrix) -> dict[str, SpotPrice]:
    """Return today's Spot price (USD per hour) of each type that a matrix uses as Spot; empty if EC2 has none."""
    types = spot_types(matrix)
    if not types:
        return {}
    pages = impatient_client("ec2").get_paginator("describe_spot_price_history")
    try:
        history = pages.paginate(
            InstanceTypes=types,
            ProductDescriptions=["Linux/UNIX"],
            StartTime=datetime.fromtimestamp(now() - HISTORY_S, UTC),
            PaginationConfig={"MaxItems": MAX_ENTRIES},
        ).build_full_result()
        return spot_prices(history["SpotPriceHistory"])
    except (ClientError, BotoCoreError, KeyError, ValueError) as error:
        # No permission or no answer: the plan then uses the book's assumption and notes it.
        Logger().warning("planned with the price book", what="Spot prices", reason=reason_of(error))
        return {}


# The Pricing API lives in a few regions only and knows the prices of all.
API_REGION = "us-east-1"
# A plan must not wait longer for prices; those of 20 instance types take about 5 s.
PATIENCE_S = 20.0


def book(matrix: Matrix, region: str) -> PriceBook:
    """Return the price book with today's prices in it; after the first failed call the book's own prices stay."""
    until, found = now() + PATIENCE_S, {}
    try:
        for query in queries(matrix):
            if now() > until:
                break
            usd = price_in(_products(query, region), query)
            if usd is not None:
                found[query.name] = usd
    except (ClientError, BotoCoreError, ValueError, KeyError) as error:
        # No answer, no permission, or an answer of another shape: the book's prices are good enough to plan with.
        Logger().warning("planned with the price book", what="today's prices", reason=reason_of(error))
    today = datetime.fromtimestamp(now(), UTC).strftime("%Y-%m-%d")
    return published_prices().refreshed(region, found, today)


def _products(query: Query, region: str) -> list[Any]:
    wanted = [("regionCode", region), *query.attributes]
    filters = [{"Type": "TERM_MATCH", "Field": field, "Value": value} for field, value in wanted]
    answer = impatient_client("pricing", API_REGION).get_products(ServiceCode=query.service, Filters=filters)
    return list(answer["PriceList"])
