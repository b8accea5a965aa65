"""The ways to reach a storage: attach it, use it, detach it.

Each module here is a kind of mount, by the name of its file: `instance-store` is instance_store.py.
"""

from __future__ import annotations

import contextlib
import errno
import importlib
import os
import re
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from agent.errors import AgentError, MountFailed, RootSquashed, StorageReadOnly, ToolFailed
from agent.retrying import GaveUp, pauses_until, retried

if TYPE_CHECKING:
    import logging

MOUNT_POINT = Path("/mnt/storage-matrix")
COMMAND_TIMEOUT_S = 120
# Messages of mount (util-linux) and mount.nfs (nfs-utils 2.6) about invalid options, and of mount.efs if the metadata
# service has no keys (https://github.com/aws/efs-utils/issues/80). "access denied by server" is not among them:
# policies and exports of a new file system take minutes to take effect.
PERMANENT_MOUNT_ERRORS = re.compile(
    r"incorrect mount option was specified|[Uu]nsupported nfs4? mount option|unknown filesystem type|must be superuser"
    r"|Access Key ID and Secret Access Key are not found"
)

ADVICE = {
    StorageReadOnly: '; let the instances write in its export or policy, or measure an nfs with "ro" in its options',
    RootSquashed: "; its server maps root to another user: write no_root_squash in its export, allow ClientWrite and"
    " ClientRootAccess in its policy, or let that user write",
}


@dataclass(frozen=True)
class Mounted:
    """A mounted storage; source, type and options are the kernel's, not the requested ones."""

    kind: str
    path: Path
    source: str
    fstype: str
    options: str
    took_s: float | None = None  # until it was attached, formatted and mounted

    def describe(self) -> dict[str, Any]:
        """Return the `mount` of samples.json."""
        return {**asdict(self), "path": str(self.path)}


class MountModule(Protocol):
    """Interface of a kind of mount; `mount` is that of the job. A module may also have, with these defaults:

    - `tools(mount)`, the programs that mounting needs: none;
    - `describe(mount, path)`, its description: that of the kernel;
    - `detach(path, log)`, which lets go of it: `unmount`;
    - `arrange(mount, folder)`, which prepares the working folder;
    - `refresh(mount, path, log)` and `drop_caches(mount, log)`, before each step, which return what failed as warnings.
    """

    def attach(self, mount: dict[str, Any], log: logging.Logger) -> Path:
        """Mount it; return the folder to work in."""
        ...


def tools(mount: dict[str, Any]) -> set[str]:
    needed: set[str] = _hook(mount, "tools", lambda _: set())(mount)
    return needed


@contextlib.contextmanager
def attached(mount: dict[str, Any], log: logging.Logger) -> Iterator[Mounted]:
    """Mount, yield the mounted storage, and always unmount at the end."""
    began = time.monotonic()
    path = _module(mount["kind"]).attach(mount, log)
    took_s = round(time.monotonic() - began, 3)
    try:
        with _own_folder(path, mount.get("folder")) as folder:
            _hook(mount, "arrange", lambda *_: None)(mount, folder)
            mounted = _hook(mount, "describe", lambda _, path: describe(mount["kind"], path))(mount, folder)
            # A folder of this machine is not mounted.
            yield mounted if mount["kind"] == "directory" else replace(mounted, took_s=took_s)
    finally:
        _hook(mount, "detach", unmount)(path, log)


@contextlib.contextmanager
def _own_folder(path: Path, name: str | None) -> Iterator[Path]:
    """Yield the working folder on a storage. The last user removes it when it is empty; others may still use it."""
    if not name:
        yield path
        return
    folder = path / name
    try:
        folder.mkdir(exist_ok=True)
        squashed_to = {folder.stat().st_uid} - {os.geteuid()}
    except OSError as err:
        failure: type[AgentError] = MountFailed
        if err.errno == errno.EROFS:
            failure = StorageReadOnly
        elif err.errno == errno.EACCES and os.geteuid() == 0:
            failure = RootSquashed
        raise failure(f"no folder can be made on the storage that exists: {err}{ADVICE.get(failure, '')}") from err
    try:
        yield folder
    except ToolFailed as err:
        if not squashed_to:
            raise
        why = f"root is user {squashed_to.pop()} on this storage (root_squash), so no tool can give a file to anybody"
        raise type(err)(f"{err}; {why}") from err
    finally:
        with contextlib.suppress(OSError):
            folder.rmdir()


def persist(
    refusal: Callable[[float], str | None], source: str, advice: str, *, timeout_s: float, pause_s: float
) -> None:  # fmt: skip
    """Try to mount a source every `pause_s`, until there is no refusal.

    `refusal` tries once, for the remaining seconds, and returns the reason of a failure. Raises MountFailed with that
    reason when the time is over, or at once if no further attempt can succeed.
    """
    give_up_at = time.monotonic() + timeout_s

    def attempt() -> None:
        why = refusal(give_up_at - time.monotonic())
        if why is not None:
            raise _Refused(why)

    try:
        retried(f"mounting {source}", attempt, pauses_until(give_up_at - pause_s, lambda: pause_s))
    except GaveUp as err:
        raise MountFailed(f"{source} could not be mounted within {timeout_s:g} s; {err}; {advice}") from err
    except _Refused as err:
        raise MountFailed(f"{source} cannot be mounted: {err}") from err


