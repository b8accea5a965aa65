"""What the machine did while a sample was taken: differences of the kernel's and the network card's counters."""

from __future__ import annotations

import os
import resource
import subprocess
from pathlib import Path

from agent import tools

# /proc/stat: user nice system idle iowait irq softirq steal
BUSY_COLUMNS = (0, 1, 2, 5, 6)
IOWAIT_COLUMN, STEAL_COLUMN = 4, 7


def cheap() -> dict[str, float]:
    """Counters that cost a few file reads: taken immediately before and after a sample."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        **parse_stat(Path("/proc/stat").read_text(), os.sysconf("SC_CLK_TCK")),
        **parse_net_dev(Path("/proc/net/dev").read_text()),
        "tool_cpu_s": children.ru_utime + children.ru_stime,
    }


def allowances() -> dict[str, float]:
    """The card's *_allowance_exceeded counters: packets that EC2 queued or dropped. Empty without ENA or ethtool."""
    ethtool, interface = tools.find("ethtool"), default_interface()
    if ethtool is None or interface is None:
        return {}
    try:
        said = subprocess.run(  # noqa: S603
            [ethtool, "-S", interface], capture_output=True, text=True, timeout=5, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return {}
    return parse_ethtool(said.stdout)


def difference(before: dict[str, float], after: dict[str, float]) -> dict[str, float]:
    """What was counted in between."""
    return {name: round(after[name] - before[name], 6) for name in before if name in after}


def parse_stat(text: str, ticks_per_s: int) -> dict[str, float]:
    """Seconds of all processors together from the first line of /proc/stat."""
    columns = [int(column) for column in text.split("\n", 1)[0].split()[1:]]
    return {
        "cpu_s": sum(columns[n] for n in BUSY_COLUMNS) / ticks_per_s,
        "iowait_s": columns[IOWAIT_COLUMN] / ticks_per_s,
        "steal_s": columns[STEAL_COLUMN] / ticks_per_s,
    }


def parse_net_dev(text: str) -> dict[str, float]:
    """Bytes received and sent by all interfaces but the loopback."""
    received = sent = 0
    for line in text.splitlines()[2:]:
        name, _, columns = line.partition(":")
        if name.strip() != "lo":
            figures = columns.split()
            received += int(figures[0])
            sent += int(figures[8])
    return {"network_received_bytes": received, "network_sent_bytes": sent}


def parse_ethtool(text: str) -> dict[str, float]:
    """The allowance counters in the output of `ethtool -S`."""
    pairs = (line.partition(":") for line in text.splitlines())
    return {name.strip(): float(value) for name, _, value in pairs if name.strip().endswith("allowance_exceeded")}


def default_interface(route: Path = Path("/proc/net/route")) -> str | None:
    """The interface that the default route leaves by."""
    try:
        lines = route.read_text().splitlines()[1:]
    except OSError:
        return None
    rows = (line.split() for line in lines)
    return next((row[0] for row in rows if len(row) > 1 and row[1] == "00000000"), None)
