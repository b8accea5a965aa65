"""boto3 clients, one of each kind per Lambda sandbox."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import cache
from typing import Any

import boto3
import botocore.session
from botocore.config import Config
from botocore.exceptions import ClientError, EndpointConnectionError
from botocore.utils import parse_timestamp

from aws.stack.retrying import logging_retries
from matrix.terms.errors import NotGranted

# Standard mode retries throttling and transient errors with full jitter; ten attempts last about two minutes at the
# most, less than any function's timeout, so a throttled account slows a run down rather than failing it.
_CONFIG = Config(
    retries={"mode": "standard", "total_max_attempts": 10},
    connect_timeout=5,
    read_timeout=30,
    max_pool_connections=16,  # Analyse cell fetches so many histograms at once
)


# Three take at most 3 s, ten a minute and a half.
ENDPOINT_ATTEMPTS = 3

# Page size of EC2's lists: half of the documented maximum (DescribeNetworkInterfaces).
PAGE_SIZE = 500

# For calls a run can do without: the account may not use or allow the service, or the network may not reach it.
_IMPATIENT = Config(retries={"total_max_attempts": 1}, connect_timeout=2, read_timeout=5)


@cache
def session() -> boto3.Session:
    """Return the sandbox's session, whose clients read times of listings in a hundredth of botocore's time."""
    core = botocore.session.get_session()
    core.get_component("response_parser_factory").set_parser_defaults(timestamp_parser=_timestamp)
    return boto3.Session(botocore_session=core)


def _timestamp(value: Any) -> datetime:
    """Return a time of an answer; dateutil, which botocore asks, takes four fifths of a listing's processor time."""
    if isinstance(value, str) and value.endswith("Z"):
        with suppress(ValueError):
            return datetime.fromisoformat(value)
    return parse_timestamp(value)


def table(name: str) -> Any:
    """Return a DynamoDB table whose calls have the same retries as those of every client."""
    row_table = session().resource("dynamodb", config=_CONFIG).Table(name)
    logging_retries(row_table.meta.client)
    return row_table


# EC2 uses status 500 for these refusals too, and standard mode retries every 500. Ten attempts take a minute; a zone
# without capacity refuses a large fleet once per halved batch, so Launch fleet would run into its timeout.
# https://docs.aws.amazon.com/ec2/latest/devguide/ec2-api-error-codes.html
WANT_OF_CAPACITY = frozenset({"InsufficientInstanceCapacity", "InsufficientHostCapacity", "InsufficientCapacity"})


# Error codes of a missing permission; S3's answer to HEAD has no body, so botocore uses its status as the code.
DENIED = ("UnauthorizedOperation", "AccessDeniedException", "AccessDenied", "403")


@contextmanager
def as_not_granted() -> Iterator[None]:
    """Turn a denial into NotGranted, after which Plan matrix is tried again: IAM is eventually consistent.

    https://docs.aws.amazon.com/IAM/latest/UserGuide/troubleshoot.html#troubleshoot_general_eventual-consistency
    """
    try:
        yield
    except ClientError as error:
        if error.response["Error"]["Code"] not in DENIED:
            raise
        raise NotGranted(
            f"{error}; if the stack was not deployed just now, `matrix verify` says what it lacks"
        ) from error


@cache
def client(service: str) -> Any:
    """Return the sandbox's client of an AWS service."""
    boto_client = logging_retries(session().client(service, config=_CONFIG))
    if service == "ec2":
        boto_client.meta.events.register("needs-retry.ec2.RunInstances", _do_not_retry_want_of_capacity)
    if service == "s3files":
        boto_client.meta.events.register_first("needs-retry.s3files", _give_up_an_endpoint)
    return boto_client


def listed(service: str, operation: str, key: str, **request: Any) -> Iterator[dict[str, Any]]:
    """Yield what all pages of a list have below `key`.

    Without a size EC2 may answer with the whole list at once, 9,000 volumes of a large fleet: "Unpaginated requests are
    susceptible to throttling and timeouts."
    https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeVolumes.html
    """
    if service == "ec2":
        request["PaginationConfig"] = {"PageSize": PAGE_SIZE}
    for page in client(service).get_paginator(operation).paginate(**request):
        yield from page.get(key, ())


def _give_up_an_endpoint(attempts: int, caught_exception: Exception | None = None, **_: Any) -> None:
    """Raise a failure to find an endpoint after some attempts: each sweep asks S3 Files, which some regions lack."""
    if isinstance(caught_exception, EndpointConnectionError) and attempts >= ENDPOINT_ATTEMPTS:
        raise caught_exception


def _do_not_retry_want_of_capacity(response: tuple[Any, dict[str, Any]] | None, **_: Any) -> None:
    """Turn the 500 of a capacity refusal into a 400, which botocore does not retry."""
    if response and response[1].get("Error", {}).get("Code") in WANT_OF_CAPACITY:
        response[0].status_code = 400


@cache
def impatient_client(service: str, region: str | None = None) -> Any:
    """Return the sandbox's client that makes one attempt of a few seconds; `region` None is the function's own."""
    return session().client(service, region_name=region, config=_IMPATIENT)
