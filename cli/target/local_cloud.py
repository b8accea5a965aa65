"""Start the local cloud as a child process; end it and everything in it when it is no longer needed."""

import json
import os
import select
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from typing import Any

from cli.messages import terminal
from cli.messages.errors import CloudDidNotStart, CloudIsRunning, CommandError, ExitCode
from cli.target import cloud_process, deployment
from cli.target.deployment import Deployment, from_cloud_document
from cli.target.workdir import cloud_log, workdir
from local.programs import claims, memory
from local.settings import ALREADY_RUNNING

# The local cloud is ready after about 3 s on two cores, and after ten times as long on a busy machine.
READY_WITHIN_S = 300.0
# The local cloud ends instances, sandboxes and folders before itself.
ENDS_WITHIN_S = 30.0
LOG_LINES = 15
# A run of one instance held at most 1,015 MiB: cloud, a sandbox for each function, an agent.
NEEDED_MIB = 1_100


@contextmanager
def prepared(*, is_wanted: bool) -> Iterator[subprocess.Popen[bytes] | None]:
    """Let a local cloud import its modules while the block decides whether to use it; None if one is running.

    It ends with the block.
    """
    if not is_wanted or deployment.is_local_cloud_running():
        yield None
        return
    child = cloud_process.started_early() or start()
    try:
        yield child
    finally:
        stop(child)


@contextmanager
def running_or_started(child: subprocess.Popen[bytes] | None = None) -> Iterator[Deployment]:
    """Yield the running local cloud, or start one for the duration of the block, the prepared one if there is one.

    The running one stays up until the block has ended, even if the command that started it ends before.
    """
    while True:
        with _used():
            if deployment.is_local_cloud_running():
                yield deployment.running_local_cloud()
                return
        child = child or start()
        terminal.stderr().print("Starting the local cloud …")
        try:
            with started(child) as cloud:
                yield cloud
                return
        except CloudIsRunning:
            child = None  # another command was faster


@contextmanager
def started(child: subprocess.Popen[bytes] | None = None) -> Iterator[Deployment]:
    """Run a local cloud for the duration of the block, the prepared one if there is one.

    Raises CloudIsRunning if another command starts one meanwhile.
    """
    child = child or start()
    try:
        begin(child)
        # It takes a quarter of a second, during which this process has nothing else to do.
        deployment.prepare_clients()
        cloud = wait_until_ready(child)
        say_what_was_left(cloud)
        yield replace(from_cloud_document(cloud), ends_with_command=True)
    finally:
        _say_if_killed(child)
        leave(child)


@contextmanager
def _used() -> Iterator[None]:
    with ExitStack() as stack:
        try:
            stack.enter_context(claims.used(workdir()))
        except OSError as error:
            raise CommandError(
                f"{workdir()} cannot be used: {error.strerror}",
                "set MATRIX_WORKDIR to a folder that you may make and write to",
                ExitCode.BAD_INPUT,
            ) from error
        yield


def _say_if_killed(child: subprocess.Popen[bytes]) -> None:
    """Report that the local cloud was killed, with a possible reason: it could not report anything itself."""
    if child.poll() == -signal.SIGKILL:
        terminal.print_wrapped(
            terminal.stderr(),
            f"The local cloud was killed. Linux does so where memory runs out: it takes some {NEEDED_MIB:,} MiB, "
            f"and may have {memory.available_mib():,} MiB here (`dmesg` tells). Give it more, or use fewer instances.",
        )


def _warn_of_little_memory() -> None:
    available_mib = memory.available_mib()
    if available_mib < NEEDED_MIB:
        terminal.print_wrapped(
            terminal.stderr(),
            f"Warning: {available_mib:,} MiB of memory are free for the local cloud, and a run of one instance takes "
            f"some {NEEDED_MIB:,}: Linux may kill it. What was measured until then is kept.",
        )


def start() -> subprocess.Popen[bytes]:
    """Start the local cloud, which changes nothing until `begin`, and ends with this process."""
    if not cloud_process.is_installed():
        raise CommandError(
            "the local cloud is not installed",
            "install it: pip install 'storage-matrix[local]', or make install in a clone",
            ExitCode.BAD_INPUT,
        )
    return cloud_process.start()


