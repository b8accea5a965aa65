"""Run a script in a container, by docker or podman, whichever the instance has.

What a matrix says only ever becomes one argument of an argv list or of the script's own `"$1"`: no shell reads it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from agent.errors import ToolFailed
from agent.programs import tools
from agent.programs.processes import Command, run

ENGINES = ("docker", "podman")
# Build systems refuse to run as root; the number needs no user of that name in the container.
UNPRIVILEGED = 1000
PULLS, PAUSE_S = 3, 10.0


@dataclass(frozen=True)
class Container:
    """An image, and the folders of this machine that it sees under other names; it works in the first of them."""

    image: str
    folders: Mapping[Path, str]

    def command(self, cwd: Path, script: str, arguments: Sequence[str], *, has_network: bool) -> Command:
        """The command line that runs a bash script in a fresh container, where `arguments` are `$1` and so on.

        Without network there is no interface but the container's own loopback. An image that is not here is never
        fetched: that would be timed.
        """
        home = next(iter(self.folders.values()))
        user, group = owner()
        argv = [engine_path(), "run", "--rm", "--pull", "never"]
        argv += ["--network", "bridge" if has_network else "none", "--user", f"{user}:{group}"]
        for source, target in self.folders.items():
            argv += ["--mount", f"type=bind,source={source},target={target}"]
        argv += ["--workdir", home, "--env", f"HOME={home}", "--env", "LC_ALL=en_US.UTF-8"]
        argv += ["--entrypoint", "/bin/bash", self.image, "-eo", "pipefail", "-c", script, "bash", *arguments]
        return Command(argv, cwd)

    def make_ready(self, scratch: Path) -> str:
        """Start the engine where it does not run yet and fetch the image unless it is here; the image's id."""
        scratch.mkdir(parents=True, exist_ok=True)
        # Installed a minute ago by this agent: Amazon Linux does not start it by itself.
        if engine() == "docker" and os.geteuid() == 0 and not _succeeds([engine_path(), "info"], scratch):
            run(Command(["systemctl", "start", "docker"], scratch), scratch / "start")
        inspect = [engine_path(), "image", "inspect", "--format", "{{.Id}}", self.image]
        if not _succeeds(inspect, scratch):
            self._pull(scratch)
        return run(Command(inspect, scratch), scratch / "inspect").stdout.read_text().strip()

    def _pull(self, scratch: Path) -> None:
        pull = [engine_path(), "pull", "--quiet", self.image]
        for _ in range(PULLS - 1):
            if _succeeds(pull, scratch):
                return
            time.sleep(PAUSE_S)
        run(Command(pull, scratch), scratch / "pull")


def engine() -> str:
    """The name of the engine that is here; docker, to be installed, where none is."""
    return next((name for name in ENGINES if tools.find(name)), ENGINES[0])


def engine_path() -> str:
    """The program of the engine."""
    return tools.find(engine()) or engine()


def owner() -> tuple[int, int]:
    """Whom a container's files belong to: nobody of this machine where the agent is root, else the agent's user."""
    return (UNPRIVILEGED, UNPRIVILEGED) if os.geteuid() == 0 else (os.geteuid(), os.getegid())


def own(folder: Path) -> Path:
    """Make a folder that containers may write to."""
    folder.mkdir(parents=True, exist_ok=True)
    if os.geteuid() == 0:
        os.chown(folder, *owner())
    return folder


def _succeeds(argv: Sequence[str], scratch: Path) -> bool:
    try:
        run(Command(argv, scratch), scratch / "tried")
    except ToolFailed:
        return False
    return True
