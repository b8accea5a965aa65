"""The cloud of a whole run: S3, DynamoDB and EC2 that know many fleets, count, and tell the virtual time."""

from __future__ import annotations

import base64
import bisect
import json
import math
import re
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from bench.scale.cloud import PAGE, Cloud, form_of, key_of, listing_page, page_of, rolled_up, volume_id
from bench.scale.limits import IN_THREADS
from bench.whole.clock import Clock

# What is listed below one of these is kept together; a listing of anything else looks through all other keys.
FOLDER = re.compile(r"runs/[^/]+/cells/[^/]+/(?:instances|meet/[^/]+/gates|meet/[^/]+/ready/\d{4})/")
EXISTS = 412
# EC2 describes an instance for about an hour after its end, which takes it half a minute.
ENDING_S, FORGOTTEN_S = 30.0, 3_600.0
# DynamoDB: units of a read are 4 KB, of a write 1 KB; a page of Query holds 1 MB.
READ_UNIT_BYTES, WRITE_UNIT_BYTES, QUERY_PAGE_BYTES = 4_096, 1_024, 1_048_576


@dataclass
class Launched:
    """The instances of one RunInstances call; at `ended_at` they began to end."""

    instances: list[str]
    tags: dict[str, str]
    user_data: str
    at: float
    ended_at: float = math.inf


@dataclass
class Folder:
    """Keys that are listed together, with the moments (epoch s) at which they were written."""

    written_at: dict[str, float] = field(default_factory=dict)
    _in_order: list[str] = field(default_factory=list)

    def below(self, prefix: str) -> list[str]:
        """Return the keys below a prefix, in their order."""
        if len(self._in_order) != len(self.written_at):
            self._in_order = sorted(self.written_at)
        first = bisect.bisect_left(self._in_order, prefix)
        return self._in_order[first : bisect.bisect_left(self._in_order, prefix + "\U0010ffff", first)]


