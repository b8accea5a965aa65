"""Today's Spot prices of a matrix, where EC2 answers."""

from datetime import UTC, datetime

from botocore.exceptions import BotoCoreError, ClientError

from aws.stack.clients import impatient_client
from aws.stack.clock import now
from matrix.input.matrix import Matrix
from matrix.plan.assumptions import spot_types
from matrix.price.book import SpotPrice
from matrix.price.spot import HISTORY_S, spot_prices

# A week of one type is some dozen changes in each zone.
MOST_ENTRIES = 5_000


def asked(matrix: Matrix) -> dict[str, SpotPrice]:
    """Return the Spot price of each type that a matrix wants as Spot; nothing where EC2 does not say."""
    types = spot_types(matrix)
    if not types:
        return {}
    pages = impatient_client("ec2").get_paginator("describe_spot_price_history")
    try:
        found = pages.paginate(
            InstanceTypes=types,
            ProductDescriptions=["Linux/UNIX"],
            StartTime=datetime.fromtimestamp(now() - HISTORY_S, UTC),
            PaginationConfig={"MaxItems": MOST_ENTRIES},
        ).build_full_result()
        return spot_prices(found["SpotPriceHistory"])
    except (ClientError, BotoCoreError, KeyError, ValueError):
        # No permission or no answer: the assumption of the book is good enough to go on with, and said.
        return {}
