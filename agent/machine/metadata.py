"""What the EC2 instance metadata service says about this instance, by version 2 (session tokens) only.

botocore reads the role's keys from the same service, but offers no public way to read anything else.
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
FIRST_PAUSE_S, MAX_PAUSE_S = 0.2, 10.0
# A proxy would send the request from its own machine, and answer for that.
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
    token = _send("PUT", token_path, {"X-aws-ec2-metadata-token-ttl-seconds": str(SESSION_S)}, attempts)
    if not token:
        raise MetadataUnavailable(f"{token_path} is not there; is IMDSv2 switched on?")

    def entry(name: str) -> str:
        return _send("GET", entries + name, {"X-aws-ec2-metadata-token": token}, attempts)

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


def _send(method: str, url: str, headers: dict[str, str], attempts: int) -> str:
    """Return the text of the response; empty if the service has no such entry."""
    # Some servers wait for the length of a PUT, so send it even for an empty body.
    request = Request(url, b"" if method == "PUT" else None, headers, method=method)  # noqa: S310 not a user's URL

    def attempt() -> str:
        try:
            with OPENER.open(request, timeout=TIMEOUT_S) as response:
                return str(response.read().decode())
        except HTTPError as err:
            if err.code == http.client.NOT_FOUND:
                return ""
            raise

    try:
        return retried(url, attempt, _pauses(attempts - 1))
    except HTTPError as err:
        raise MetadataUnavailable(f"{url} answered {err.code}; is IMDSv2 switched on?") from err
    except GaveUp as err:
        raise MetadataUnavailable(f"{url} did not answer {attempts} times: {err}") from err
    except (OSError, http.client.HTTPException) as err:
        raise MetadataUnavailable(f"{url} cannot be reached: {err}") from err


def _pauses(count: int) -> Iterator[float]:
    for number in range(count):
        yield min(FIRST_PAUSE_S * 2**number, MAX_PAUSE_S)
