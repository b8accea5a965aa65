"""The kernel's caches between samples: dropped if the agent may do so, else the sample reports that they were not."""

from __future__ import annotations

import os
from pathlib import Path

DROP = Path("/proc/sys/vm/drop_caches")
# For a user's machine that may be disturbed, for example a VM that plays an instance.
ALLOW = "STORAGE_MATRIX_DROP_CACHES"
PAGES_AND_INODES = "3\n"
DROPPED = "dropped"


def drop(may_administer: bool) -> str:
    """Write dirty pages out, drop clean pages, directory entries and inodes; return the sample's text about it."""
    if not may_administer and os.environ.get(ALLOW) != "1":
        return f"not dropped: a folder on a shared machine (set {ALLOW}=1 to allow it)"
    if os.geteuid() != 0:
        return "not dropped: needs root"
    os.sync()
    try:
        DROP.write_text(PAGES_AND_INODES)
    except OSError as err:
        return f"not dropped: {err.strerror}"
    return DROPPED
