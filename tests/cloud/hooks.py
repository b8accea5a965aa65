"""What the tests add to a local cloud at its hooks (local/hooks.py)."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from local.hooks import Application, Hooks

if TYPE_CHECKING:
    from cloud.faults.injection import Faults
    from local.corrections.ec2 import Player
    from local.sessions import RoleSessions

# An emulated machine takes a second for one request.
GATE_MARGIN_VM_S = 10
# Polls between the end of an instance's late descriptions and its boot.
AFTER_DESCRIBED_S = 10.0


@dataclass
class Proof(Hooks):
    """Enforces the deployed roles; the rest if asked for. It imports no moto before its settings are made."""

    faults: Path | None = None
    record: Path | None = None
    vcpu_quota: int | None = None
    is_new_account: bool = False
    instances: str = "process"
    _injected: "Faults | None" = field(default=None, init=False)
    _region: str = field(default="", init=False)

    def __post_init__(self) -> None:
        if self.faults:
            from cloud.faults.injection import BACKOFF_SCALE

            self.of_functions = self.of_agents = {"LOCAL_BACKOFF_SCALE": str(BACKOFF_SCALE)}
        if self.instances == "vm":
            from cloud.vm.machine import HOST
            from local.programs import stand_ins

            self.hosts = (HOST,)
            by_machines = {"ENVIRONMENT": "local-vm", "GATE_MARGIN_SECONDS": str(GATE_MARGIN_VM_S), stand_ins.ROOT: ""}
            self.of_functions = {**self.of_functions, **by_machines}

    def before(self, workdir: Path, region: str, sessions: "RoleSessions") -> None:
        """Judge every call before moto answers it."""
        from cloud import accounts
        from cloud.faults.injection import Faults
        from cloud.roles import simulation
        from cloud.roles.enforcement import RoleEnforcement

        self._region = region
        if self.faults:
            self._injected = Faults(self.faults.resolve(), workdir / "calls.jsonl")
        self._enforcement: RoleEnforcement = RoleEnforcement(workdir / "iam-decisions.jsonl", sessions, self._injected)
        self._enforcement.install()
        simulation.install()
        if self.is_new_account:
            accounts.open_today(f"{region}c")
        if quota := self.vcpu_quota or (accounts.NEW_VCPUS if self.is_new_account else None):
            accounts.limit_vcpus(quota)

    def after(self) -> None:
        """Let AWS show late what faults delay, and quotas be those of the account."""
        from cloud import accounts
        from cloud.faults import lateness, states

        if self._injected:
            states.install(self._injected)
            lateness.install(self._injected, self._region)
        if self.is_new_account:
            accounts.answer_new_quotas()

    def application(self, application: Application) -> Application:
        """Record what is answered."""
        from cloud.recording import Recorder

        return Recorder(application, self.record) if self.record else application

    def scope(self, payload: bytes) -> str:
        """With faults, each run has its own sandboxes: a cache of one run must not save a call of another."""
        from local.functions.runtime import run_of_payload

        return (run_of_payload(payload) or "") if self._injected else ""

    def key_given(self, access_key: str, run: Callable[[], str | None], kill: Callable[[], None]) -> None:
        """Note whose calls fail, and how it is killed."""
        from cloud.faults.injection import Client

        if self._injected:
            self._injected.clients[access_key] = Client(run, kill)

    def may_fetch(self, session: Any, region: str, object_arn: str) -> bool:
        """Return whether an instance's role lets it fetch an object."""
        return self._enforcement.may_fetch(session, region, object_arn)

    def boot(self, run: str, is_ending: Callable[[], bool]) -> None:
        """Wait until EC2 describes the instance and its tags, if faults delay them, and a few polls more."""
        began = time.time()
        late_s = max(self._injected.late_s(what, run, began) for what in ("instances", "tags")) if self._injected else 0
        up_at = began + late_s + AFTER_DESCRIBED_S if late_s else began
        while time.time() < up_at and not is_ending():
            time.sleep(0.2)

    def player(self, player: Callable[..., Any], **parts: Any) -> "Player":
        """Run instances as processes, or as emulated machines."""
        if self.instances == "vm":
            from cloud.vm.player import MachinePlayer

            return MachinePlayer(**parts)
        return super().player(player, **parts)
