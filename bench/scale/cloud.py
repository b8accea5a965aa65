"""A cloud with generated responses: only botocore's and the project's own code is between a function and them."""

from __future__ import annotations

import io
import json
import re
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

from botocore.awsrequest import AWSResponse  # noqa: TID251 - it answers as AWS does, and asks nothing
from botocore.compat import HTTPHeaders  # noqa: TID251

from aws.stack import clients
from bench.scale.limits import IN_THREADS

PAGE = 1_000
TABLE_PAGE = 3_000  # rows of some 300 bytes: a page of Query has 1 MB
# Old enough for a poll to open the gate for which all are ready, and too new to count as silent.
WRITTEN_BEFORE_S, LAUNCHED_BEFORE_S = 30.0, 600.0
ITEM = (
    "<Contents><Key>{}</Key><LastModified>{}</LastModified><ETag>&quot;9b2cf535f27731c974343645a39"
    "85328&quot;</ETag><ChecksumAlgorithm>CRC32</ChecksumAlgorithm><Size>812</Size><StorageClass>STANDARD</StorageClass>"
    "</Contents>"
)


class _Raw(io.BytesIO):
    """The body of a response, as urllib3 passes it on."""

    def stream(self, amt: int = 2**16, **_: Any) -> Iterator[bytes]:
        while block := self.read(amt):
            yield block


