"""Check whether a process still runs. It imports nothing heavy, because the command checks before anything else."""

from pathlib import Path

# Fields of /proc/<pid>/stat after the command in brackets, as proc(5) numbers them: 3 is the state, 22 the start.
STATE, START = 3, 22
ENDED = ("Z", "X")


def started_ticks(pid: int) -> int | None:
    """Return when a process started, in clock ticks since boot; None if it has ended or is a zombie.

    Pids are reused, also after a reboot; pid and start time together identify a process.
    """
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in ENDED else int(fields[START - STATE])


def is_alive(pid: int, started: int) -> bool:
    """Return whether the process with this pid and start time still runs, whoever owns it."""
    return started_ticks(pid) == started
