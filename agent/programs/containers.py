"""Run a script in a container, with the installed docker or podman.

Text of the matrix only ever becomes one argument of an argv list or the script's own `"$1"`: no shell parses it.
"""

from __future__ import annotations

import errno
import itertools
import os
import re
import secrets
import tempfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from agent.errors import RootSquashed, ToolFailed
from agent.programs import tools
from agent.programs.processes import Command, run
from agent.retrying import GaveUp, retried

ENGINES = ("docker", "podman")
# none: its loopback only; bridge: a network of its own behind the machine's; host: the machine's own.
Network = Literal["none", "bridge", "host"]
# Images of a single program often have no bash, but a sh that knows pipefail (BusyBox's, from Alpine).
BASH_OR_SH = 'exec "$(command -v bash || command -v sh)" "$@"'
# Build systems refuse to run as root; the container needs no user with this number.
UNPRIVILEGED = 1000
PULLS, PAUSE_S = 3, 10.0
# Messages of docker and podman that no retry changes: no such image, none for this processor, no access, a wrong name.
PERMANENT_PULL_ERRORS = re.compile(
    r"manifest unknown|name unknown|no matching manifest|pull access denied|access to the resource is denied"
    r"|authentication required|no basic auth credentials|invalid reference format"
)


@dataclass(frozen=True)
class Container:
    """How scripts run in containers of an image."""

    image: str
    folders: Mapping[Path, str]
    """Folders of this machine and their paths in the container; the first is its working directory and home."""
    env: Mapping[str, str] = field(default_factory=dict)
    read_only: Collection[Path] = ()

    def command(self, cwd: Path, script: str, arguments: Sequence[str], *, network: Network) -> Command:
        """Return the command that runs a script in a fresh container, where `arguments` are `$1` and so on.

        By bash, or by sh where the image has no bash. It never pulls an image, as that would be timed.
        """
        home = next(iter(self.folders.values()))
        user, group = owner()
        name = f"storage-matrix-{secrets.token_hex(8)}"
        argv = [engine_path(), "run", "--rm", "--name", name, "--pull", "never"]
        argv += ["--network", network, "--user", f"{user}:{group}"]
        if engine() == "podman" and os.geteuid() != 0:
            # Else the user's number in the container is another outside, which may not write to the user's folders.
            argv += ["--userns", "keep-id"]
        for source, target in self.folders.items():
            option = ",readonly" if source in self.read_only else ""
            argv += ["--mount", f"type=bind,source={source},target={target}{option}"]
        argv += ["--workdir", home, "--env", f"HOME={home}"]
        # Other users of this machine can read arguments, but not the environment of the client, so keys go there.
        keys = {variable: value for variable, value in self.env.items() if variable.startswith("AWS_")}
        for variable, value in self.env.items():
            argv += ["--env", variable if variable in keys else f"{variable}={value}"]
        argv += ["--entrypoint", "/bin/sh", self.image, "-c", BASH_OR_SH, "sh"]
        argv += ["-eo", "pipefail", "-c", script, "bash", *arguments]
        return Command(argv, cwd, killer=[engine_path(), "kill", name], env=keys)

    def make_ready(self, scratch: Path) -> str:
        """Start the engine and pull the image where necessary; return the image's id."""
        scratch.mkdir(parents=True, exist_ok=True)
        # Amazon Linux does not start an engine that this agent has just installed.
        if engine() == "docker" and os.geteuid() == 0 and not _succeeds([engine_path(), "info"], scratch):
            run(Command(["systemctl", "start", "docker"], scratch), scratch / "start")
        inspect = [engine_path(), "image", "inspect", "--format", "{{.Id}}", self.image]
        if not _succeeds(inspect, scratch):
            self._pull(scratch)
        return run(Command(inspect, scratch), scratch / "inspect").stdout.read_text().strip()

    def _pull(self, scratch: Path) -> None:
        pull = [engine_path(), "pull", "--quiet", self.image]

        def attempt() -> None:
            try:
                run(Command(pull, scratch), scratch / "pull")
            except ToolFailed as err:
                raise _NotPulled(str(err)) from err

        try:
            retried(f"pulling {self.image}", attempt, itertools.repeat(PAUSE_S, PULLS - 1))
        except (GaveUp, _NotPulled) as err:
            raise ToolFailed(str(err)) from err


class _NotPulled(Exception):
    """Why an image could not be pulled."""

    @property
    def is_retryable(self) -> bool:
        """Return whether a retry may succeed, for example if the registry does not respond or throttles."""
        return not PERMANENT_PULL_ERRORS.search(str(self))


def engine() -> str:
    """Return the name of the installed engine, or docker, which can be installed."""
    return next((name for name in ENGINES if tools.find(name)), ENGINES[0])


def engine_path() -> str:
    return tools.find(engine()) or engine()


def owner() -> tuple[int, int]:
    """Return user and group of a container's files: UNPRIVILEGED where the agent is root, else the agent's own."""
    return (UNPRIVILEGED, UNPRIVILEGED) if os.geteuid() == 0 else (os.geteuid(), os.getegid())


def make_writable(folder: Path) -> Path:
    """Make a folder that containers may write to, and return it.

    A folder of their user is left as it is: in a Mountpoint all folders are, and it refuses chown. Raises RootSquashed
    where a server maps root to another user, ToolFailed if chown is refused for another reason.
    """
    folder.mkdir(parents=True, exist_ok=True)
    status = folder.stat()
    if os.geteuid() != 0 or (status.st_uid, status.st_gid) == owner():
        return folder
    try:
        os.chown(folder, *owner())
    except PermissionError as err:
        refusal = f"{folder} cannot be given to user {UNPRIVILEGED}, as whom containers run: {err.strerror}"
        if not _is_root_squashed(folder):
            raise ToolFailed(refusal) from err
        advice = "write no_root_squash in its export, or run the workload without a container"
        raise RootSquashed(f"{refusal}. Its server maps root to another user (root_squash); {advice}") from err
    return folder


def _is_root_squashed(folder: Path) -> bool:
    """Return whether what root makes in a folder belongs to another user."""
    try:
        with tempfile.TemporaryDirectory(dir=folder) as probe:
            return Path(probe).stat().st_uid != 0
    except OSError as err:
        # Permissions do not keep root of this machine from writing, but they do keep the user that it is mapped to.
        return err.errno == errno.EACCES


def _succeeds(argv: Sequence[str], scratch: Path) -> bool:
    try:
        run(Command(argv, scratch), scratch / "tried")
    except ToolFailed:
        return False
    return True
