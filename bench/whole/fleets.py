"""Instances by script: they write what agents write, by the agent's own board, at the times that the plan expects.

Their wait for a gate is that of `bench.gates`. Nothing is mounted, run or measured.
"""

from __future__ import annotations

import io
import json
import random
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from botocore.exceptions import ClientError  # noqa: TID251 - the agent catches it

from agent.board import barrier, meeting
from agent.board.barrier import Barrier
from agent.board.blackboard import Blackboard, Bucket
from agent.board.bundle import Bundle
from agent.job_check import parse
from bench import gates
from bench.scale.cases import Content
from bench.whole.clock import Clock
from bench.whole.cloud import EXISTS, Launched, World
from matrix.input.pace import PREPARE_S, STEP_S
from matrix.terms.documents.plan import PlanCell, PlanDocument
from matrix.terms.keys import run_key

JOB = re.compile(r"JOB_URI=s3://([^/\s]+)/(\S+)")
MEETING = re.compile(r"MEETING=(\w+)")
RAW = ("fio.json", "histograms.json")
PUTS_A_STEP = 4  # two raw files, samples, and the mark of the next step
MISSING = 404


class Agents:
    """Every fleet of a run; `requests` are those of all instances, by operation."""

    def __init__(self, clock: Clock, world: World, run: str) -> None:
        """Let instances of a run live as they are launched."""
        self.clock, self.world, self.run = clock, world, run
        self.requests: Counter[str] = Counter()
        self.puts_by_second: Counter[tuple[str, int]] = Counter()
        self._cells: dict[str, PlanCell] = {}
        self._fleets: dict[str, Fleet] = {}
        world.launched, world.measured = self._join, self._content
        # Both tell the time to the agent's own code.
        for module in (barrier, meeting):
            patch.object(module, "time", clock).start()

    def _join(self, launch: Launched) -> None:
        place = JOB.search(launch.user_data)
        nonce = MEETING.search(launch.user_data)
        if place is None:
            raise LookupError(f"no job in {launch.user_data}")
        if place[2] not in self._fleets:
            self._fleets[place[2]] = Fleet(self, place[1], place[2], nonce[1] if nonce else "")
            self.clock.at(self.clock.now + PREPARE_S, self._fleets[place[2]].begin)
        self._fleets[place[2]].launches.append(launch)

    def cell(self, name: str) -> PlanCell:
        """Return a cell of the run's plan."""
        if not self._cells:
            plan: PlanDocument = json.loads(self.world.objects[run_key(self.run, "plan.json")])
            self._cells = {cell["id"]: cell for cell in plan["cells"]}
        return self._cells[name]

    def _content(self, key: str) -> bytes:
        """Return what an instance has measured."""
        folder, _, name = key.partition("/instances/")
        return self._fleets[f"{folder}/job.json"].content(name)


