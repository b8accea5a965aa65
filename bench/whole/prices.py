"""What AWS charges for orchestration, in USD, and where its limits are: us-east-1, without a free tier."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from matrix.price.book import PriceBook

# Prices that plans do not need. Lambda on arm64: its page's 0.0000133334 per GB-second and 0.20 per million calls.
GB_SECOND, CALL = 0.0000133334, 0.20e-6
# DynamoDB on demand since November 2024 (aws.amazon.com/dynamodb/pricing/on-demand), per unit.
UNITS = {"read": 0.125e-6, "write": 0.625e-6}
# aws.amazon.com/cloudwatch/pricing: 0.01 per 1,000 metrics requested.
METRIC = 0.01e-3
S3_READS = frozenset({"GetObject", "HeadObject"})


def s3_usd(book: PriceBook, requests: Mapping[str, float]) -> float:
    """Return the price of requests to S3, by operation."""
    read, written = book.price("s3_get").usd, book.price("s3_put").usd
    return sum(number * (read if operation in S3_READS else written) for operation, number in requests.items())


@dataclass(frozen=True)
class Bucket:
    """Tokens that refill (EC2 guide, ec2-api-throttling)."""

    size: float
    refill_per_s: float

    def most_taken(self, taken: list[tuple[float, float]]) -> float:
        """Return how many tokens are missing at the worst moment, by (moment in s, tokens) pairs."""
        missing = worst = last = 0.0
        for moment, tokens in sorted(taken):
            missing = max(0.0, missing - (moment - last) * self.refill_per_s) + tokens
            worst, last = max(worst, missing), moment
        return worst


RUN_INSTANCES = Bucket(1_000, 2)
CALLS = {"RunInstances": Bucket(5, 2), "DescribeInstances": Bucket(100, 20), "DescribeVolumes": Bucket(100, 20)}
