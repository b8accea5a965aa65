"""Start programs behind their own gate, time them, and make sure that none outlives the step.

Each program waits at a pipe (a shell that `exec`s it, or a program that implements the protocol), so that the timed
part is the program and not the start of 64 processes. It writes one byte to descriptor 4 when it is ready, reads one
newline from descriptor 3, and starts. A pipe that closes without a newline means that the agent has ended: the program
must not start.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import resource
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from agent.errors import DiskFull, ToolFailed

GATE_FD, READY_FD = 3, 4
WAIT_AT_THE_GATE = 'echo >&4; exec 4>&-; read -r go <&3 || exit 125; exec 3<&-; exec "$@"'
ARM_TIMEOUT_S = 120.0
ENDING_S = 1.0  # from the end of a program's last descriptor to its own
KILLER_S = 30.0
# Messages of docker (moby, daemon/kill.go) and podman (libpod) about a container that has ended, or never started.
ENDED_ALREADY = re.compile(
    r"no such container|no container with name|is not running|can only kill running|removal .*in progress"
    r"|no such process|process already finished",
    re.IGNORECASE,
)
TAIL_BYTES = 2_000
# Messages of programs for ENOSPC and EDQUOT (strerror of glibc), and fio's own (filesetup.c).
MIN_FREE_BYTES = 64 << 10
FULL = re.compile(r"No space left on device|ENOSPC|Disk quota exceeded")
# Services start with a limit of 1,024 open files, with which GNU parallel silently runs 252 jobs instead of 1,024.
OPEN_FILES = 65_536

# Process ids of programs that are not yet collected, with their killers.
_alive: dict[int, Sequence[str]] = {}
# Killers that have failed, with the reason: their containers may still run.
_failed_killers: dict[tuple[str, ...], str] = {}


def allow_open_files() -> None:
    """Let this process and all programs that it starts open as many files as root may, up to OPEN_FILES."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    allowed = OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, OPEN_FILES)
    if soft != resource.RLIM_INFINITY and soft < allowed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))


@dataclass(frozen=True)
class Command:
    """A program to start; `runners` is the number of newlines that it reads from the gate (0: wrapped in a waiting
    shell).

    `killer` is a command that ends a container, which is not a child of its client. `not_ended` reports its failure.
    Secrets are in `stdin` or `env`, because every user of the machine can read `argv`.
    """

    argv: Sequence[str]
    cwd: Path
    runners: int = 0
    killer: Sequence[str] = ()
    stdin: bytes = b""
    env: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Ended:
    """Result of a program."""

    argv: Sequence[str]
    status: int
    stdout: Path
    stderr: Path
    user_s: float
    system_s: float

    def tail(self) -> str:
        """Return the last lines that it wrote, errors before output; of a traceback only the error itself."""
        output = read_tail(self.stderr).strip() or read_tail(self.stdout).strip()
        lines = [line.strip() for line in output.splitlines()[-6:] if line.strip()]
        return " | ".join(lines[-1:] if any(line.startswith('File "') for line in lines) else lines)


