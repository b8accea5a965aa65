"""Recorded requests and answers of the local cloud, held against botocore's models and AWS's prose."""

import base64
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from botocore.awsrequest import HeadersDict
from botocore.model import OperationModel, Shape
from botocore.parsers import create_parser
from judge import prose, shapes
from moto.core.parse import PROTOCOL_PARSERS
from moto.core.utils import get_service_model
from werkzeug.datastructures import Headers, MultiDict

# Answers of the local cloud that are not as AWS's model of the operation has them; each with what it means for us.
KNOWN_DIFFERENCES = {
    "dynamodb:BatchWriteItem BatchWriteItem.UnprocessedItems: {} has a length of 0, not from 1 to 25": "AWS's own "
    "answers have it, as the example of its API reference has",
    "ec2:DescribeVpcEndpoints DescribeVpcEndpoints.VpcEndpoints[].State: 'available' is none of PendingAcceptance, "
    "Pending, Available, Deleting, Deleted, Rejected, Failed, Expired, Partial": "AWS's own answers have it in small "
    "letters, as the example of its CLI reference has; Plan matrix reads both",
}


# How calls on directory buckets are signed: those of S3, and those of S3 Control below its version.
EXPRESS, OF_CONTROL = "s3express", "/v20180820/"


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

    @cached_property
    def operation(self) -> OperationModel:
        """The operation that is asked for. Raises LookupError where the service has none that fits."""
        model = shapes.service(self.service)
        if "x-amz-target" in self.headers:
            return model.operation_model(self.headers["x-amz-target"].rpartition(".")[2])
        if model.metadata["protocol"] in ("query", "ec2"):
            return model.operation_model(dict(parse_qsl((self.body or b"").decode()))["Action"])
        return model.operation_model(self._route()[0])

    @property
    def call(self) -> str:
        """What is asked for, as "service:Operation"."""
        operation = self.operation
        return f"{operation.service_model.service_name}:{operation.name}"

    def parameters(self) -> dict[str, Any]:
        """Return what the client gave to the call; moto has the parsers of requests that botocore has not."""
        operation = self.operation
        service = operation.service_model.service_name
        is_rest = operation.service_model.metadata["protocol"].startswith("rest")
        values = parse_qsl(urlsplit(self.target).query, keep_blank_values=True)
        if not is_rest:
            values += parse_qsl((self.body or b"").decode(errors="replace"), keep_blank_values=True)
        request = {
            "method": self.method,
            "values": MultiDict(values),
            "headers": Headers(self.headers),
            "body": self.body or b"",
            "url_path": urlsplit(self.target).path,
            "url_params": self._route()[1] if is_rest else {},
        }
        parser = PROTOCOL_PARSERS[self._protocol()](get_service_model(service).operation_model(operation.name))
        return {name: value for name, value in parser.parse(request).items() if value is not None}

    def _protocol(self) -> str:
        """Return the protocol that the client chose: some services speak two."""
        return "json" if "x-amz-target" in self.headers else self.operation.service_model.metadata["protocol"]

    def _route(self) -> tuple[str, dict[str, str]]:
        """Return the operation of a REST service by method, path and query, and what stands in its path."""
        url = urlsplit(self.target)
        if self.service == EXPRESS and url.path == "/":
            return "ListDirectoryBuckets", {}  # which differs from ListBuckets by its endpoint only
        asked = dict(parse_qsl(url.query, keep_blank_values=True))
        fitting = [
            (specificity, name, match.groupdict())
            for specificity, name, method, pattern, needed, fixed in _routes(self.service)
            if method == self.method
            and needed <= asked.keys()
            and all(asked.get(key) == value for key, value in fixed.items())
            and (match := pattern.fullmatch(url.path))
        ]
        if not fitting:
            raise LookupError(f"{self.service} has no operation {self.method} {self.target}")
        # S3 tells a copy from an upload by a header.
        _, name, found = max(fitting, key=lambda route: route[0])
        return name, {key: unquote(value) for key, value in found.items()}

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
        parsed = create_parser(self._protocol()).parse(response, shape)
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
        problems = list(shapes.violations(shape, members, operation.name))
        if "json" in self._protocol() and self.seen_answer and "payload" not in shape.serialization:
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
                yield f"{path}.{name}: is no member of {shape.name}"
            else:
                yield from _unknown(members[name], child, f"{path}.{name}")
    elif shape.type_name == "list" and isinstance(value, list):
        for index, child in enumerate(value):
            yield from _unknown(shape.member, child, f"{path}[{index}]")
    elif shape.type_name == "map" and isinstance(value, dict):
        for key, child in value.items():
            yield from _unknown(shape.value, child, f"{path}.{key}")


@cache
def _routes(service: str) -> list[tuple[tuple[int, int], str, str, re.Pattern[str], set[str], dict[str, str]]]:
    """Return of each operation how specific it is, its name, method, path, and the query that it needs."""
    routes = []
    model = shapes.service(service)
    for name in model.operation_names:
        operation = model.operation_model(name)
        path, _, query = operation.http["requestUri"].partition("?")
        members = operation.input_shape.members if operation.input_shape else {}
        fixed = dict(parse_qsl(query, keep_blank_values=True))
        required = {
            members[member].serialization.get("name", member)
            for member in (operation.input_shape.required_members if operation.input_shape else [])
            if members[member].serialization.get("location") == "querystring"
        }
        pattern = re.sub(r"\{(\w+)(\+?)\}", lambda part: f"(?P<{part[1]}>{'.+' if part[2] else '[^/]+'})", path)
        is_copy = "CopySource" in members
        specificity = (len(fixed) + len(required), len(path) - is_copy)
        routes.append(
            (
                specificity,
                name,
                operation.http["method"],
                re.compile(pattern.rstrip("/") + "/?"),
                required | fixed.keys(),
                fixed,
            )
        )
    return routes


def read(record: Path) -> list[Exchange]:
    """Return the exchanges of a record."""
    exchanges = []
    for line in record.read_text(encoding="utf-8").splitlines():
        fields = json.loads(line)
        for name in ("body", "answer"):
            fields[name] = None if fields[name] is None else base64.b64decode(fields[name])
        if fields["service"] == EXPRESS and fields["target"].startswith(OF_CONTROL):
            fields["service"] = "s3control"
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
