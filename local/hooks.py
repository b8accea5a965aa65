"""Where others take hold of a local cloud: tests judge roles, let calls fail, and emulate machines (tests/cloud).

Nobody takes hold of a user's cloud: there these methods do nothing.
"""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from local.corrections.ec2 import Player
    from local.sessions import RoleSessions

# A WSGI application.
Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


class Hooks:
    """The hooks of a user's cloud."""

    # Host names by which clients reach the cloud, beside those of this machine.
    hosts: tuple[str, ...] = ()
    # Environment variables of every function, and of every agent.
    of_functions: Mapping[str, str] = {}
    of_agents: Mapping[str, str] = {}

    def before(self, workdir: Path, region: str, sessions: "RoleSessions") -> None:
        """Change moto before all corrections do."""

    def after(self) -> None:
        """Change moto after all corrections, before the stack is deployed."""

    def application(self, application: Application) -> Application:
        """Return what answers admitted requests."""
        return application

    def scope(self, _payload: bytes) -> str:
        """Return the run that has sandboxes of its own for this event; "" if it shares those of all others."""
        return ""

    def key_given(self, access_key: str, run: Callable[[], str | None], kill: Callable[[], None]) -> None:
        """Note who got a key: `run` returns the run that it works for at this moment, `kill` kills it."""

    def may_fetch(self, _session: Any, _region: str, _object_arn: str) -> bool:
        """Return whether an instance may fetch its agent."""
        return True

    def boot(self, run: str, is_ending: Callable[[], bool]) -> None:
        """Boot an instance, until it is asked to end."""

    def player(self, player: "Callable[..., Player]", **parts: Any) -> "Player":
        """Return the program that acts as the instances."""
        return player(**parts)
