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


# Answers that EC2 gives with status 500 and means. Asked ten times, each would take a minute; a zone without capacity
# refuses a large fleet once for each half of a batch, which would be longer than Launch fleet may run.
# https://docs.aws.amazon.com/ec2/latest/devguide/ec2-api-error-codes.html
WANT_OF_CAPACITY = frozenset({"InsufficientInstanceCapacity", "InsufficientHostCapacity", "InsufficientCapacity"})


@cache
def client(service: str) -> Any:
    """Return the sandbox's client of an AWS service."""
    made = boto3.client(service, config=_CONFIG)
    if service == "ec2":
        made.meta.events.register("needs-retry.ec2.RunInstances", _take_at_its_word)
    return made


def _take_at_its_word(response: tuple[Any, dict[str, Any]] | None, **_: Any) -> None:
    """Give a want of capacity the status of an answer that stays the same, for which botocore does not ask again."""
    if response and response[1].get("Error", {}).get("Code") in WANT_OF_CAPACITY:
        response[0].status_code = 400


@cache
def impatient_client(service: str, region: str | None = None) -> Any:
    """Return the sandbox's client of a service that is asked once and shortly, in another region where it says so."""
    return boto3.client(service, region_name=region, config=_IMPATIENT)
