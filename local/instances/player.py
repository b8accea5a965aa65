"""The local EC2: each instance of moto becomes an agent process on this machine.

Only AGENT_URI=, JOB_URI=, NONCE= and WATCHDOG_MINUTES= are read from an instance's user data; the script is not run.
The agent is fetched with the instance's own role and started in its own session, with its own metadata endpoint and
without AWS keys. When it exits, the instance terminates (or stops, by its shutdown behaviour), as if the user data had
called shutdown. The instance's disk is a folder, which is deleted with the instance.
"""

import base64
import os
import re
import shutil
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from moto.ec2.models.instances import StateReason
from moto.iam.models import iam_backends
from moto.s3.models import s3_backends

from agent.unpack import unpack
from local.corrections import ec2
from local.corrections.clients import PARTITION
from local.hooks import Hooks
from local.instances.metadata import GUEST, MAC, InstanceIdentity, MetadataService
from local.programs import leftovers
from local.programs.processes import Process, ProcessNotStartedError, ProcessStarter
from local.sessions import RoleSessions

# An agent takes a tenth of a second of CPU to start: starting more at once only slows all of them down.
MAX_STARTING = 8
# An agent counts as started when it asks the metadata service for the first time, or after this long.
START_GRACE_S = 5.0
END_GRACE_S = 0.5
# On AWS, a boot takes longer than the delay of the instance's descriptions and the first poll of Launch fleet. Launch
# fleet polls volumes every 4 s, but an instance with a short job deletes its volumes when it ends: here that may be 2 s
# after its boot, and before a poll on a busy machine.
BEFORE_ITS_END_S = 10.0
# EC2 keeps as much of a console.
CONSOLE_BYTES = 65_536
SETTING = re.compile(r"^\s*(?:export\s+)?(AGENT_URI|JOB_URI|NONCE|WATCHDOG_MINUTES)=[\"']?([^\"'\s]+)", re.MULTILINE)


class InstanceNotStartedError(RuntimeError):
    """The instance cannot do its job; the reason goes to its log and it terminates."""


@dataclass
class Running:
    """An instance's process and the request to end it."""

    process: Process | None = None
    is_ending: bool = False


