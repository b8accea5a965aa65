"""Recorded requests and answers of the local cloud, held against botocore's models and AWS's prose."""

import base64
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from botocore.awsrequest import HeadersDict
from botocore.model import OperationModel, Shape
from botocore.parsers import create_parser
from judge import prose, shapes
from judge.requests import SentRequest

# Answers of the local cloud that are not as AWS's model of the operation has them; each with what it means for us.
KNOWN_DIFFERENCES = {
    "dynamodb:BatchWriteItem BatchWriteItem.UnprocessedItems: {} has a length of 0, not from 1 to 25": "AWS's own "
    "answers have it, as the example of its API reference has",
    "ec2:DescribeVpcEndpoints DescribeVpcEndpoints.VpcEndpoints[].State: 'available' is none of PendingAcceptance, "
    "Pending, Available, Deleting, Deleted, Rejected, Failed, Expired, Partial": "AWS's own answers have it in small "
    "letters, as the example of its CLI reference has; Plan matrix reads both",
}


@dataclass(frozen=True)
class Exchange:
    """One request and its answer, as local.recording writes them; a body that was too long to keep is None."""

    service: str
    method: str
    target: str
    headers: dict[str, str]
    body: bytes | None
    status: int
    answer_headers: dict[str, str]
    answer: bytes | None

    @property
    def operation(self) -> OperationModel:
        """The operation that is asked for. Raises LookupError where the service has none that fits."""
        return self._request.operation

    @property
    def call(self) -> str:
        """What is asked for, as "service:Operation"."""
        operation = self.operation
        return f"{operation.service_model.service_name}:{operation.name}"

    @cached_property
    def _request(self) -> SentRequest:
        return SentRequest(self.service, self.method, self.target, self.headers, self.body or b"")

    def parameters(self) -> dict[str, Any]:
        """Return the parameters of the call, as the client had them."""
        return self._request.parameters()

    def refusals(self) -> list[str]:
        """Return what AWS would refuse of the request."""
        operation = self.operation
        if operation.input_shape is None:
            return []
        parameters, service = self.parameters(), operation.service_model.service_name
        return [
            *shapes.violations(operation.input_shape, parameters, operation.name),
            *prose.refusals_of_request(service, operation.name, parameters),
        ]

    def differences(self) -> list[str]:
        """Return what of the answer is not as the model has it; of a refusal only that its error has a code."""
        operation = self.operation
        shape = operation.output_shape
        headers = HeadersDict(self.answer_headers)
        response = {"body": self.seen_answer, "headers": headers, "status_code": self.status}
        parsed = create_parser(self._request.protocol).parse(response, shape)
        if self.status >= 300:
            has_code = self.method == "HEAD" or self.status == 304 or parsed.get("Error", {}).get("Code")
            return [] if has_code else [f"{operation.name}: an error without a code"]
        if shape is None or self.answer is None:
            return []
        members = {
            name: value
            for name, value in parsed.items()
            if name in shape.members and shape.members[name].type_name != "blob"
        }
        problems = shapes.violations(shape, members, operation.name)
        if "json" in self._request.protocol and self.seen_answer and "payload" not in shape.serialization:
            problems += _unknown(shape, json.loads(self.answer), operation.name)
        return problems

    @property
    def seen_answer(self) -> bytes:
        """The answer's body where it is a document of AWS, nothing where it is an object or a payload of ours."""
        shape = self.operation.output_shape
        payload = shape and shape.serialization.get("payload")
        is_ours = payload and shape.members[payload].type_name == "blob" and self.status < 300
        return b"" if is_ours else self.answer or b""


def _unknown(shape: Shape, value: Any, path: str) -> Iterator[str]:
    """Yield members that a shape does not have, and nulls, of an answer in JSON."""
    if value is None:
        yield f"{path}: is null"
    elif shape.type_name == "structure" and isinstance(value, dict):
        members = {member.serialization.get("name", name): member for name, member in shape.members.items()}
        for name, child in value.items():
            if name not in members:
                yield f"{path}.{name}: is not a member of {shape.name}"
            else:
                yield from _unknown(members[name], child, f"{path}.{name}")
    elif shape.type_name == "list" and isinstance(value, list):
        for index, child in enumerate(value):
            yield from _unknown(shape.member, child, f"{path}[{index}]")
    elif shape.type_name == "map" and isinstance(value, dict):
        for key, child in value.items():
            yield from _unknown(shape.value, child, f"{path}.{key}")


def read(record: Path) -> list[Exchange]:
    """Return the exchanges of a record."""
    exchanges = []
    for line in record.read_text(encoding="utf-8").splitlines():
        fields = json.loads(line)
        for name in ("body", "answer"):
            fields[name] = None if fields[name] is None else base64.b64decode(fields[name])
        exchanges.append(Exchange(**fields))
    return exchanges


def refusals(exchanges: list[Exchange]) -> set[str]:
    """Return what AWS would refuse of the requests that the local cloud has taken, as "call path: problem"."""
    return _found((exchange, exchange.refusals) for exchange in exchanges if exchange.status < 400)


def differences(exchanges: list[Exchange]) -> set[str]:
    """Return in what the answers are not as AWS's models have them, as "call path: problem"; equal ones count once."""
    distinct = {(exchange.call, exchange.status, exchange.seen_answer): exchange for exchange in exchanges}
    return _found((exchange, exchange.differences) for exchange in distinct.values())


def _found(judged: Iterable[tuple[Exchange, Callable[[], list[str]]]]) -> set[str]:
    return {re.sub(r"\[\d+\]", "[]", f"{exchange.call} {problem}") for exchange, judge in judged for problem in judge()}
