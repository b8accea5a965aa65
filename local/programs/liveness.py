"""Whether a process is still there; imports nothing, for the command asks before anything else is loaded."""

import os


def is_alive(pid: int) -> bool:
    """Return whether there is a process of this id, whoever owns it."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
