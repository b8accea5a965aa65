"""Links into the Step Functions console: a run, and each of its file systems, as soon as there is something to see."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Protocol

from cli.follow.following import View
from cli.follow.progress import NOT_MEASURED, RunProgress
from cli.messages.explain import explain
from cli.target.traces import console_address

# The item of an iteration of "Each file system".
ITEM = "file_system"


class Children(Protocol):
    """Knows the iterations of a run's distributed Maps (cli/target/traces.py)."""

    def children(self, run: str) -> Iterable[tuple[str, str]]:
        """Yield ARN and status of each."""

    def item(self, child: str) -> dict[str, object]:
        """Return the input of an iteration."""


@dataclass
class Linked:
    """A view that also links to the AWS console.

    The cells of a file system run in a child execution of a distributed Map. Its name is generated and three clicks
    away from the run, so users would not find it.
    """

    view: View
    traces: Children
    _linked: set[str] = field(default_factory=set)
    _begun: int = 0

    def show(self, now: RunProgress) -> None:
        """Show a moment, and the links that are new."""
        if not self._linked:
            self._say(now.execution.run, now.execution.arn)
        begun = sum(system.state not in ("planned", NOT_MEASURED) for system in now.file_systems)
        if begun > self._begun:
            self._begun = begun
            self._guarded(lambda: self._say_children(now.execution.run))
        self.view.show(now)

    def say(self, line: str) -> None:
        """Add a line."""
        self.view.say(line)

    def _say_children(self, run: str) -> None:
        for arn, _ in self.traces.children(run):
            if arn not in self._linked:
                self._say(str(self.traces.item(arn).get(ITEM, arn)), arn)

    def _say(self, name: str, arn: str) -> None:
        self._linked.add(arn)
        self.view.say(f"{name} in the AWS console: {console_address(arn)}")

    def _guarded(self, act: Callable[[], None]) -> None:
        """Go on without links where the user lacks the right, or AWS throttles: they are no part of the run."""
        try:
            act()
        except Exception as error:
            self.view.say(f"no links to file systems: {explain(error).message}")
