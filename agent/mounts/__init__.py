"""The ways to get at a storage: attach it, use it for a while, let go of it."""

from __future__ import annotations

import contextlib
import importlib
import subprocess
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.errors import MountFailed

if TYPE_CHECKING:
    import logging

MOUNT_POINT = Path("/mnt/storage-matrix")
COMMAND_TIMEOUT_S = 120


@dataclass(frozen=True)
class Mounted:
    """A storage in use; source, type and options are what the kernel says, not what was asked."""

    kind: str
    path: Path
    source: str
    fstype: str
    options: str

    def describe(self) -> dict[str, str]:
        """The `mount` of samples.json."""
        return {**asdict(self), "path": str(self.path)}


def tools(mount: dict[str, Any]) -> set[str]:
    """The programs that mounting needs."""
    found: set[str] = _module(mount["kind"]).tools(mount)
    return found


@contextlib.contextmanager
def attached(mount: dict[str, Any], log: logging.Logger) -> Iterator[Mounted]:
    """Mount, and unmount at the end whatever happened."""
    module = _module(mount["kind"])
    path = module.attach(mount, log)
    try:
        yield module.describe(mount, path) if hasattr(module, "describe") else describe(mount["kind"], path)
    finally:
        module.detach(path, log)


def describe(kind: str, path: Path, table: Path = Path("/proc/mounts")) -> Mounted:
    """The entry of /proc/mounts that `path` lies on: the longest mount point above it, the last if mounted over."""
    best = ("", "", "", "")
    resolved = str(path.resolve())
    for line in table.read_text().splitlines():
        source, point, fstype, options = (_unescape(field) for field in line.split(" ")[:4])
        is_above = resolved == point or resolved.startswith(point.rstrip("/") + "/")
        if is_above and len(point) >= len(best[1]):
            best = (source, point, fstype, options)
    return Mounted(kind, path, best[0], best[2], best[3])


def unmount(path: Path, log: logging.Logger) -> None:
    """Unmount, in the last resort lazily: the instance ends soon after."""
    for command in (["umount", str(path)], ["umount", "-l", str(path)]):
        try:
            said = command_result(command)
        except Unended as err:  # a server that has gone; what ended the work before this must not be lost
            log.warning("%s", err)
            continue
        if said.returncode == 0:
            return
        log.warning("%s: %s", " ".join(command), said.stderr.strip())


class Unended(MountFailed):
    """An administrative command did not end in its time."""

    @property
    def name(self) -> str:
        """As the cell and its readers know it."""
        return MountFailed.__name__


def command_result(command: list[str], timeout_s: float = COMMAND_TIMEOUT_S) -> subprocess.CompletedProcess[str]:
    """Run a short administrative command."""
    try:
        return subprocess.run(  # noqa: S603
            command, capture_output=True, text=True, errors="replace", timeout=timeout_s, check=False
        )
    except FileNotFoundError as err:
        raise MountFailed(f"{command[0]} is not installed") from err
    except subprocess.TimeoutExpired as err:
        raise Unended(f"'{' '.join(command)}' did not end within {timeout_s:g} s") from err


def _unescape(field: str) -> str:
    # The kernel writes space, tab, newline and backslash in octal.
    for octal, character in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        field = field.replace(octal, character)
    return field


def _module(kind: str) -> Any:
    return importlib.import_module(f"agent.mounts.{kind.replace('-', '_')}")