class World(Cloud):
    """What one run asks, and what it has asked.

    `requests` are those of the function that works now, by operation; `units` what DynamoDB bills, `largest_bytes` the
    largest row.
    """

    def __init__(self, clock: Clock, *, volumes_each: int) -> None:
        """`measured` makes what an instance has measured, by its key; `launched` is called with each launch."""
        super().__init__(volumes_each)
        self.clock = clock
        self.launches: list[Launched] = []
        self.launched: Callable[[Launched], None] = lambda _: None
        self.units: Counter[str] = Counter()
        self.largest_bytes = 0
        self.metrics_asked = 0
        self.services: dict[str, str] = {}
        self.measured: Callable[[str], bytes] = lambda _: b""
        self._launch_of: dict[str, Launched] = {}
        self._folders: dict[str, Folder] = defaultdict(Folder)
        self._in_order: dict[str, list[str]] = defaultdict(list)
        self._bytes: dict[tuple[str, str], int] = {}
        self._lock = threading.RLock()

    def answer(self, request: Any, event_name: str) -> Any:
        """Answer one request, one at a time."""
        _, service, operation = event_name.split(".")
        self.services[operation] = self.services[operation + IN_THREADS] = service
        with self._lock:
            return super().answer(request, event_name)

    # -------- S3

    def put(self, key: str, content: bytes, is_once: bool) -> int:
        """Keep an object, `is_once` only where there is none; of what instances have measured only the name."""
        written_at = self._folder(key).written_at
        if is_once and key in written_at:
            return EXISTS
        written_at[key] = self.clock.time()
        if not _is_measured(key):
            self.objects[key] = content
        return 200

    def get(self, key: str) -> bytes | None:
        """Return an object, None where there is none."""
        if _is_measured(key) and key in self._folder(key).written_at:
            return self.measured(key)
        return self.objects.get(key)

    def keys_below(self, prefix: str) -> dict[str, float]:
        """Return the keys below a prefix, with the moments (epoch s) at which they were written."""
        folder = self._folder(prefix)
        return {key: folder.written_at[key] for key in folder.below(prefix)}

    def _folder(self, key: str) -> Folder:
        match = FOLDER.match(key)
        return self._folders[match[0] if match else ""]

    def _listing(self, prefix: str, delimiter: str, start: int) -> str:
        folder = self._folder(prefix)
        keys = folder.below(prefix)
        if delimiter:
            keys = list(dict.fromkeys(prefix + rolled_up(key[len(prefix) :], delimiter) for key in keys))
        page = [(key, folder.written_at.get(key, 0.0)) for key in keys[start : start + PAGE]]
        return listing_page(page, delimiter, start + PAGE if start + PAGE < len(keys) else None)

    # -------- DynamoDB: it counts units, and keeps the sort keys of each partition in order

    def _Query(self, asked: dict[str, Any]) -> dict[str, Any]:  # noqa: N802
        partition, *prefix = (
            value["S"] for name, value in sorted(asked["ExpressionAttributeValues"].items()) if "S" in value
        )
        start, keys, size = asked.get("ExclusiveStartKey", {}).get("SK", {}).get("S"), self._in_order[partition], 0
        at = bisect.bisect_right(keys, start) if start else bisect.bisect_left(keys, "".join(prefix))
        page: list[dict[str, Any]] = []
        while at < len(keys) and keys[at].startswith(*prefix or [""]) and size < QUERY_PAGE_BYTES:
            page.append(self.rows[partition, keys[at]])
            size += self._bytes[partition, keys[at]]
            at += 1
        self.units["read"] += math.ceil(max(1, size) / READ_UNIT_BYTES)
        is_more = size >= QUERY_PAGE_BYTES
        return {"Items": page, **({"LastEvaluatedKey": {"SK": {"S": keys[at - 1]}}} if is_more else {})}

    def _GetItem(self, asked: dict[str, Any]) -> dict[str, Any]:  # noqa: N802
        self.units["read"] += math.ceil(self._bytes.get(key_of(asked["Key"]), 1) / READ_UNIT_BYTES)
        return super()._GetItem(asked)

    def _UpdateItem(self, asked: dict[str, Any]) -> dict[str, Any]:  # noqa: N802
        key, update = key_of(asked["Key"]), asked["UpdateExpression"]
        row = self.rows.setdefault(key, dict(asked["Key"]))
        values = asked.get("ExpressionAttributeValues", {})
        if "reserved.#name" in update:
            _move_money(row, update, asked["ExpressionAttributeNames"]["#name"], values)
        for name, first, value in re.findall(r"(#n\d+) = (if_not_exists\(#n\d+, )?(:v\d+)", update):
            attribute = asked["ExpressionAttributeNames"][name]
            if not (first and attribute in row):
                row[attribute] = values[value]
        self._wrote(key)
        return {}

    def _BatchWriteItem(self, asked: dict[str, Any]) -> dict[str, Any]:  # noqa: N802
        answer = super()._BatchWriteItem(asked)
        for [request] in (entry.values() for entries in asked["RequestItems"].values() for entry in entries):
            self._wrote(key_of(request["Item"]))
        return answer

    def _DeleteItem(self, asked: dict[str, Any]) -> dict[str, Any]:  # noqa: N802
        key = key_of(asked["Key"])
        if self.rows.pop(key, None):
            self._in_order[key[0]].remove(key[1])
        self.units["write"] += 1
        return {}

    def _wrote(self, key: tuple[str, str]) -> None:
        keys = self._in_order[key[0]]
        at = bisect.bisect_left(keys, key[1])
        if at == len(keys) or keys[at] != key[1]:
            keys.insert(at, key[1])
        self._bytes[key] = size = len(json.dumps(self.rows[key]))
        self.largest_bytes = max(self.largest_bytes, size)
        self.units["write"] += math.ceil(size / WRITE_UNIT_BYTES)

    # -------- EC2

    def facts(self, instance: str) -> tuple[str, float, dict[str, str]]:
        """Return the state of an instance, when it was launched (epoch seconds), and its tags."""
        launch = self._launch_of[instance]
        return self._state(launch), launch.at, launch.tags

    def _state(self, launch: Launched) -> str:
        ended_s = self.clock.time() - launch.ended_at
        return "running" if ended_s < 0 else "shutting-down" if ended_s < ENDING_S else "terminated"

    def _RunInstances(self, request: Any) -> str:  # noqa: N802
        form = form_of(request)
        prefix = "TagSpecification.1.Tag."
        tags = {
            key: form[f"{name[:-4]}.Value"]
            for name, key in form.items()
            if name.startswith(prefix) and name.endswith(".Key")
        }
        launch = Launched(
            self.launch(int(form["MaxCount"])), tags, base64.b64decode(form["UserData"]).decode(), self.clock.time()
        )
        self._launch_of |= dict.fromkeys(launch.instances, launch)
        self.launches.append(launch)
        self.launched(launch)
        described = "".join(self._instance(name) for name in launch.instances)
        return f"<RunInstancesResponse><instancesSet>{described}</instancesSet></RunInstancesResponse>"

    def _TerminateInstances(self, request: Any) -> str:  # noqa: N802
        for name, value in form_of(request).items():
            if name.startswith("InstanceId."):
                launch = self._launch_of[value]
                launch.ended_at = min(launch.ended_at, self.clock.time())
        return "<TerminateInstancesResponse/>"

    def _DescribeInstances(self, request: Any) -> str:  # noqa: N802
        items, token = page_of((self._instance(name) for name in self._chosen(_filters(request))), request)
        return (
            f"<DescribeInstancesResponse><reservationSet><item><instancesSet>{items}</instancesSet></item>"
            f"</reservationSet>{token}</DescribeInstancesResponse>"
        )

    def _DescribeVolumes(self, request: Any) -> str:  # noqa: N802
        """Describe volumes, which go with their instances."""
        filters = _filters(request)
        wanted = filters.pop("volume-id", None)
        names = (
            volume_id(int(name[2:], 16), number)
            for name in self._chosen(filters)
            if self._state(self._launch_of[name]) != "terminated"
            for number in range(self.volumes_each)
        )
        items, token = page_of((self._volume(name) for name in names if not wanted or name in wanted), request)
        return f"<DescribeVolumesResponse><volumeSet>{items}</volumeSet>{token}</DescribeVolumesResponse>"

    def _chosen(self, filters: dict[str, set[str]]) -> Iterator[str]:
        ids, states = filters.pop("instance-id", None), filters.pop("instance-state-name", None)
        tags = {name.removeprefix("tag:"): values for name, values in filters.items() if name.startswith("tag:")}
        named = {id(launch): launch for launch in map(self._launch_of.__getitem__, ids or ())}
        for launch in self.launches if ids is None else named.values():
            is_known = self.clock.time() < launch.ended_at + FORGOTTEN_S
            has_state = states is None or self._state(launch) in states
            if is_known and has_state and all(launch.tags.get(tag) in values for tag, values in tags.items()):
                yield from (name for name in launch.instances if ids is None or name in ids)

    # -------- Other services

    def _DescribeExecution(self, _: Any) -> str:  # noqa: N802
        return json.dumps({"status": "RUNNING"})

    def _GetParameter(self, _: Any) -> str:  # noqa: N802
        return json.dumps({"Parameter": {"Value": "ami-0123456789abcdef0"}})

    def _GetMetricData(self, request: Any) -> str:  # noqa: N802
        asked = json.loads(request.body)["MetricDataQueries"]
        self.metrics_asked += sum("MetricStat" in query for query in asked)
        return json.dumps({"MetricDataResults": [], "Messages": []})


