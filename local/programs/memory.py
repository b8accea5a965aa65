"""Memory that is still available here."""

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

GROUPS = Path("/sys/fs/cgroup")


def available_mib() -> int:
    """Return the memory in MiB that Linux can provide without swapping, or less under a limit of a control group."""
    meminfo = Path("/proc/meminfo").read_text(encoding="utf-8")
    available = int(re.findall(r"MemAvailable:\s+(\d+) kB", meminfo)[0]) * 1024
    return min([available, *_limits(Path("/proc/self/cgroup").read_text(encoding="utf-8"))]) >> 20


def _limits(membership: str) -> Iterator[int]:
    """Yield the limits in bytes of this process's control groups and their parents, of version 1 and 2."""
    for line in membership.splitlines():
        _, controllers, group = line.split(":", 2)
        if controllers not in ("", "memory"):
            continue
        version_1_or_2 = ("memory", "memory.limit_in_bytes") if controllers else ("", "memory.max")
        # In a container the path may be the host's; then the container's own group is at the top.
        for part in (PurePosixPath(group), *PurePosixPath(group).parents):
            folder, name = version_1_or_2
            limit = GROUPS / folder / part.relative_to("/") / name
            if limit.is_file() and (text := limit.read_text(encoding="utf-8").strip()).isdigit():
                yield int(text)