def begin(child: subprocess.Popen[bytes]) -> None:
    """Let a started local cloud begin."""
    _warn_of_little_memory()
    assert child.stdin is not None  # noqa: S101 - it was started with a pipe
    with suppress(BrokenPipeError):  # it has ended, and the code that waits for it reports that
        child.stdin.write(b"\n")
        child.stdin.flush()


def wait_until_ready(child: subprocess.Popen[bytes]) -> dict[str, Any]:
    """Return the one-line document that the local cloud prints when it is ready."""
    deadline = time.monotonic() + READY_WITHIN_S
    printed = b""
    assert child.stdout is not None  # noqa: S101 - it was started with a pipe
    while time.monotonic() < deadline:
        readable, _, _ = select.select([child.stdout], [], [], 0.2)
        if not readable:
            continue
        part = os.read(child.stdout.fileno(), 65536)
        if not part:
            if child.wait() == ALREADY_RUNNING:
                raise CloudIsRunning("a local cloud is running already", "use it with --local")
            raise CloudDidNotStart(f"the local cloud ended with exit code {child.wait()}: {_log_end(child)}", _advice())
        printed += part
        for line in printed.split(b"\n")[:-1]:
            with suppress(json.JSONDecodeError):
                cloud = json.loads(line)
                if isinstance(cloud, dict) and "endpoint" in cloud:
                    return cloud
    raise CloudDidNotStart(f"the local cloud was not ready within {READY_WITHIN_S:.0f} s: {_log_end(child)}", _advice())


def say_what_was_left(cloud: dict[str, Any]) -> None:
    """Print the leftovers of a killed local cloud that this one found."""
    for sentence in cloud["left_by_others"]:
        terminal.print_wrapped(terminal.stderr(), f"Found: {sentence}")


def leave(child: subprocess.Popen[bytes]) -> None:
    """End the local cloud, unless another command uses it: then it ends with its last user."""
    _close_input(child)
    deadline = time.monotonic() + ENDS_WITHIN_S
    while child.poll() is None and time.monotonic() < deadline:
        if claims.is_used(workdir()):
            terminal.stderr().print("Another command uses this local cloud, which ends with it.")
            return
        with suppress(subprocess.TimeoutExpired):
            child.wait(0.1)
    stop(child)


def _close_input(child: subprocess.Popen[bytes]) -> None:
    if child.stdin:
        with suppress(BrokenPipeError):
            child.stdin.close()


def stop(child: subprocess.Popen[bytes], *, at_once: bool = False) -> None:
    """End the local cloud: by closing its input, then by SIGTERM, then by SIGKILL.

    After the end of its input it waits for other commands that use it. With `at_once` SIGTERM is first: it does not
    wait.
    """
    _close_input(child)
    for ask in (signal.SIGTERM, signal.SIGKILL) if at_once else (None, signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            if ask is signal.SIGKILL:
                os.killpg(child.pid, ask)
            elif ask is not None:
                child.send_signal(ask)
        with suppress(subprocess.TimeoutExpired):
            child.wait(ENDS_WITHIN_S)
            break
    for pipe in (child.stdout, child.stderr):
        if pipe:
            pipe.close()


def _log_end(child: subprocess.Popen[bytes]) -> str:
    assert child.stderr is not None  # noqa: S101 - it was started with a pipe
    os.set_blocking(child.stderr.fileno(), False)
    written = (child.stderr.read() or b"").decode(errors="replace")
    if not written and cloud_log().exists():
        written = cloud_log().read_text(errors="replace")
    lines = written.strip().splitlines()[-LOG_LINES:]
    return "\n".join(["it said:", *lines]) if lines else "it said nothing"


def _advice() -> str:
    see = f"see {cloud_log()}; " if cloud_log().exists() else ""
    return f"{see}in the foreground: `matrix local up`; in another folder: MATRIX_WORKDIR=FOLDER"
