"""The machine that a number was measured on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from agent.programs import tools

KIB_PER_MIB = 1024
# A fleet starts at one moment, which each of its instances takes from its own clock.
FAR_OFF_S = 0.05
# Least offset by S3's responses that is reported. AWS does not document how exact their Date is: a server may write a
# second that has just ended, so a smaller offset proves nothing.
FAR_OFF_S3_S = 0.5


def describe() -> dict[str, Any]:
    """Kernel, distribution, processors, memory, Python and clock, as samples.json shows them."""
    return {
        "boot_id": boot_id(),
        "kernel": os.uname().release,
        "os": distribution(),
        "architecture": os.uname().machine,
        "cpus": len(os.sched_getaffinity(0)),
        "memory_mib": memory_kib("MemTotal") // KIB_PER_MIB,
        "python": ".".join(map(str, sys.version_info[:3])),
        "clock": clock(),
    }


def boot_id() -> str | None:
    """Return an id that distinguishes machines (random(4)): the same id means the same kernel and counters."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return None


def distribution(path: Path = Path("/etc/os-release")) -> str:
    """The distribution's own name for itself."""
    try:
        lines = path.read_text().splitlines()
    except OSError:
        return "unknown"
    fields = dict(line.split("=", 1) for line in lines if "=" in line)
    return fields.get("PRETTY_NAME", "unknown").strip('"')


def memory_kib(field: str) -> int:
    """One figure of /proc/meminfo, in KiB."""
    for line in Path("/proc/meminfo").read_text().splitlines():
        name, _, value = line.partition(":")
        if name == field:
            return int(value.split()[0])
    return 0


def clock() -> dict[str, Any] | None:
    """Return chrony's estimate of the clock's offset; None if chrony does not run."""
    chronyc = tools.find("chronyc")
    if chronyc is None:
        return None
    try:
        tracking = subprocess.run(  # noqa: S603
            [chronyc, "-c", "tracking"], capture_output=True, text=True, timeout=5, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return parse_tracking(tracking.stdout) if tracking.returncode == 0 else None


def clock_warnings(
    tracking: dict[str, Any] | None, ahead_s: tuple[float, float] | None, *, is_shared: bool
) -> list[str]:
    """The warnings of a sample whose instance may have started with its fleet by its own clock only.

    `ahead_s` are the bounds between which this clock is ahead of S3's. Instances that are processes of one machine
    share its clock (`is_shared`), and need no chrony.
    """
    return [*_chrony_warnings(tracking, is_shared=is_shared), *_s3_warnings(ahead_s, "it did not start with its fleet")]


def lone_clock_warnings(ahead_s: tuple[float, float] | None) -> list[str]:
    """The warnings of a sample whose instance starts with no other: `ahead_s` as of `clock_warnings`."""
    return _s3_warnings(ahead_s, "CloudWatch's minutes are others than the sample's")


def _s3_warnings(ahead_s: tuple[float, float] | None, so: str) -> list[str]:
    if ahead_s is None or (ahead_s[0] <= FAR_OFF_S3_S and ahead_s[1] >= -FAR_OFF_S3_S):
        return []
    least_s, side = (ahead_s[0], "ahead of") if ahead_s[0] > 0 else (-ahead_s[1], "behind")
    return [
        f"this instance's clock is at least {least_s:.1f} s {side} that of S3, whatever chrony says, so {so}; check its"
        " source of time (chronyc sources)"
    ]


def _chrony_warnings(tracking: dict[str, Any] | None, *, is_shared: bool) -> list[str]:
    if tracking is None:
        if is_shared:
            return []
        return ["chrony does not answer, so it is unknown how far from its fleet this instance started"]
    if not tracking["is_synchronised"]:
        return ["chrony has no time source, so it is unknown how far from its fleet this instance started"]
    if abs(tracking["offset_s"]) <= FAR_OFF_S:
        return []
    return [
        f"chrony says that this instance's clock is {tracking['offset_s']:+.3f} s off, so it did not start with its"
        " fleet"
    ]


def parse_tracking(line: str) -> dict[str, Any] | None:
    """Parse `chronyc -c tracking`: reference id, name, stratum, time, system offset, last offset, RMS offset …

    Without a source all offsets are 0, as for a perfect clock; only the last field, the leap status, shows it.
    """
    fields = line.strip().split(",")
    try:
        return {
            "source": fields[1],
            "offset_s": float(fields[4]),
            "rms_offset_s": float(fields[6]),
            "is_synchronised": fields[-1] != "Not synchronised",
        }
    except (IndexError, ValueError):
        return None
