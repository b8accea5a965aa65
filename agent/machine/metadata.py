"""Who this instance is, from the EC2 instance metadata service, version 2 (session tokens) only.

botocore asks the same service for the role's keys by itself, but has no public way to ask it for anything else.
"""

from __future__ import annotations

import http.client
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.error import HTTPError
from urllib.request import ProxyHandler, Request, build_opener

from agent.errors import MetadataUnavailable
from agent.retrying import GaveUp, retried

if TYPE_CHECKING:
    from collections.abc import Iterator

DEFAULT_ENDPOINT = "http://169.254.169.254/"
TIMEOUT_S = 5
SESSION_S = 60
# At boot the network may come up after user data starts: 8 attempts with doubling pauses wait about 25 s.
ATTEMPTS = 8
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.2, 10.0
# Through a proxy the question would come from somebody else.
OPENER = build_opener(ProxyHandler({}))


@dataclass(frozen=True)
class Identity:
    """The instance as EC2 describes it; an optional entry that the service does not know is empty."""

    instance_id: str
    instance_type: str
    availability_zone: str
    image_id: str
    region: str
    private_ip: str = ""
    subnet_id: str = ""


def identify(endpoint: str | None = None, attempts: int = ATTEMPTS) -> Identity:
    """Identify the instance with one session token, at `endpoint` or AWS_EC2_METADATA_SERVICE_ENDPOINT."""
    root = (endpoint or os.environ.get("AWS_EC2_METADATA_SERVICE_ENDPOINT") or DEFAULT_ENDPOINT).rstrip("/")
    token_path, entries = f"{root}/latest/api/token", f"{root}/latest/meta-data/"
    token = _ask("PUT", token_path, {"X-aws-ec2-metadata-token-ttl-seconds": str(SESSION_S)}, attempts)
    if not token:
        raise MetadataUnavailable(f"{token_path} is not there; is IMDSv2 switched on?")

    def entry(name: str) -> str:
        return _ask("GET", entries + name, {"X-aws-ec2-metadata-token": token}, attempts)

    identity = Identity(
        instance_id=entry("instance-id"),
        instance_type=entry("instance-type"),
        availability_zone=entry("placement/availability-zone"),
        image_id=entry("ami-id"),
        region=entry("placement/region"),
        private_ip=entry("local-ipv4"),
        subnet_id=entry(f"network/interfaces/macs/{entry('mac')}/subnet-id"),
    )
    if not identity.instance_id or not identity.region:
        raise MetadataUnavailable(f"{entries} knows no instance-id or no placement/region: {identity}")
    return identity


def _ask(method: str, url: str, headers: dict[str, str], attempts: int) -> str:
    """The answer's text; empty when the service has no such entry."""
    # A PUT without a body must still send its length, because some servers wait for one otherwise.
    request = Request(url, b"" if method == "PUT" else None, headers, method=method)  # noqa: S310 not a user's URL

    def ask() -> str:
        try:
            with OPENER.open(request, timeout=TIMEOUT_S) as answer:
                return str(answer.read().decode())
        except HTTPError as err:
            if err.code == http.client.NOT_FOUND:
                return ""
            raise

    try:
        return retried(url, ask, _pauses(attempts - 1))
    except HTTPError as err:
        raise MetadataUnavailable(f"{url} answered {err.code}; is IMDSv2 switched on?") from err
    except GaveUp as err:
        raise MetadataUnavailable(f"{url} did not answer {attempts} times: {err}") from err
    except (OSError, http.client.HTTPException) as err:
        raise MetadataUnavailable(f"{url} cannot be asked: {err}") from err


def _pauses(count: int) -> Iterator[float]:
    for number in range(count):
        yield min(FIRST_PAUSE_S * 2**number, LONGEST_PAUSE_S)
