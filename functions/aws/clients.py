"""boto3 clients, one of each kind per Lambda sandbox."""

from functools import cache
from typing import Any

import boto3
from botocore.config import Config

# Standard mode retries throttling and transient errors with full jitter; ten attempts last about two minutes at the
# most, less than any function's timeout, so a throttled account slows a run down rather than failing it.
_CONFIG = Config(retries={"mode": "standard", "total_max_attempts": 10}, connect_timeout=5, read_timeout=30)


@cache
def client(service: str) -> Any:
    """Return the sandbox's client of an AWS service."""
    return boto3.client(service, config=_CONFIG)
