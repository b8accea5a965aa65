"""Requests to a local cloud that no AWS client would send: signed, except for one change."""

import http.client
from typing import Any
from urllib.parse import urlsplit

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

LIST_TABLES = {"X-Amz-Target": "DynamoDB_20120810.ListTables", "Content-Type": "application/x-amz-json-1.0"}


def address_of(description: dict[str, Any]) -> str:
    """Host and port of the described cloud."""
    return urlsplit(description["endpoint"]).netloc


def signed(
    description: dict[str, Any],
    *,
    host: str | None = None,
    key: Credentials | None = None,
    headers: dict[str, str] | None = None,
    body: bytes = b"{}",
    service: str = "dynamodb",
) -> dict[str, str]:
    """The headers of a POST to /, all of them correctly signed with `key`, or with the operator's if there is none."""
    host = address_of(description) if host is None else host
    request = AWSRequest("POST", f"http://{host}/", data=body, headers={"Host": host, **(headers or LIST_TABLES)})
    key = key or Credentials(description["access_key"], description["secret_key"])
    SigV4Auth(key, service, description["region"]).add_auth(request)
    return dict(request.headers.items())


def send(
    description: dict[str, Any], headers: dict[str, str], method: str = "POST", path: str = "/", body: bytes = b"{}"
) -> tuple[int, dict[str, str], str]:
    """Status, headers in lower case, and body of the response; only the length is added to the request."""
    connection = http.client.HTTPConnection(address_of(description), timeout=30)
    connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
    for name, value in {**headers, "Content-Length": str(len(body))}.items():
        connection.putheader(name, value)
    connection.endheaders(body)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, {name.lower(): value for name, value in answer.getheaders()}, text
