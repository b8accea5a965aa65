"""The operator: the user who started the local cloud. No role restricts the operator, whose key is valid only here."""

import secrets
import string
from dataclasses import dataclass, field
from typing import Any

import boto3

ACCOUNT, PARTITION = "123456789012", "aws"  # moto's
# AWS access keys have 20 of these characters, and none starts with LOCAL, so the two cannot be confused.
KEY_CHARACTERS = string.ascii_uppercase + "234567"


def _new_access_key() -> str:
    return "LOCAL" + "".join(secrets.choice(KEY_CHARACTERS) for _ in range(15))


@dataclass(frozen=True)
class Operator:
    """The operator of a local cloud: its endpoint, and the key created at its start."""

    endpoint: str
    region: str
    access_key: str = field(default_factory=_new_access_key)
    secret_key: str = field(default_factory=lambda: secrets.token_urlsafe(30), repr=False)
    # A session takes 25 ms to make.
    session: Any = field(default_factory=boto3.session.Session, repr=False)

    def client(self, service: str, region: str | None = None, **options: Any) -> Any:
        """Return a boto3 client of this cloud that signs with the operator's key, or with the key in `options`."""
        keys = {"aws_access_key_id": self.access_key, "aws_secret_access_key": self.secret_key}
        place = {"endpoint_url": self.endpoint, "region_name": region or self.region}
        return self.session.client(service, **{**place, **keys, **options})