class Armed:
    """Programs that wait at the gate."""

    def __init__(self, commands: Sequence[Command], scratch: Path, env: Mapping[str, str] | None = None) -> None:
        """Start all and return when each waits at the gate; `scratch` gets their output files."""
        self._env = {**os.environ, "LC_ALL": "C", **(env or {})}
        self._commands = commands
        self._outputs = [(scratch / f"{n}.out", scratch / f"{n}.err") for n in range(len(commands))]
        self._tokens = sum(command.runners or 1 for command in commands)
        gate_read, self._gate = os.pipe()
        ready_read, ready_write = os.pipe()
        self._pids: list[int] = []
        try:
            for command, outputs in zip(commands, self._outputs):
                self._pids.append(self._spawn(command, outputs, gate_read, ready_write))
            os.close(ready_write)
            ready_write = -1
            self._await_ready(ready_read)
        except BaseException:
            self.kill()
            raise
        finally:
            os.close(gate_read)
            os.close(ready_read)
            if ready_write >= 0:
                os.close(ready_write)
        self.released_ns = 0
        self.ended_ns = 0
        # Epoch seconds at 0 of the monotonic clock, which all times are by: no step of the wall clock is in them.
        self.epoch_s = epoch_s()
        self._epoch_at_end_s = self.epoch_s

    def release(self) -> None:
        """Open the gate for all at once and note the moment."""
        self.released_ns = time.monotonic_ns()
        os.write(self._gate, b"\n" * self._tokens)

    def wait(self) -> list[Ended]:
        """Wait for all; `ended_ns` is when the last one ended. Raises ToolFailed for the first that failed."""
        try:
            ended = [self._reap(pid, n) for n, pid in enumerate(self._pids)]
            self.ended_ns, self._epoch_at_end_s = time.monotonic_ns(), epoch_s()
        except BaseException:
            self.kill()
            raise
        finally:
            self._close_gate()
        for program in ended:
            if program.status != 0:
                status = describe_status(program.status)
                # The cause first: a narrow view cuts what stands behind it.
                ended_how = f"`{describe(program.argv)}` ended with {status}"
                words = f"{said} ({ended_how})" if (said := program.tail()) else ended_how
                disk = os.statvfs(self._cwd_of(program))
                # A program whose output is on the full disk too cannot write its error.
                # Mountpoint for S3 may tell no size, and then no room.
                is_full = disk.f_blocks and disk.f_bavail * disk.f_frsize < MIN_FREE_BYTES
                if FULL.search(words) or is_full:
                    raise DiskFull(f"disk full: {_free_space(self._cwd_of(program))}; {words}")
                raise ToolFailed(words)
        return ended

    def _cwd_of(self, program: Ended) -> Path:
        return next(command.cwd for command in self._commands if command.argv == program.argv)

    def duration_s(self) -> float:
        """Return the seconds from the release until the last program ended."""
        return (self.ended_ns - self.released_ns) / 1e9

    def wall_time(self, at_ns: int) -> float:
        """Epoch seconds of a moment of the monotonic clock (ns)."""
        return self.epoch_s + at_ns / 1e9

    def monotonic_ns(self, at: float) -> int:
        """The moment of the monotonic clock (ns) that a program dated `at` epoch seconds shortly before its end."""
        return round((at - self._epoch_at_end_s) * 1e9)

    def kill(self) -> None:
        """End programs that still run; does nothing if all have ended."""
        for pid in self._pids:
            if pid in _alive:
                kill_group(pid)
        self._close_gate()

    def terminate(self) -> None:
        """End programs that still run; another thread in `wait` collects them."""
        for pid in self._pids:
            if pid in _alive:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(pid, signal.SIGKILL)

    def _spawn(self, command: Command, outputs: tuple[Path, Path], gate: int, ready: int) -> int:
        argv = list(command.argv) if command.runners else ["/bin/sh", "-c", WAIT_AT_THE_GATE, "gate", *command.argv]
        # posix_spawn knows no working directory, so a shell changes it.
        argv = ["/bin/sh", "-c", 'cd "$1" && shift && exec "$@"', "cd", str(command.cwd), *argv]
        create = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND
        # Move both pipes above 9 first: dup2 onto 3 must not overwrite a pipe that itself is number 3 or 4.
        with (
            _holding(command.stdin, outputs[0].parent) as stdin,
            _moved_up(gate) as gate_fd,
            _moved_up(ready) as ready_fd,
        ):
            actions = [
                (os.POSIX_SPAWN_DUP2, stdin, 0),
                (os.POSIX_SPAWN_OPEN, 1, str(outputs[0]), create, 0o600),
                (os.POSIX_SPAWN_OPEN, 2, str(outputs[1]), create, 0o600),
                (os.POSIX_SPAWN_DUP2, gate_fd, GATE_FD),
                (os.POSIX_SPAWN_DUP2, ready_fd, READY_FD),
            ]
            env = {**self._env, **command.env}
            pid = os.posix_spawn(argv[0], argv, env, file_actions=actions, setpgroup=0, setsigmask=[])
        _alive[pid] = command.killer
        return pid

    def _await_ready(self, ready: int) -> None:
        missing = self._tokens
        give_up_at = time.monotonic() + ARM_TIMEOUT_S
        while missing > 0:
            if not select.select([ready], [], [], max(0.0, give_up_at - time.monotonic()))[0]:
                late = f"{missing} of {self._tokens} workers did not start within {ARM_TIMEOUT_S:g} s"
                raise ToolFailed(f"{late}: {self._last_lines() or 'they said nothing'}")
            ready_bytes = os.read(ready, missing)
            if not ready_bytes:
                self._report_early_end()
            missing -= len(ready_bytes)

    def _last_lines(self) -> str:
        """Return the last output of the first program that has any: one may have ended while another is at the gate."""
        ends = (Ended((), 0, stdout, stderr, 0.0, 0.0).tail() for stdout, stderr in self._outputs)
        return next(filter(None, ends), "")

    def _report_early_end(self) -> None:
        """Raise ToolFailed for a program that ended, or is about to end, before its start."""
        give_up_at = time.monotonic() + ENDING_S
        while time.monotonic() < give_up_at:
            for n, pid in enumerate(self._pids):
                if pid in _alive and os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                    ended = self._reap(pid, n)
                    if ended.status != 0:
                        raise ToolFailed(f"{describe(ended.argv)} ended before its start: {ended.tail()}")
            if not _alive.keys() & set(self._pids):
                break
            time.sleep(ENDING_S / 100)
        raise ToolFailed(f"{describe(self._commands[0].argv)} ended before its start without a word")

    def _reap(self, pid: int, number: int) -> Ended:
        _, status, usage = os.wait4(pid, 0)
        code = os.waitstatus_to_exitcode(status)
        if code == 0:
            _alive[pid] = ()
        # End remaining processes in the tool's group, such as a background child.
        kill_group(pid, is_reaped=True)
        stdout, stderr = self._outputs[number]
        return Ended(self._commands[number].argv, code, stdout, stderr, usage.ru_utime, usage.ru_stime)

    def _close_gate(self) -> None:
        if self._gate >= 0:
            os.close(self._gate)
            self._gate = -1


