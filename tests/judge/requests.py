"""Requests as they come over the wire: which operation of AWS each asks for, and what the client gave to it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any
from urllib.parse import parse_qsl, unquote

from moto.core.model import OperationModel, ServiceModel
from moto.core.parse import PROTOCOL_PARSERS, RequestDict
from moto.core.utils import get_service_model
from werkzeug.datastructures import MultiDict

# What signs a request or stands in an ARN, where botocore calls the service otherwise.
NAMES = {
    "states": "stepfunctions",
    "elasticfilesystem": "efs",
    "monitoring": "cloudwatch",
    "s3express": "s3",
    "servicequotas": "service-quotas",
    "tag": "resourcegroupstaggingapi",
    "tagging": "resourcegroupstaggingapi",
}
# How calls on directory buckets are signed: those of S3, and those of S3 Control below its version.
EXPRESS, OF_CONTROL = "s3express", "/v20180820/"
QUERY_PROTOCOLS = ("query", "ec2")


def model_of(name: str) -> ServiceModel:
    """Return the model of a service, by botocore's name or by the one that ARNs and signatures have.

    Raises UnknownServiceError where botocore has none.
    """
    return get_service_model(NAMES.get(name, name))


@dataclass(frozen=True)
class SentRequest:
    """A request: the service that signed it, path and query undecoded, and headers with names in lower case."""

    service: str
    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes

    @cached_property
    def operation(self) -> OperationModel:
        """The operation that is asked for. Raises LookupError where the service has none that fits."""
        model = model_of(self._service)
        if "x-amz-target" in self.headers:
            return model.operation_model(self.headers["x-amz-target"].rpartition(".")[2])
        if model.metadata["protocol"] in QUERY_PROTOCOLS:
            return model.operation_model(dict(parse_qsl(self.body.decode()))["Action"])
        return model.operation_model(self._route[0])

    @property
    def protocol(self) -> str:
        """The protocol that the client chose: some services speak two."""
        return "json" if "x-amz-target" in self.headers else self.operation.service_model.metadata["protocol"]

    def parameters(self) -> dict[str, Any]:
        """Return what the client gave to the call; moto has the parsers of requests that botocore has not."""
        protocol = self.protocol
        is_rest = protocol.startswith("rest")
        path, query = self._url
        values = list(query)
        if protocol in QUERY_PROTOCOLS:
            values += parse_qsl(self.body.decode(errors="replace"), keep_blank_values=True)
        request: RequestDict = {
            "method": self.method,
            "values": MultiDict(values),
            "headers": _Headers(self.headers),  # type: ignore[typeddict-item]
            "body": self.body,
            "url_path": path,
            "url_params": self._route[1] if is_rest else {},
        }
        parsed = PROTOCOL_PARSERS[protocol](self.operation).parse(request)
        return {name: value for name, value in parsed.items() if value is not None}

    @cached_property
    def _url(self) -> tuple[str, list[tuple[str, str]]]:
        path, _, query = self.target.partition("?")
        return path, parse_qsl(query, keep_blank_values=True) if query else []

    @property
    def _service(self) -> str:
        is_of_control = self.service == EXPRESS and self.target.startswith(OF_CONTROL)
        return "s3control" if is_of_control else self.service

    @cached_property
    def _route(self) -> tuple[str, dict[str, str]]:
        """Return the operation of a REST service by method, path and query, and what stands in its path."""
        path, query = self._url
        if self._service == EXPRESS and path == "/":
            return "ListDirectoryBuckets", {}  # which differs from ListBuckets by its endpoint only
        asked = dict(query)
        for route in _routes(self._service).get(self.method, ()):
            if (
                route.needed <= asked.keys()
                and all(asked.get(key) == value for key, value in route.fixed.items())
                and (match := route.path.fullmatch(path))
            ):
                return route.operation, {key: unquote(value) for key, value in match.groupdict().items()}
        raise LookupError(f"{self.service} has no operation {self.method} {self.target}")


class _Headers(dict[str, str]):
    """Headers with names in lower case, found by any case; werkzeug's look through all of them each time."""

    def __contains__(self, name: object) -> bool:
        return super().__contains__(str(name).lower())

    def __getitem__(self, name: str) -> str:
        return super().__getitem__(name.lower())


@dataclass(frozen=True)
class _Route:
    """How an operation of a REST service is asked for."""

    operation: str
    path: re.Pattern[str]
    needed: frozenset[str]
    """Names of parameters that the query must have."""
    fixed: dict[str, str]
    """Parameters of the query that have this value."""
    specificity: tuple[int, int]


@cache
def _routes(name: str) -> dict[str, list[_Route]]:
    """Return the routes of a service by method, the most specific first."""
    by_method: dict[str, list[_Route]] = {}
    model = model_of(name)
    for operation_name in model.operation_names:
        operation = model.operation_model(operation_name)
        by_method.setdefault(operation.http["method"], []).append(_route_of(operation))
    return {
        method: sorted(routes, key=lambda route: route.specificity, reverse=True)
        for method, routes in by_method.items()
    }


def _route_of(operation: OperationModel) -> _Route:
    path, _, query = operation.http["requestUri"].partition("?")
    # A client of S3 takes the bucket from the path in the model, which this process shares with all clients.
    path = operation.http.get("authPath", path).rstrip("/")
    shape = operation.input_shape
    members = shape.members if shape else {}
    fixed = dict(parse_qsl(query, keep_blank_values=True))
    required = {
        members[member].serialization.get("name", member)
        for member in (shape.required_members if shape else [])
        if members[member].serialization.get("location") == "querystring"
    }
    pattern = re.sub(r"\{(\w+)(\+?)\}", lambda part: f"(?P<{part[1]}>{'.+' if part[2] else '[^/]+'})", path)
    # S3 tells a copy from an upload by a header.
    is_copy = "CopySource" in members
    return _Route(
        operation.name,
        re.compile(pattern + "/?"),
        frozenset(required | fixed.keys()),
        fixed,
        (len(fixed) + len(required), len(path) - is_copy),
    )
