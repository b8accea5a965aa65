"""What to do: job.json, checked completely before anything is touched."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class BarrierRule:
    """How the fleet meets before each step."""

    poll_s: float
    timeout_s: float


@dataclass(frozen=True)
class Step:
    """One point in one repetition."""

    number: int
    point: str
    repetition: int
    params: dict[str, Any]


@dataclass(frozen=True)
class Job:
    """The checked job."""

    kind: str  # measure | populate | serve | bake
    run: str
    cell: str
    environment: str  # aws | local
    bucket: str
    prefix: str
    deadline_at: float | None  # epoch seconds
    heartbeat_s: float
    barrier: BarrierRule | None
    storage: dict[str, Any]
    mount: dict[str, Any]
    workload: dict[str, Any]
    steps: tuple[Step, ...]
    instances: int = 1  # of the fleet, this one included
    emulation: dict[str, Any] | None = None  # the known truth of a storage that is only played; None: measured
    provisions: dict[str, Any] = field(default_factory=dict)  # what the machine shall have

    @property
    def is_own_storage(self) -> bool:
        """Whether each instance has its storage for itself, so nobody else has filled its caches."""
        return self.storage.get("type") in ("ebs", "instance-store")

    @property
    def may_administer(self) -> bool:
        """Whether the machine is ours to change; the local cloud's processes run on somebody's own machine."""
        return str(self.mount["kind"]) != "directory" and self.environment != "local"