def epoch_s() -> float:
    """Return the epoch seconds at 0 of the monotonic clock, as the wall clock is now."""
    return time.time() - time.monotonic()


def run(command: Command, scratch: Path, env: Mapping[str, str] | None = None) -> Ended:
    """Run one program to its end outside of any measurement."""
    scratch.mkdir(parents=True, exist_ok=True)
    armed = Armed([command], scratch, env)
    armed.release()
    return armed.wait()[0]


def kill_all() -> None:
    """End all programs that still run, and retry failed killers."""
    for pid in list(_alive):
        kill_group(pid)
    for killer in list(_failed_killers):
        _end_by(killer)


def kill_group(pid: int, is_reaped: bool = False) -> None:
    """End a program's whole process group, collect the program, and run its killer."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    if not is_reaped:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, 0)
    if killer := _alive.pop(pid, ()):
        _end_by(tuple(killer))


def _end_by(killer: tuple[str, ...]) -> None:
    """Run a killer; record why it failed, unless there is nothing left to end."""
    _failed_killers.pop(killer, None)
    try:
        # In its own session, so that a signal to this agent does not end the killer.
        ended = subprocess.run(  # noqa: S603
            killer, capture_output=True, text=True, errors="replace",
            timeout=KILLER_S, start_new_session=True, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        _failed_killers[killer] = f"no answer within {KILLER_S:g} s"
    except OSError as err:
        _failed_killers[killer] = str(err)
    else:
        if ended.returncode != 0 and not ENDED_ALREADY.search(ended.stderr):
            words = " ".join(ended.stderr.split())[-TAIL_BYTES:]
            _failed_killers[killer] = words or f"ended with {describe_status(ended.returncode)}"


def not_ended() -> str:
    """Return containers of this agent that could not be ended, with advice; '' if there are none."""
    return "; ".join(
        f"a container that this agent started may go on, and disturb what is measured beside it: `{describe(killer)}` "
        f"failed ({reason}); repeat it on that machine until it ends, unless the machine itself has ended"
        for killer, reason in _failed_killers.items()
    )


def describe(argv: Sequence[str]) -> str:
    """Return a command line short enough for a message; of a long one only both ends, of a shell's only the script."""
    line = " ".join(" ".join(argv).split())
    if "-c" in argv[1:-1] and "pipefail" in argv:
        line = " ".join(argv[argv.index("-c") + 1].split())
    return line if len(line) <= 160 else f"{line[:55]} ... {line[-100:]}"  # noqa: PLR2004


def _free_space(folder: Path) -> str:
    """Return how much is free in a folder: `2.9 of 24.0 MiB are free in /mnt/efs`."""
    disk = os.statvfs(folder)
    free, size = (blocks * disk.f_frsize / 2**20 for blocks in (disk.f_bavail, disk.f_blocks))
    inodes = ", and no inode" if disk.f_files and not disk.f_favail else ""
    return f"{free:,.1f} of {size:,.1f} MiB are free in {folder}{inodes}"


def describe_status(status: int) -> str:
    """Return an exit status in words, or the name of the signal that ended the program."""
    return f"status {status}" if status >= 0 else f"signal {signal.Signals(-status).name}"


def read_tail(path: Path) -> str:
    with path.open("rb") as stream:
        stream.seek(0, os.SEEK_END)
        stream.seek(max(0, stream.tell() - TAIL_BYTES))
        return stream.read().decode(errors="replace")


@contextlib.contextmanager
def _holding(content: bytes, folder: Path) -> Iterator[int]:
    """Yield a descriptor from which a program reads `content`, of any length: a file without a name."""
    with tempfile.TemporaryFile(dir=folder) as file:
        file.write(content)
        file.seek(0)
        with _moved_up(file.fileno()) as descriptor:
            yield descriptor


@contextlib.contextmanager
def _moved_up(descriptor: int) -> Iterator[int]:
    """Yield a duplicate of `descriptor` above 9 for the time of a spawn."""
    moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 10)
    try:
        yield moved
    finally:
        os.close(moved)