def _is_measured(key: str) -> bool:
    return "/raw/" in key or "/latencies-" in key or key.endswith("/samples.json")


def _filters(request: Any) -> dict[str, set[str]]:
    """Return the filters of a request, by their names."""
    form = form_of(request)
    named = {name.split(".")[1]: value for name, value in form.items() if re.fullmatch(r"Filter\.\d+\.Name", name)}
    filters: dict[str, set[str]] = {name: set() for name in named.values()}
    for name, value in form.items():
        if match := re.fullmatch(r"Filter\.(\d+)\.Value\.\d+", name):
            filters[named[match[1]]].add(value)
    return filters


def _move_money(row: dict[str, Any], update: str, name: str, values: dict[str, Any]) -> None:
    """Do what `reserve` and `settle` of aws/records/table.py ask for."""

    def add(attribute: str, usd: float) -> None:
        row[attribute] = {"N": str(float(row[attribute]["N"]) + usd)}

    reserved = row["reserved"]["M"]
    if "REMOVE" in update:
        reserved.pop(name)
        add("committed_usd", -float(values[":freed"]["N"]))
        add("metered_usd", float(values[":metered"]["N"]))
    elif name not in reserved:
        reserved[name] = values[":usd"]
        add("committed_usd", float(values[":usd"]["N"]))