class InstancePlayer:
    """Plays all instances; each has one thread from its launch to its end."""

    def __init__(
        self,
        *,
        workdir: Path,
        endpoint: str,
        starter: ProcessStarter,
        metadata: MetadataService,
        sessions: RoleSessions,
        hooks: Hooks,
    ) -> None:
        self._agents = workdir / "agents"
        self._logs = workdir / "logs"
        self._volumes = workdir / "storage" / "volumes"
        self._endpoint = endpoint
        self._starter = starter
        self._metadata = metadata
        self._sessions = sessions
        self._hooks = hooks
        self._running: dict[str, Running] = {}
        self._lock = threading.Lock()
        self._starting = threading.BoundedSemaphore(MAX_STARTING)

    def begin(self, instance: Any) -> None:
        """Start a pending instance, in a thread of its own."""
        self._running[instance.id] = Running()
        threading.Thread(target=self._live, args=(instance,), name=instance.id, daemon=True).start()

    def end(self, instance: Any) -> None:
        """End an instance's processes; its thread then cleans up and makes it terminated."""
        with self._lock:
            running = self._running.get(instance.id)
            if running is None:
                instance.finish_termination()
                return
            running.is_ending = True
            process = running.process
        if process is not None:
            threading.Thread(target=process.end, args=(END_GRACE_S,), daemon=True).start()

    def console(self, instance: Any) -> bytes:
        """Return the last part of an instance's log: the output of its agent and its machine."""
        try:
            with self._log(instance).open("rb") as log:
                log.seek(max(0, log.seek(0, os.SEEK_END) - CONSOLE_BYTES))
                return log.read(CONSOLE_BYTES)
        except FileNotFoundError:
            return b""

    def close(self) -> None:
        """End all instances and remove their disks."""
        for running in list(self._running.values()):
            running.is_ending = True
            if running.process is not None:
                running.process.end()
        shutil.rmtree(self._volumes, ignore_errors=True)

    def _live(self, instance: Any) -> None:
        try:
            if not self._run(instance):
                return
        except InstanceNotStartedError as err:
            self._say(instance, f"not started: {err}")
        except ProcessNotStartedError as err:
            self._say(instance, f"not started: {err}")
            instance.local_reason = str(err)
        except Exception as err:  # an instance must never stay pending for ever
            self._say(instance, f"not started, a fault of the local cloud: {err!r}")
        self._clean_up(instance)

    def _run(self, instance: Any) -> bool:
        """Run an instance to its end; False where it is left running without a process."""
        settings = _settings(instance)
        if "AGENT_URI" in settings and "JOB_URI" in settings:
            self._run_agent(instance, settings)
            return True
        self._say(instance, "no AGENT_URI and JOB_URI in its user data: it runs nothing until terminated")
        return not self._leave_idle(instance)

    def _leave_idle(self, instance: Any) -> bool:
        """Let it run without a process, unless it was terminated meanwhile."""
        with self._lock:
            if self._running[instance.id].is_ending:
                return False
            del self._running[instance.id]
            ec2.set_state(instance, "running", ec2.RUNNING)
            return True

    def _run_agent(self, instance: Any, settings: dict[str, str]) -> None:
        volume = self._volumes / instance.id
        (volume / "tmp").mkdir(parents=True, exist_ok=True)
        identity = self._identify(instance)
        agent = self._fetch(settings["AGENT_URI"], instance, identity)
        run = settings["JOB_URI"].partition("/runs/")[2].partition("/")[0]
        self._hooks.boot(run, lambda: self._running[instance.id].is_ending)
        with self._starting:
            process = self._start(instance, [str(agent), settings["JOB_URI"], settings.get("NONCE", "")], volume)
            if process is None:
                return
            self._hooks.key_given(identity.session().access_key_id, lambda: run, process.end)
            ec2.set_state(instance, "running", ec2.RUNNING)
            wait_for_first(identity.has_asked, process)
        minutes = float(settings.get("WATCHDOG_MINUTES", "inf"))
        status = process.wait(minutes * 60 if minutes != float("inf") else None)
        if status is None:
            self._say(instance, f"watchdog: still running after {minutes:g} minutes, ended")
            process.end(END_GRACE_S)
            status = process.wait()
        self._say(instance, f"agent ended with status {status}{process.why}")
        if process.killed_with:
            instance.local_reason = process.killed_with
        self._stay_until_described(instance)

    def _stay_until_described(self, instance: Any) -> None:
        """Let an instance of a run stay until EC2 has described its volumes: else no receipt could ever have them."""
        if ec2.RUN_TAG not in instance.ec2_backend.tags.get(instance.id, {}):
            return
        give_up_at = time.time() + BEFORE_ITS_END_S
        while time.time() < give_up_at and not self._running[instance.id].is_ending:
            if getattr(instance, "local_is_described", False):
                return
            time.sleep(0.05)

    def _start(self, instance: Any, arguments: list[str], volume: Path) -> Process | None:
        """Start the agent, unless the instance was terminated meanwhile."""
        with self._lock:
            running = self._running[instance.id]
            if running.is_ending:
                return None
            self._say(instance, f"starts {' '.join(arguments[:2])}")  # not the third, a secret
            running.process = self._starter.start_archive(
                arguments, unpack(Path(arguments[0])), cwd=volume, env=self._environment(instance.id, volume),
                log=self._log(instance),
            )  # fmt: skip
            return running.process

    def _environment(self, instance_id: str, volume: Path) -> dict[str, str]:
        """Return an environment without the user's settings: no keys, no profile, no region."""
        return {
            "PATH": f"{Path(sys.executable).parent}:{os.environ.get('PATH', '/usr/bin:/bin')}",
            "HOME": str(volume),
            "TMPDIR": str(volume / "tmp"),
            "LANG": "C.UTF-8",
            "PYTHONUNBUFFERED": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            **self._hooks.of_agents,
            "AWS_CONFIG_FILE": os.devnull,
            "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
            "AWS_ENDPOINT_URL": self._endpoint,
            "AWS_EC2_METADATA_SERVICE_ENDPOINT": self._metadata.endpoint(instance_id),
        }

    def _identify(self, instance: Any) -> InstanceIdentity:
        role_arn = _role_arn(instance)
        zone = instance.placement.zone
        identity = InstanceIdentity(
            values={
                "ami-id": instance.image_id,
                "instance-id": instance.id,
                "instance-type": instance.instance_type,
                "local-ipv4": instance.private_ip or "",
                "placement/availability-zone": zone,
                "placement/availability-zone-id": _zone_id(instance, zone),
                "placement/region": instance.region_name,
                "hostname": instance.id,
                "mac": MAC,
                f"network/interfaces/macs/{MAC}/subnet-id": instance.subnet_id or "",
                f"network/interfaces/macs/{MAC}/device-number": "0",
                f"network/interfaces/macs/{MAC}/local-ipv4s": GUEST,
            },
            role=role_arn.rsplit("/", 1)[-1] if role_arn else None,
            # the session name becomes part of aws:userid (AROA…:i-…), to which the role's policy refers
            session=lambda: self._sessions.session(role_arn or "", instance.id),
            user_data=_user_data(instance),
        )
        self._metadata.serve(instance.id, identity)
        return identity

    def _fetch(self, uri: str, instance: Any, identity: InstanceIdentity) -> Path:
        """Return the agent's file: fetched from S3 with the instance's permissions, cached by key."""
        bucket, _, key = uri.removeprefix("s3://").partition("/")
        self._require_grant(instance, identity, bucket, key)
        backend = s3_backends[instance.owner_id][PARTITION]
        stored = backend.get_object(bucket, key) if bucket in backend.buckets else None
        if stored is None:
            raise InstanceNotStartedError(f"{uri} does not exist; Plan matrix puts the agent there")
        path = self._agents / bucket / key.replace("/", "_")
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            partial = path.with_suffix(f".{instance.id}")
            partial.write_bytes(stored.value)
            partial.rename(path)
        return path

    def _require_grant(self, instance: Any, identity: InstanceIdentity, bucket: str, key: str) -> None:
        if identity.role is None:
            raise InstanceNotStartedError("it has no instance profile, so it may read nothing; see the launch template")
        agent = f"arn:{PARTITION}:s3:::{bucket}/{key}"
        if not self._hooks.may_fetch(identity.session(), instance.region_name, agent):
            raise InstanceNotStartedError(f"its role {identity.role} does not allow s3:GetObject on {agent}")

    def _clean_up(self, instance: Any) -> None:
        """Clean up after an instance that has ended for any reason, and mark it as stopped or terminated."""
        with self._lock:
            running = self._running.pop(instance.id, None)
        self._metadata.forget(instance.id)
        shutil.rmtree(self._volumes / instance.id, ignore_errors=True)
        leftovers.remove_folders()
        stops = instance.instance_initiated_shutdown_behavior == "stop" and not (running and running.is_ending)
        _without_errors(instance.stop if stops else instance.finish_termination)
        if why := getattr(instance, "local_reason", ""):
            # EC2's state reason for an instance that a fault of EC2 has ended; Poll fleet reads it.
            instance.state_reason = StateReason(why, "Server.InternalError")

    def _log(self, instance: Any) -> Path:
        return self._logs / f"{instance.id}.log"

    def _say(self, instance: Any, text: str) -> None:
        with self._log(instance).open("a") as log:
            log.write(f"[local EC2] {instance.id}: {text}\n")


def _settings(instance: Any) -> dict[str, str]:
    return dict(SETTING.findall(_user_data(instance)))


def _user_data(instance: Any) -> str:
    return base64.b64decode(str(instance.user_data or "")).decode(errors="replace")


def _role_arn(instance: Any) -> str | None:
    association = instance.ec2_backend.iam_instance_profile_associations.get(instance.id)
    if association is None:
        return None
    profile = iam_backends[instance.owner_id][PARTITION].get_instance_profile(association.iam_instance_profile.name)
    return profile.roles[0].arn if profile.roles else None


def _zone_id(instance: Any, zone: str) -> str:
    zones = {each.name: each.zone_id for each in instance.ec2_backend.describe_availability_zones()}
    return zones.get(zone, "")


def wait_for_first(has_asked: threading.Event, process: Process) -> None:
    for _ in range(int(START_GRACE_S * 20)):
        if has_asked.wait(0.05) or not process.is_running:
            return


def _without_errors(finish: Callable[[], Any]) -> None:
    """Ignore errors: moto's data may be gone already when the cloud ends."""
    try:
        finish()
    except Exception as err:
        print(f"local cloud: could not finish an instance: {err!r}", file=sys.stderr)
