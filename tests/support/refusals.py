"""Refusals of AWS."""

from unittest.mock import Mock

from botocore.exceptions import ClientError

from aws.stack.clients import client


def refusal(code: str, operation: str = "Call", *, message: str = "no", status: int | None = None) -> ClientError:
    """The error that boto3 raises for a code, if wanted with the status of the HTTP answer."""
    metadata = {"ResponseMetadata": {"HTTPStatusCode": status}} if status else {}
    return ClientError({"Error": {"Code": code, "Message": message}, **metadata}, operation)


def refusing(code: str, operation: str = "Call", *, message: str = "no", service: str = "") -> Mock:
    """A call that is refused with this code, if wanted by the class that a service's client has for it."""
    error = refusal(code, operation, message=message)
    return Mock(side_effect=client(service).exceptions.from_code(code)(error.response, operation) if service else error)
