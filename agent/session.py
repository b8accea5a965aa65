"""One job from the mount to the last sample."""

from __future__ import annotations

import contextlib
import secrets
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from agent import calibration, mounts, samples, workloads
from agent.board import peers
from agent.board.barrier import Barrier, sleep_until
from agent.board.blackboard import stored_name
from agent.board.bundle import Bundle
from agent.board.heartbeat import Heartbeat
from agent.board.s3_clock import S3Clock
from agent.errors import AgentError, DeviceRefused, JobInvalid
from agent.file_server import FileServer
from agent.machine import caches, counters, host, over_time
from agent.machine.recent_traffic import RecentTraffic
from agent.machine.workspace import Workspaces
from agent.mounts import ebs
from agent.programs import provisions, tools
from agent.programs.processes import epoch_s
from agent.retrying import GaveUp, NotYet, patience, retried
from contract import keys

if TYPE_CHECKING:
    import logging
    from collections.abc import Iterator
    from concurrent.futures import Future
    from pathlib import Path

    from agent.board.barrier_objects import BarrierObjects
    from agent.board.blackboard import Blackboard
    from agent.job import Job, Step
    from agent.machine.metadata import Identity
    from agent.machine.traffic import Sampler
    from agent.programs.processes import Armed
    from agent.workloads.trial import Outcome, Trial

# The gate's start time has a margin for the slowest poll; an instance that is later than this missed the start.
LATE_S = 0.05
# The port that the security group of file servers opens to the fleet.
SERVER_PORT = 7575
# Reading the counters takes 0.3 ms, on a busy machine several times as long.
COUNTING_S = 0.01
# The kind of mount that is none: a disk without a file system.
DEVICE = "ebs-device"
# Launch fleet records the launched volumes once EC2 describes them all, after half a minute at most.
VOLUMES_S, PAUSE_S = 180.0, 2.0