class _Refused(Exception):
    """Why a source could not be mounted."""

    @property
    def is_retryable(self) -> bool:
        """Return whether a retry may succeed: the name may not resolve yet, the server may not respond yet."""
        return not PERMANENT_MOUNT_ERRORS.search(str(self))


def refresh(mount: dict[str, Any], path: Path, log: logging.Logger) -> list[str]:
    """Restore a storage's state before the first step, as far as possible; return warnings about the rest."""
    warnings: list[str] = _hook(mount, "refresh", lambda *_: [])(mount, path, log)
    return warnings


def drop_caches(mount: dict[str, Any], log: logging.Logger) -> list[str]:
    """Drop the client's own caches, beside the kernel's, before a step; return warnings about the rest."""
    warnings: list[str] = _hook(mount, "drop_caches", lambda *_: [])(mount, log)
    return warnings


def is_by_requests(mount: dict[str, Any]) -> bool:
    """Return whether nothing is mounted, because a reader sends requests over the network."""
    return bool(getattr(_module(mount["kind"]), "IS_BY_REQUESTS", False))


def describe(kind: str, path: Path, table: Path = Path("/proc/mounts")) -> Mounted:
    """Return the entry of /proc/mounts that holds `path`: the longest mount point above it, of equal ones the last."""
    best = ("", "", "", "")
    resolved = str(path.resolve())
    for line in table.read_text().splitlines():
        source, point, fstype, options = (_unescape(field) for field in line.split(" ")[:4])
        is_above = resolved == point or resolved.startswith(point.rstrip("/") + "/")
        if is_above and len(point) >= len(best[1]):
            best = (source, point, fstype, options)
    return Mounted(kind, path, best[0], best[2], best[3])


def unmount(path: Path, log: logging.Logger) -> None:
    """Unmount, as a last resort lazily: the instance ends soon after."""
    for command in (["umount", str(path)], ["umount", "-l", str(path)]):
        try:
            result = command_result(command)
        except Unended as err:  # the server is gone; raising this would hide the error that ended the work
            log.warning("%s", err)
            continue
        if result.returncode == 0:
            return
        log.warning("%s: %s", " ".join(command), result.stderr.strip())


class Unended(MountFailed):
    """An administrative command did not end within its timeout."""

    @property
    def name(self) -> str:
        """Return the name of its base class, which the cell shows."""
        return MountFailed.__name__


def command_result(command: list[str], timeout_s: float = COMMAND_TIMEOUT_S) -> subprocess.CompletedProcess[str]:
    """Run a short administrative command. Raises MountFailed if it is not installed, Unended after `timeout_s`.

    LC_ALL makes its output English in any image, because callers parse it.
    """
    try:
        return subprocess.run(  # noqa: S603
            command, capture_output=True, text=True, errors="replace", timeout=timeout_s, check=False,
            env={**os.environ, "LC_ALL": "C"},
        )  # fmt: skip
    except FileNotFoundError as err:
        raise MountFailed(f"{command[0]} is not installed") from err
    except subprocess.TimeoutExpired as err:
        raise Unended(f"'{' '.join(command)}' did not end within {round(timeout_s, 1):g} s") from err


def run(command: list[str], problem: str = "", advice: str = "") -> str:
    """Run a short administrative command; return its output. Raises MountFailed with its last words.

    `problem` takes the place of the command in the message, `advice` ends it.
    """
    result = command_result(command)
    if result.returncode != 0:
        what = problem or f"'{' '.join(command)}' ended with {result.returncode}"
        raise MountFailed(f"{what}: {result.stderr.strip()}{advice}")
    return result.stdout


def attempt(command: list[str], log: logging.Logger, problem: str) -> list[str]:
    """Run a command that a measurement can do without; return a warning if it fails."""
    try:
        output = run(command)
    except MountFailed as err:
        return [f"{problem}: {err}"]
    log.info("%s: %s", " ".join(command), output.strip() or "done")
    return []


def _unescape(field: str) -> str:
    # The kernel writes space, tab, newline and backslash in octal.
    for octal, character in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        field = field.replace(octal, character)
    return field


def _hook(mount: dict[str, Any], name: str, default: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that the kind's module may have."""
    hook: Callable[..., Any] = getattr(_module(mount["kind"]), name, default)
    return hook


def _module(kind: str) -> MountModule:
    module: Any = importlib.import_module(f"agent.mounts.{kind.replace('-', '_')}")
    return cast("MountModule", module)
