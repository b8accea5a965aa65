"""samples.json: everything measured so far, with where and how it was measured."""

from __future__ import annotations

import hashlib
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import agent

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agent.job import Job, Step
    from agent.machine.metadata import Identity
    from agent.mounts import Mounted
    from agent.workloads.trial import Outcome

SCHEMA = 1


@dataclass(frozen=True)
class Setting:
    """Data that all samples of an agent share."""

    job: Job
    identity: Identity
    userid: str
    host: dict[str, Any]
    mounted: Mounted
    prepared: dict[str, Any]  # installed software, how long that took (s), when it was done (epoch seconds)
    calibration: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True)
class Conditions:
    """Conditions of a sample; times by the wall clock (epoch seconds)."""

    scheduled_at: float | None
    started_at: float  # of the programs
    ended_at: float
    worked: tuple[float, float]  # from the first start to the last end of the work itself
    workers: int
    caches: str
    counters: dict[str, float]
    curve: dict[str, Any] | None = None  # counters over time, for the bundle
    ahead_s: tuple[float, float] | None = None  # between which this clock is ahead of S3's

    @property
    def start_skew_s(self) -> float | None:
        """Return the delay in seconds of this instance's start; None without a common start time."""
        return None if self.scheduled_at is None else self.started_at - self.scheduled_at


def document(setting: Setting, samples: list[dict[str, Any]]) -> dict[str, Any]:
    job, identity = setting.job, setting.identity
    return {
        "schema": SCHEMA,
        "run": job.run,
        "cell": job.cell,
        "environment": job.environment,
        "instance": {
            "id": identity.instance_id,
            "type": identity.instance_type,
            "availability_zone": identity.availability_zone,
            "userid": setting.userid,
            "image_id": identity.image_id,
        },
        "agent": describe_agent(),
        "host": setting.host,
        "mount": setting.mounted.describe(),
        **({"emulation": job.emulation} if job.emulation else {}),
        "calibration": setting.calibration,
        "prepared": setting.prepared,
        "samples": [{**each, "emulated": True} for each in samples] if job.emulation else samples,
    }


def sample(step: Step, outcome: Outcome, conditions: Conditions, raw: list[str]) -> dict[str, Any]:
    return {
        "point": step.point,
        "repetition": step.repetition,
        "step": step.number,
        "metrics": outcome.metrics,
        "started_at": conditions.started_at,
        "ended_at": conditions.ended_at,
        "work_started_at": conditions.worked[0],
        "work_ended_at": conditions.worked[1],
        "scheduled_at": conditions.scheduled_at,
        "start_skew_s": conditions.start_skew_s,
        **({"clock_ahead_of_s3_s": list(conditions.ahead_s)} if conditions.ahead_s else {}),
        "work": outcome.work,
        "workers": conditions.workers,
        "caches": conditions.caches,
        "tool": outcome.tool,
        "counters": conditions.counters,
        **({"steadiness": outcome.steadiness.to_document()} if outcome.steadiness else {}),
        "raw": raw,
        "warnings": outcome.warnings,
    }


def describe_agent() -> dict[str, str]:
    """Return the agent's version, and the hash of the zip that it runs from."""
    about = {"version": agent.VERSION}
    archive = Path(sys.argv[0])
    if archive.suffix == ".pyz" and archive.is_file():
        about["sha256"] = hashlib.sha256(archive.read_bytes()).hexdigest()
    return about


def describe(values: Mapping[str, Any]) -> str:
    """Write names and values for a log that people read: `files_per_s 812, threads 4`."""
    return ", ".join(f"{name} {_word(value)}" for name, value in values.items())


def _word(value: Any) -> str:
    if isinstance(value, dict):
        return f"({describe(value)})"
    if isinstance(value, (list, tuple)):
        return " ".join(map(_word, value))
    return f"{value:.6g}" if isinstance(value, float) else str(value)
