"""The operator: who started the cloud. Restricted by no role, known by a key that only this cloud has."""

import secrets
import string
from dataclasses import dataclass, field
from typing import Any

import boto3

ACCOUNT = "123456789012"  # moto's
# An access key of AWS has 20 of these characters; no key of AWS begins with LOCAL, so nobody takes one for the other.
KEY_CHARACTERS = string.ascii_uppercase + "234567"


def _new_access_key() -> str:
    return "LOCAL" + "".join(secrets.choice(KEY_CHARACTERS) for _ in range(15))


@dataclass(frozen=True)
class Operator:
    """The operator of one cloud: where it is, and the key that it was given at its start."""

    endpoint: str
    region: str
    access_key: str = field(default_factory=_new_access_key)
    secret_key: str = field(default_factory=lambda: secrets.token_urlsafe(30), repr=False)

    def client(self, service: str, region: str | None = None, **options: Any) -> Any:
        """Return a boto3 client of this cloud that signs with the operator's key, or with that of `options`."""
        keys = {"aws_access_key_id": self.access_key, "aws_secret_access_key": self.secret_key}
        place = {"endpoint_url": self.endpoint, "region_name": region or self.region}
        return boto3.session.Session().client(service, **{**place, **keys, **options})