@dataclass
class Cloud:
    """S3, DynamoDB and EC2 of one run.

    Each instance has objects with these `names` in its folder `below`, and `content` generates their bodies. `listed`
    are keys by the prefixes of other listings. Times are epoch seconds: fleets were launched 10 minutes ago, and
    objects written half a minute ago.
    """

    volumes_each: int
    names: list[str] = field(default_factory=list)
    below: str = ""
    content: Callable[[str], bytes] = lambda _: b"{}"
    tags: dict[str, str] = field(default_factory=dict)
    instances: list[str] = field(default_factory=list)
    listed: dict[str, list[str]] = field(default_factory=dict)
    objects: dict[str, bytes] = field(default_factory=dict)
    rows: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    requests: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    spent_s: float = 0.0
    now: float = field(default_factory=time.time)
    thread: int = field(default_factory=threading.get_ident)

    @property
    def launched_at(self) -> float:
        """The time of the fleets' launch."""
        return self.now - LAUNCHED_BEFORE_S

    @property
    def written_at(self) -> float:
        """The time of all objects' writes."""
        return self.now - WRITTEN_BEFORE_S

    def launch(self, count: int) -> list[str]:
        """Add instances, and return their ids."""
        first = len(self.instances)
        made = [f"i-{number:017x}" for number in range(first, first + count)]
        self.instances += made
        return made

    def play(self) -> None:
        """Answer all calls of the functions from now on, including those of clients of an earlier cloud."""
        _PLAYING[:] = [self]
        clients.session().events.register_first("before-send", _answer, unique_id="bench.scale")

    def answer(self, request: Any, event_name: str) -> AWSResponse:
        """Answer one request."""
        began = time.thread_time()
        _, service, operation = event_name.split(".")
        self.requests[operation + (IN_THREADS if threading.get_ident() != self.thread else "")] += 1
        if service == "dynamodb":
            status, body = 200, json.dumps(getattr(self, f"_{operation}")(json.loads(request.body))).encode()
        elif service == "s3":
            status, body = self._s3(operation, request)
        else:
            answer = getattr(self, f"_{operation}", None)
            status, body = (200, answer(request).encode()) if answer else (403, DENIED)
        headers = HTTPHeaders.from_dict({"Content-Length": str(len(body))})
        response = AWSResponse(request.url, status, headers, _Raw(body))
        self.spent_s += time.thread_time() - began
        return response

    # -------- S3

    def _s3(self, operation: str, request: Any) -> tuple[int, bytes]:
        url = urlsplit(request.url)
        key = unquote(url.path.lstrip("/"))
        if not url.netloc.startswith("results."):
            key = key.partition("/")[2]
        if operation == "PutObject":
            body = request.body
            content = body.read() if hasattr(body, "read") else bytes(body or b"")
            is_chunked = b"aws-chunked" in request.headers.get("Content-Encoding", b"")
            self.objects[key] = joined(content) if is_chunked else content
            return 200, b""
        if operation == "GetObject":
            content = self._object(key)
            return (200, content) if content is not None else (404, b"<Error><Code>NoSuchKey</Code></Error>")
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        token = int(query.get("continuation-token", 0))
        return 200, self._listing(query.get("prefix", ""), query.get("delimiter", ""), token).encode()

    def _object(self, key: str) -> bytes | None:
        if self.below and key.startswith(self.below):
            return self.objects.get(key) or self.content(key.removeprefix(self.below))
        return self.objects.get(key)

    def _listing(self, prefix: str, delimiter: str, start: int) -> str:
        listed = self.listed.get(prefix, [])
        names = list(dict.fromkeys(rolled_up(name, delimiter) for name in self.names))
        whole = len(self.instances) * len(names) if prefix == self.below else len(listed)
        end = min(start + PAGE, whole)

        def key(number: int) -> str:
            instance, name = divmod(number, len(names))
            return f"{self.below}AROAROLE:{self.instances[instance]}/{names[name]}"

        # Keys of instances are generated page by page, so that they take no memory of the function's.
        keys = map(key, range(start, end)) if prefix == self.below else listed[start:end]
        return listing_page(((key, self.written_at) for key in keys), delimiter, end if end < whole else None)

    # -------- DynamoDB

    def _Query(self, fields: dict[str, Any]) -> dict[str, Any]:  # noqa: N802 - the operation's name
        partition, *prefix = (value["S"] for _, value in sorted(fields["ExpressionAttributeValues"].items()))
        start = fields.get("ExclusiveStartKey", {}).get("SK", {}).get("S", "")
        keys = sorted(
            key for key in self.rows if key[0] == partition and key[1] > start and key[1].startswith(*prefix or [""])
        )
        page = keys[:TABLE_PAGE]
        more = {"LastEvaluatedKey": {"SK": {"S": page[-1][1]}}} if len(keys) > len(page) else {}
        return {"Items": [self.rows[key] for key in page], **more}

    def _GetItem(self, fields: dict[str, Any]) -> dict[str, Any]:  # noqa: N802
        row = self.rows.get(key_of(fields["Key"]))
        return {"Item": row} if row else {}

    def _UpdateItem(self, fields: dict[str, Any]) -> dict[str, Any]:  # noqa: N802
        row = self.rows.setdefault(key_of(fields["Key"]), dict(fields["Key"]))
        names, values = fields.get("ExpressionAttributeNames", {}), fields.get("ExpressionAttributeValues", {})
        for name, value in re.findall(r"(#n\d+) = [^:]*(:v\d+)", fields["UpdateExpression"]):
            row[names[name]] = values[value]
        return {}

    def _BatchWriteItem(self, fields: dict[str, Any]) -> dict[str, Any]:  # noqa: N802
        for [request] in (entry.values() for entries in fields["RequestItems"].values() for entry in entries):
            self.rows[key_of(request["Item"])] = request["Item"]
        return {"UnprocessedItems": {}}

    def _DeleteItem(self, fields: dict[str, Any]) -> dict[str, Any]:  # noqa: N802
        self.rows.pop(key_of(fields["Key"]), None)
        return {}

    # -------- EC2

    def _RunInstances(self, request: Any) -> str:  # noqa: N802
        made = self.launch(int(form_of(request)["MaxCount"]))
        instances = "".join(self._instance(name) for name in made)
        return f"<RunInstancesResponse><instancesSet>{instances}</instancesSet></RunInstancesResponse>"

    def _TerminateInstances(self, _: Any) -> str:  # noqa: N802
        return "<TerminateInstancesResponse/>"

    def _DescribeInstances(self, request: Any) -> str:  # noqa: N802
        wanted = _wanted(request, "i-") or self.instances
        items, token = page_of(map(self._instance, wanted), request)
        return (
            f"<DescribeInstancesResponse><reservationSet><item><instancesSet>{items}</instancesSet></item>"
            f"</reservationSet>{token}</DescribeInstancesResponse>"
        )

    def _DescribeVolumes(self, request: Any) -> str:  # noqa: N802
        every = (volume_id(at, number) for at in range(len(self.instances)) for number in range(self.volumes_each))
        items, token = page_of(map(self._volume, _wanted(request, "vol-") or every), request)
        return f"<DescribeVolumesResponse><volumeSet>{items}</volumeSet>{token}</DescribeVolumesResponse>"

    def _DescribeSnapshots(self, _: Any) -> str:  # noqa: N802
        return "<DescribeSnapshotsResponse><snapshotSet/></DescribeSnapshotsResponse>"

    def _DescribeStacks(self, _: Any) -> str:  # noqa: N802
        return (
            "<DescribeStacksResponse><DescribeStacksResult><Stacks><member><StackName>bench</StackName></member></Stacks>"
            "</DescribeStacksResult></DescribeStacksResponse>"
        )

    def _DescribeFileSystems(self, _: Any) -> str:  # noqa: N802 - of EFS and of FSx
        return json.dumps({"FileSystems": []})

    def _instance(self, name: str) -> str:
        at = int(name[2:], 16)
        attached = "".join(
            f"<item><deviceName>/dev/sd{letter}</deviceName><ebs><volumeId>{volume_id(at, number)}</volumeId>"
            "<status>attached</status></ebs></item>"
            for number, letter in zip(range(self.volumes_each), "abcdefghi", strict=False)
        )
        return (
            f"<item><instanceId>{name}</instanceId><imageId>ami-0123456789abcdef0</imageId><instanceState><code>16</code>"
            f"<name>running</name></instanceState><instanceType>c5.2xlarge</instanceType><launchTime>{describe(self.launched_at)}</launchTime>"
            "<placement><availabilityZone>us-east-1a</availabilityZone><tenancy>default</tenancy></placement>"
            f"<blockDeviceMapping>{attached}</blockDeviceMapping>{_tag_set(self.tags)}</item>"
        )

    def _volume(self, volume: str) -> str:
        at, number = int(volume[4:-2], 16), int(volume[-2:], 16)
        return (
            f"<item><volumeId>{volume}</volumeId><size>100</size><status>in-use</status><createTime>{describe(self.launched_at)}</createTime>"
            f"<attachmentSet><item><volumeId>{volume}</volumeId><instanceId>i-{at:017x}</instanceId>"
            f"<device>/dev/sd{'afghijklm'[number]}</device><status>attached</status></item></attachmentSet>"
            f"{_tag_set(self.tags)}<volumeType>gp3</volumeType></item>"
        )


