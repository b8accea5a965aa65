"""Current Spot prices of the instance types of a matrix, where EC2 answers."""

from datetime import UTC, datetime

from aws_lambda_powertools import Logger
from botocore.exceptions import BotoCoreError, ClientError

from aws.stack.clients import impatient_client
from aws.stack.clock import now
from contract.retryable import reason_of
from matrix.input.matrix import Matrix
from matrix.plan.assumptions import spot_types
from matrix.price.book import SpotPrice
from matrix.price.pricing_api import HISTORY_S, spot_prices

# The price of one type changes some dozen times a week in each zone.
MAX_ENTRIES = 5_000


def asked(matrix: Matrix) -> dict[str, SpotPrice]:
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
