"""Whether a process is still there; imports nothing heavy, for the command asks before anything else is loaded."""

from pathlib import Path

# Fields of /proc/<pid>/stat after the command in brackets, as proc(5) numbers them: 3 is the state, 22 the start.
STATE, START = 3, 22
ENDED = ("Z", "X")


def started_ticks(pid: int) -> int | None:
    """Return when a process started, in clock ticks since boot; None where it has ended, or waits to be collected.

    Numbers of processes are used again, also by the next boot: number and start together are one process's own.
    """
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in ENDED else int(fields[START - STATE])


def is_alive(pid: int, started: int) -> bool:
    """Return whether the process of this number that started then is still there, whoever owns it."""
    return started_ticks(pid) == started