_PLAYING: list[Cloud] = []


def _answer(request: Any, event_name: str, **_: Any) -> Any:  # botocore-stubs do not know handlers that answer
    return _PLAYING[0].answer(request, event_name)


DENIED = b"<Response><Errors><Error><Code>AccessDenied</Code><Message>not played</Message></Error></Errors></Response>"


def joined(chunked: bytes) -> bytes:
    """Return the content of the chunks of a PUT; its checksum follows the last, empty chunk."""
    rest, content = io.BytesIO(chunked), b""
    while size := int(rest.readline(), 16):
        content += rest.read(size)
        rest.readline()
    return content


def rolled_up(name: str, delimiter: str) -> str:
    """Return a name, or its common prefix up to the delimiter, as S3 lists it."""
    head, found, _ = name.partition(delimiter) if delimiter else (name, "", "")
    return head + found


def listing_page(entries: Iterable[tuple[str, float]], delimiter: str, next_page: int | None) -> str:
    """Return a page of a listing: keys with their times of writing (epoch s), and the token of the next page.

    A key that ends with the delimiter is the common prefix of all keys below it.
    """
    items = "".join(
        f"<CommonPrefixes><Prefix>{key}</Prefix></CommonPrefixes>"
        if delimiter and key.endswith(delimiter)
        else ITEM.format(key, describe(at))
        for key, at in entries
    )
    more = f"<IsTruncated>true</IsTruncated><NextContinuationToken>{next_page}</NextContinuationToken>"
    return f"<ListBucketResult>{more if next_page is not None else ''}{items}</ListBucketResult>"


def describe(at: float) -> str:
    """Return a moment (epoch seconds) in the format of S3 and EC2."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def _tag_set(tags: dict[str, str]) -> str:
    pairs = (f"<item><key>{key}</key><value>{escape(value)}</value></item>" for key, value in tags.items())
    return f"<tagSet>{''.join(pairs)}</tagSet>"


def volume_id(at: int, number: int) -> str:
    """Return the id of one of an instance's volumes, which are numbered; 0 is the root volume."""
    return f"vol-{at:015x}{number:02x}"


def key_of(key: dict[str, Any]) -> tuple[str, str]:
    """Return partition and sort key of a row."""
    return key["PK"]["S"], key["SK"]["S"]


def form_of(request: Any) -> dict[str, str]:
    """Return the parameters of a request to EC2."""
    body = request.body if isinstance(request.body, str) else request.body.decode()
    return {name: values[0] for name, values in parse_qs(body).items()}


def _wanted(request: Any, prefix: str) -> list[str]:
    return [
        value
        for name, value in form_of(request).items()
        if name.startswith("Filter.1.Value") and value.startswith(prefix)
    ]


def page_of(items: Iterable[str], request: Any) -> tuple[str, str]:
    """Return the requested page of EC2's response, and the element with the next token."""
    start = int(form_of(request).get("NextToken", 0))
    page = list(islice(items, start, start + PAGE + 1))
    token = f"<nextToken>{start + PAGE}</nextToken>" if len(page) > PAGE else ""
    return "".join(page[:PAGE]), token
