"""The operator's AWS clients, by which the cloud calls its own endpoint; no role restricts them."""

from typing import Any

import boto3

KEYS = {"aws_access_key_id": "local", "aws_secret_access_key": "local"}


def operator_client(service: str, endpoint: str, region: str, **options: Any) -> Any:
    """Return a client whose keys belong to no role."""
    return boto3.session.Session().client(service, endpoint_url=endpoint, region_name=region, **{**KEYS, **options})