class Session:
    """Runs the steps of a job in their order and uploads the samples after each."""

    def __init__(
        self, identity: Identity, userid: str, blackboard: Blackboard, log: logging.Logger, nonce: str = ""
    ) -> None:
        """Store the parts of a job without starting it. `nonce` is the secret name of the fleet's start barrier."""
        self.identity, self.userid = identity, userid
        self._blackboard, self._log, self._nonce = blackboard, log, nonce
        self._samples: list[dict[str, Any]] = []
        self._bundle = Bundle(blackboard)
        self._uploads = ThreadPoolExecutor(max_workers=1, thread_name_prefix="upload")
        self._upload: Future[None] | None = None
        self._barrier: Barrier | None = None
        self._s3_clock = S3Clock()  # until `run` finds a client with more responses
        self._prepared: dict[str, Any] = {}
        self._step: Step | None = None  # the current step, for failed.json
        self._recent_traffic = RecentTraffic()
        self._requests = counters.RequestsInAll()

    @property
    def samples_taken(self) -> int:
        return len(self._samples)

    def place(self) -> dict[str, Any]:
        """Return `step` and `point` that the agent is at, for failed.json."""
        step = self._step
        return {"step": step.number if step else None, "point": step.point if step else None}

    def run(self, job: Job) -> None:
        """Install tools, mount, take every sample, and clean up."""
        barrier_objects = None
        if job.barrier:
            if not self._nonce:
                raise JobInvalid("the job has a barrier, but its user data has no nonce")
            barrier_objects = self._blackboard.barrier_objects(self._nonce, job.barrier.request_s)
            self._barrier = Barrier(barrier_objects, self.userid, job.barrier)
            self._s3_clock = barrier_objects.s3_clock
        else:
            self._s3_clock = self._blackboard.s3_clock
        heartbeat = Heartbeat(self._blackboard, job.heartbeat_s)
        try:
            self._prepared = self._provide(job)
            if job.kind == "measure":
                workloads.check(job.workload["type"], [step.params for step in job.steps if step.repetition == 1])
            own = self._own(job.mount)
            with ebs.work_disk(job.work_mount, self._log) as disk, mounts.attached(own, self._log) as mounted:
                if job.kind == "serve":
                    self._serve(job, mounted.path, heartbeat)
                else:
                    with self._joined(job, barrier_objects) as joined:
                        setting = samples.Setting(
                            joined, self.identity, self.userid, host.describe(), mounted, self._prepared
                        )
                        self._take_samples(setting, heartbeat, disk)
            heartbeat.say("done", **self.place())
        finally:
            heartbeat.stop()

    def bake(self, job: Job) -> None:
        """Install everything, and make the machine fit to be copied."""
        heartbeat = Heartbeat(self._blackboard, job.heartbeat_s)
        try:
            heartbeat.say("preparing")
            provisions.provide(job.provisions, job.may_administer, self._log)
            if job.may_administer:
                provisions.seal(self._log)
            heartbeat.say("done")
        finally:
            heartbeat.stop()

    def _provide(self, job: Job) -> dict[str, Any]:
        """Install missing software before any mount; return when that was done and the installed parts."""
        names = set(mounts.tools(job.mount)) | (mounts.tools(job.work_mount) if job.work_mount else set())
        for step in job.steps:
            names |= workloads.tools(job.workload["type"], step.params)
        run = sorted({step.params["container"] for step in job.steps if step.params.get("container")})
        wanted = {**job.provisions, "tools": sorted(names | set(job.provisions.get("tools", []))), "run": run}
        return {**provisions.provide(wanted, job.may_administer, self._log), "at": time.time()}

    @contextlib.contextmanager
    def _joined(self, job: Job, barrier_objects: BarrierObjects | None) -> Iterator[Job]:
        """Serve the leader of the fleet, if only that runs the workload's command."""
        if job.workload.get("on") != "leader":
            yield job
            return
        with peers.joined(
            barrier_objects, self.identity.instance_id, self._nonce, is_local=job.environment == "local"
        ) as joined:
            yield replace(job, peers=joined)

    def _own(self, mount: dict[str, Any]) -> dict[str, Any]:
        """Return the mount; of a device with the ids of the only volumes that this instance may write as they are."""
        if mount["kind"] != DEVICE:
            return mount

        def recorded() -> list[str]:
            volumes = self._blackboard.volumes(self.identity.instance_id)
            if volumes is None:
                raise NotYet("Launch fleet has not written volumes.json, or this role may not read it")
            return volumes

        try:
            volumes = retried("the volumes of this instance", recorded, patience(VOLUMES_S, PAUSE_S))
        except GaveUp as err:
            why = f"after {VOLUMES_S:g} s it is unknown which volumes are this instance's: {err.__cause__}"
            raise DeviceRefused(why) from err
        return {**mount, "volumes": volumes}

    def _serve(self, job: Job, folder: Path, heartbeat: Heartbeat) -> None:
        """Serve the folder, and publish the address, until the instance is ended."""
        is_local = job.environment == "local"
        host = "127.0.0.1" if is_local else self.identity.private_ip
        token = secrets.token_urlsafe(24)
        with FileServer(folder, host, 0 if is_local else SERVER_PORT, token) as server:
            self._blackboard.put("address.json", {"host": host, "port": server.port, "token": token})
            heartbeat.say("running")
            self._log.info("serving %s at %s:%d", folder, host, server.port)
            server.serve_forever()

    def _take_samples(self, setting: samples.Setting, heartbeat: Heartbeat, disk: Path | None) -> None:
        job = setting.job
        is_borrowed = "folder" in job.mount
        workspaces = Workspaces(
            setting.mounted.path, job.run, job.cell, self.identity.instance_id, disk,
            is_borrowed=is_borrowed, is_read_only=bool(job.mount.get("is_read_only")),
        )  # fmt: skip
        try:
            heartbeat.say("preparing", None, None)
            # A folder of this machine that no disk counts for is not reached over its network either.
            self._recent_traffic = RecentTraffic(job.mount["kind"] != "directory", workspaces.mount)
            heartbeat.tell(self._news)
            setting = replace(setting, calibration=calibration.calibrate(job, workspaces, self._log))
            for step in job.steps:
                self._step = step
                heartbeat.say("preparing", step.number, step.point)
                self._take_sample(setting, step, workspaces, heartbeat)
            self._end_upload()
            workspaces.close()
            self._bundle.put(self._requests.read(workspaces.mount) if job.mount["kind"] != "directory" else None)
        finally:
            # Also of a job that fails or is interrupted all is uploaded that was measured.
            self._uploads.shutdown()
            workspaces.close()

    def _news(self) -> dict[str, Any]:
        """Return what people who watch see of this instance: its traffic, and the results of its last step."""
        news = {
            "lately": self._recent_traffic.document(),
            "last": self._samples[-1]["metrics"] if self._samples else None,
        }
        return {name: each for name, each in news.items() if each}

    def _take_sample(self, setting: samples.Setting, step: Step, workspaces: Workspaces, heartbeat: Heartbeat) -> None:
        job = setting.job
        self._requests.read(workspaces.mount)
        stale = mounts.refresh(job.mount, workspaces.mount, self._log)
        self._requests.read(workspaces.mount)
        workspace = workspaces.fresh(step.number)
        trial = workloads.prepare(job, step, workspace)
        try:
            dropped = caches.drop(job.may_administer)
            if dropped == caches.DROPPED:
                stale += mounts.drop_caches(job.mount, self._log)
                # The programs were dropped from the cache too: reading GNU parallel and its Perl again takes 33 ms,
                # which are not time of the storage. Programs that a build calls are its own work, and not known.
                tools.load(workloads.tools(job.workload["type"], step.params))
            # Finish uploads before a step: none may run during it, and a failed one must be known before ready is
            # reported.
            self._end_upload()
            watched = _watch(job, workspace.mount)
            outcome, conditions = self._measure(step, trial, dropped, heartbeat, workspace.mount, watched)
        finally:
            trial.armed.kill()
        conditions = replace(conditions, ahead_s=self._s3_clock.ahead_s())
        if conditions.scheduled_at is not None:
            is_shared = job.environment == "local"
            outcome.warnings.extend(host.clock_warnings(host.clock(), conditions.ahead_s, is_shared=is_shared))
        else:
            outcome.warnings.extend(host.lone_clock_warnings(conditions.ahead_s))
        outcome.warnings.extend(stale)
        stem = keys.stem(step.point, step.repetition)
        raw = {f"{stem}.{suffix}": body for suffix, body in outcome.raw.items()}
        names = [stored_name(name, body) for name, body in raw.items()]
        self._bundle.add(stem, outcome.raw.get(keys.HISTOGRAMS), conditions.curve)
        self._samples.append(samples.sample(step, outcome, conditions, names))
        # Meanwhile this step's files are removed and the next one is prepared.
        self._upload = self._uploads.submit(self._put, samples.document(setting, [*self._samples]), raw)
        workspaces.done(workspace)
        self._log.info("step %d, %s: %s", step.number, step.point, samples.describe(outcome.metrics))

    def _put(self, document: dict[str, Any], raw: dict[str, bytes]) -> None:
        """Upload the raw files of a step, then the samples, which name them."""
        try:
            for name, body in raw.items():
                self._blackboard.put_raw(name, body)
            self._blackboard.put(keys.SAMPLES, document)
        except AgentError as err:
            self._log.error("samples are not uploaded: %s", err)
            raise

    def _end_upload(self) -> None:
        """Wait until the previous sample is uploaded. Raises the error of a failed upload."""
        if self._upload is not None:
            self._upload.result()

    def _measure(
        self, step: Step, trial: Trial, dropped: str, heartbeat: Heartbeat, storage: Path, watched: Sampler
    ) -> tuple[Outcome, samples.Conditions]:
        # The card takes longer to answer than the kernel, so it is asked before the wait for the start.
        slow_before = counters.allowances()
        scheduled_at, missed_s = self._meet(step, heartbeat)
        epoch = trial.armed.epoch_s = epoch_s()
        if scheduled_at is not None:
            # Read counters just before the start: the fleet's waiting time does not belong to the sample.
            sleep_until(scheduled_at - epoch - COUNTING_S)
        before = {**slow_before, **counters.cheap(storage)}
        with watched:
            self._recent_traffic.begin(watched)
            if scheduled_at is not None:
                sleep_until(scheduled_at - epoch)
            ended = trial.run()
            ended_s = time.monotonic()
            after = counters.cheap(storage)
        self._recent_traffic.end()
        counted = counters.difference(before, {**after, **counters.allowances()})
        outcome = trial.read(ended)
        started_at, ended_at = trial.armed.wall_time(trial.armed.released_ns), epoch + ended_s
        worked = work_span(trial.armed, outcome, ended_at)
        curve = over_time.document(watched, outcome.operations, epoch)
        conditions = samples.Conditions(
            scheduled_at, started_at, ended_at, worked, trial.workers, dropped, counted, curve
        )
        outcome.warnings.extend(late_start(missed_s, conditions.start_skew_s))
        outcome.warnings.extend(said for said in watched.warnings() if said not in outcome.warnings)
        outcome.warnings.extend(counters.unseen(outcome.reached, counted))
        return outcome, conditions

    def _meet(self, step: Step, heartbeat: Heartbeat) -> tuple[float | None, float]:
        """Return when to start, and how many seconds past that moment this instance saw the gate."""
        if self._barrier is None:
            heartbeat.say("running", step.number, step.point)
            return None, 0.0
        heartbeat.say("waiting", step.number, step.point)
        scheduled_at = self._barrier.wait(step.number)
        heartbeat.say("running", step.number, step.point)
        return scheduled_at, max(0.0, time.time() - scheduled_at)


def _watch(job: Job, storage: Path) -> Sampler:
    if job.emulation:
        return over_time.nothing()
    return over_time.sampler(None if mounts.is_by_requests(job.mount) else storage)


def work_span(armed: Armed, outcome: Outcome, ended_at: float) -> tuple[float, float]:
    """Start and end (epoch seconds) of the work itself, within the time of the programs that did it.

    The clocks of a tool and of this agent may differ by a tick, and a span must not reach beyond its sample.
    """
    start_ns, end_ns = outcome.worked_ns or (armed.released_ns, armed.ended_ns)
    start = min(armed.wall_time(max(start_ns, armed.released_ns)), ended_at)
    return start, max(start, min(armed.wall_time(end_ns), ended_at))


def late_start(missed_s: float, skew_s: float | None) -> list[str]:
    """Return the warning of a sample that did not start with the fleet."""
    if missed_s > 0:
        return [f"the start time was {missed_s:.3f} s past when this instance saw the gate"]
    if skew_s is not None and skew_s > LATE_S:
        return [f"this instance started {skew_s:.3f} s late"]
    return []
