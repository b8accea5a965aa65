"""Types of a checked job.json (job_check.py checks it)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agent.board.barrier import BarrierRule
    from agent.board.peers import Peers


@dataclass(frozen=True)
class Step:
    """One point in one repetition."""

    number: int
    point: str
    repetition: int
    params: dict[str, Any]


@dataclass(frozen=True)
class Job:
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
    emulation: dict[str, Any] | None = None  # the properties of an emulated storage; None: a real one is measured
    work_mount: dict[str, Any] | None = None  # for work beside the storage; None: on the root volume
    provisions: dict[str, Any] = field(default_factory=dict)  # software to install on the machine
    peers: Peers | None = None  # the fleet, if its leader runs the command

    @property
    def is_own_storage(self) -> bool:
        """Return whether each instance has its own storage, whose caches no other instance fills."""
        return self.storage.get("type") in ("ebs", "instance-store")

    @property
    def may_administer(self) -> bool:
        """Return whether the agent may change the machine; in the local cloud it runs on a user's own machine."""
        return str(self.mount["kind"]) != "directory" and self.environment != "local"
