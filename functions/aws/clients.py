"""boto3 clients, one of each kind per Lambda sandbox."""

from functools import cache
from typing import Any

import boto3
from botocore.config import Config

# Standard mode retries throttling and transient errors with full jitter; ten attempts last about two minutes at the
# most, less than any function's timeout, so a throttled account slows a run down rather than failing it.
_CONFIG = Config(
    retries={"mode": "standard", "total_max_attempts": 10},
    connect_timeout=5,
    read_timeout=30,
    max_pool_connections=16,  # as many as Analyse cell fetches histograms at once
)


# For what may be left out: a service that an account does not use or allow, or that is not to be reached.
_IMPATIENT = Config(retries={"total_max_attempts": 1}, connect_timeout=2, read_timeout=5)


def table(name: str) -> Any:
    """Return a DynamoDB table; its calls wait and try again as those of every client do."""
    return boto3.resource("dynamodb", config=_CONFIG).Table(name)


@cache
def client(service: str) -> Any:
    """Return the sandbox's client of an AWS service."""
    return boto3.client(service, config=_CONFIG)


@cache
def impatient_client(service: str, region: str | None = None) -> Any:
    """Return the sandbox's client of a service that is asked once and shortly, in another region where it says so."""
    return boto3.client(service, region_name=region, config=_IMPATIENT)
