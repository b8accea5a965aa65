"""The operator's AWS clients: what the cloud itself uses to speak to its own endpoint, restricted by no role."""

from typing import Any

import boto3

KEYS = {"aws_access_key_id": "local", "aws_secret_access_key": "local"}


def operator_client(service: str, endpoint: str, region: str, **options: Any) -> Any:
    """A client with keys that belong to no role."""
    return boto3.session.Session().client(service, endpoint_url=endpoint, region_name=region, **{**KEYS, **options})