class Fleet:
    """The instances of one cell."""

    def __init__(self, agents: Agents, bucket: str, job_key: str, nonce: str) -> None:
        """Take what the user data says."""
        self.launches: list[Launched] = []
        self._agents, self._job_key, self._nonce = agents, job_key, nonce
        self._clock, self._client = agents.clock, _Client(agents.world, agents.requests)
        self._bucket = Bucket(bucket, self._client)
        self._boards: list[Blackboard] = []
        self._bundles: list[Bundle] = []
        self._chance = random.Random(job_key)  # noqa: S311 - the same each time

    def begin(self) -> None:
        """Boot: read the job, and be there."""
        userids = [f"AROAROLE:{name}" for launch in self.launches for name in launch.instances]
        bodies = [self._bucket.get(self._job_key) for _ in userids]
        self._job = parse(bodies[0] or b"", userids[0].rpartition(":")[2], userids[0])
        self._userids = userids
        self._boards = [Blackboard(self._bucket, self._job_key.rpartition("/")[0], userid) for userid in userids]
        self._bundles = [Bundle(board) for board in self._boards]
        cell = self._agents.cell(self._job.cell)
        step_s = (cell["expected_s"] - PREPARE_S) / len(self._job.steps)
        self.content = Content(cell, run=self._job.run, begun_at=self._clock.now, step_s=step_s)
        self._step_s = step_s - STEP_S
        self._wait: gates.Step | None = None
        if self._job.barrier:
            [self._wait] = gates.steps_of(len(userids), 1)
            self._step_s -= self._wait.delay_s
        self._beat()
        self._ready(0)

    @property
    def _is_over(self) -> bool:
        return any(launch.ended_at <= self._clock.now for launch in self.launches)

    def _beat(self) -> None:
        if not self._is_over:
            self._say("running")
            self._clock.at(self._clock.now + self._job.heartbeat_s, self._beat)

    def _say(self, state: str) -> None:
        for board in self._boards:
            board.put("heartbeat", {"at": self._clock.time(), "state": state, "step": None, "point": None})

    def _ready(self, step: int) -> None:
        """The last of them is ready: the others have said so before, it opens the gate."""
        if self._is_over:
            return
        start_at = self._clock.now
        if self._job.barrier and self._wait:
            # The requests of waiting are the model's: these are made, and not counted.
            with self._client.uncounted():
                *others, last = self._userids
                place = self._boards[0].meeting(self._nonce, self._job.barrier.request_s)
                for userid in others:
                    place.say_ready(step, userid)
                start_at = Barrier(place, last, self._job.barrier).wait(step)
            model = self._wait.requests
            self._agents.requests += Counter(
                {"PutObject": model["PUT"], "GetObject": model["GET"], "ListObjectsV2": model["LIST"]}
            )
        self._clock.at(max(start_at, self._clock.now) + self._step_s, lambda: self._measured(step))

    def _measured(self, step: int) -> None:
        """A step is over: put what it gave, prepare the next."""
        if self._is_over:
            return
        of_step = self._job.steps[step]
        stem = f"{of_step.point}-r{of_step.repetition}"
        for board, bundle in zip(self._boards, self._bundles, strict=True):
            for name in RAW:
                board.put_raw(f"{stem}.{name}", b"{}")
            bundle.add(stem, b"{}", {})
            board.put("samples.json", {})
            lateness_s = min(self._chance.expovariate(1 / gates.MEAN_LATENESS_S), 10 * gates.MEAN_LATENESS_S)
            self._agents.puts_by_second[self._job.cell, int(self._clock.now + lateness_s)] += PUTS_A_STEP
        if step + 1 < len(self._job.steps):
            self._clock.at(self._clock.now + STEP_S, lambda: self._ready(step + 1))
        else:
            self._clock.at(self._clock.now + STEP_S, self._end)

    def _end(self) -> None:
        if self._is_over:
            return
        self._say("done")
        for board, bundle in zip(self._boards, self._bundles, strict=True):
            bundle.put()
            board.put_log("done")
            board.put("done.json", {"at": self._clock.time(), "samples": len(self._job.steps)})
        for launch in self.launches:
            launch.ended_at = self._clock.now + 1


class _Client:
    """A session and its S3 client in one, for the agent's board: straight into the world, without botocore."""

    class exceptions:  # noqa: N801 - as boto3 names it
        """As boto3 has them."""

        ClientError = ClientError

    def __init__(self, world: World, requests: Counter[str]) -> None:
        self._world, self._requests = world, requests
        # Nothing is tried again here, so who listens for that hears nothing.
        self.meta = SimpleNamespace(events=SimpleNamespace(register=lambda *_: None))
        self._is_counting = True

    def create_client(self, *_: Any, **__: Any) -> _Client:
        """Return the client of S3."""
        return self

    @contextmanager
    def uncounted(self) -> Iterator[None]:
        """Count nothing within."""
        self._is_counting = False
        yield
        self._is_counting = True

    def put_object(self, *, Key: str, Body: bytes, IfNoneMatch: str = "", **_: Any) -> None:  # noqa: N803
        """Answer as S3 does."""
        self._requests["PutObject"] += self._is_counting
        if self._world.put(Key, Body, bool(IfNoneMatch)) == EXISTS:
            raise _refused("PutObject", EXISTS)

    def get_object(self, *, Key: str, **_: Any) -> dict[str, Any]:  # noqa: N803
        """Answer as S3 does."""
        self._requests["GetObject"] += self._is_counting
        content = self._world.get(Key)
        if content is None:
            raise _refused("GetObject", MISSING)
        return {"Body": io.BytesIO(content), "LastModified": _moment(self._world.keys_below(Key)[Key])}

    def list_objects_v2(self, *, Prefix: str, **_: Any) -> dict[str, Any]:  # noqa: N803
        """Answer with all keys at once."""
        self._requests["ListObjectsV2"] += self._is_counting
        keys = self._world.keys_below(Prefix)
        contents = [{"Key": key, "LastModified": _moment(at)} for key, at in keys.items()]
        return {"Contents": contents, "IsTruncated": False}


def _refused(operation: str, status: int) -> ClientError:
    return ClientError(
        {
            "Error": {"Code": str(status)},
            "ResponseMetadata": {
                "RequestId": "", "HostId": "", "HTTPStatusCode": status, "HTTPHeaders": {}, "RetryAttempts": 0,
            },
        },
        operation,
    )  # fmt: skip


def _moment(at: float) -> datetime:
    return datetime.fromtimestamp(int(at), UTC)
