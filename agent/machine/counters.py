"""Activity of the machine during a sample: differences of the kernel's and the network card's counters.

For the storage: the activity of the disk below a path (/proc/diskstats), or the requests of its mount: NFS by
/proc/self/mountstats, Lustre by the statistics of its client. A folder in memory or in a container's layers has no
counters, so nothing is reported.
"""

from __future__ import annotations

import os
import resource
import stat
import subprocess
import time
from pathlib import Path

from agent.programs import tools

# /proc/stat: user nice system idle iowait irq softirq steal
BUSY_COLUMNS = (0, 1, 2, 5, 6)
IOWAIT_COLUMN, STEAL_COLUMN = 4, 7
NET_DEV_COLUMNS = {
    "network_received_bytes": 0, "network_received_packets": 1,
    "network_sent_bytes": 8, "network_sent_packets": 9,
}  # fmt: skip
# /proc/diskstats counts sectors of 512 bytes, whatever the disk's sector size (Documentation/admin-guide/iostats.rst).
SECTOR_BYTES = 512
# A few bytes may be counted just before the first reading or just after the last one.
MIN_SEEN = 0.95
MS = 1000
# Requests of a mount to its servers, by the counters of its client.
SERVER_OPERATIONS = (
    *("nfs_read_operations", "nfs_write_operations", "nfs_other_operations"),
    *("lustre_read_operations", "lustre_write_operations", "lustre_creates", "lustre_unlinks"),
)
# Requests among the others that change a file or a folder, or that may make a file: EFS bills these as writes.
KINDS_OF_OTHERS = {
    "change": ("SETATTR", "CREATE", "REMOVE", "RENAME", "LINK", "SYMLINK", "SETACL", "COMMIT"),
    "open": ("OPEN", "OPEN_NOATTR"),
}
SERVER_BYTES = ("nfs_read_bytes", "nfs_write_bytes", "lustre_read_bytes", "lustre_write_bytes")
# Where a Lustre client keeps its statistics, by version (Lustre manual, lctl get_param; up to 2.10, from 2.12 on).
LUSTRE_ROOTS = (Path("/proc/fs/lustre"), Path("/sys/kernel/debug/lustre"))
# File operations of programs, grouped by their cost at a metadata server.
OF_METADATA = {
    "open": "lustre_creates", "mknod": "lustre_creates", "unlink": "lustre_unlinks", "rmdir": "lustre_rmdirs",
    "mkdir": "lustre_directories", "rename": "lustre_directories",
}  # fmt: skip


def cheap(storage: Path) -> dict[str, float]:
    """Counters that cost a few file reads: taken immediately before and after a sample on `storage`."""
    return {**of_machine(), **of_storage(storage)}


def of_machine() -> dict[str, float]:
    """Counters of processors, network and ended programs; no storage is touched."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "counted_s": time.monotonic(),
        **parse_stat(Path("/proc/stat").read_text(), os.sysconf("SC_CLK_TCK")),
        **of_network(),
        "tool_cpu_s": children.ru_utime + children.ru_stime,
    }


def of_network() -> dict[str, float]:
    """Bytes and packets that the machine has received and sent."""
    return parse_net_dev(Path("/proc/net/dev").read_text())


def of_storage(storage: Path) -> dict[str, float]:
    """Return the counters of the disk or the mount at a path; empty if the kernel has none for it."""
    try:
        return of_device(device_of(storage), storage)
    except OSError:
        return {}


def device_of(storage: Path) -> int:
    """Return the number of the device at a path, or of the file system that contains it."""
    about = storage.stat()
    return about.st_rdev if stat.S_ISBLK(about.st_mode) else about.st_dev


def of_device(device: int, storage: Path) -> dict[str, float]:
    """Return the same for a known device number, without accessing the mount at the path."""
    try:
        disk = parse_diskstats(Path("/proc/diskstats").read_text(), os.major(device), os.minor(device))
        if disk:
            return disk
        mounted = Path("/proc/self/mountstats").read_text()
        lustre = lustre_at(mounted, storage)
        return of_lustre(lustre) if lustre else parse_mountstats(mounted, str(storage))
    except OSError:
        return {}


class RequestsInAll:
    """All that a mount has exchanged with its servers. The kernel begins anew when it is mounted anew."""

    def __init__(self) -> None:
        self._in_all: dict[str, float] = {}
        self._last: dict[str, float] = {}

    def read(self, storage: Path) -> dict[str, float]:
        """Add what came since the last reading. Call it before and after it is mounted anew, and at the end."""
        counted = of_storage(storage)
        now = {name: amount for name, amount in counted.items() if name.startswith(("nfs_", "lustre_"))}
        for name, amount in now.items():
            before = self._last.get(name, 0.0)
            self._in_all[name] = self._in_all.get(name, 0.0) + amount - (before if amount >= before else 0.0)
        self._last = now
        return self._in_all


def allowances() -> dict[str, float]:
    """The card's *_allowance_exceeded counters: packets that EC2 queued or dropped. Empty without ENA or ethtool."""
    ethtool, interface = tools.find("ethtool"), default_interface()
    if ethtool is None or interface is None:
        return {}
    try:
        ethtool_run = subprocess.run(  # noqa: S603
            [ethtool, "-S", interface], capture_output=True, text=True, timeout=5, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return {}
    return parse_ethtool(ethtool_run.stdout)


def difference(before: dict[str, float], after: dict[str, float]) -> dict[str, float]:
    """Return the difference of two readings, at least 0: the kernel lets iowait and steal decrease (proc(5))."""
    return {name: max(0.0, round(after[name] - before[name], 6)) for name in before if name in after}


def unseen(reached: dict[str, float], counted: dict[str, float]) -> list[str]:
    """Return a warning if the storage's counters have fewer bytes than a tool claims to have moved.

    Others may use the same disk, so more bytes prove nothing. Without counters there is no warning.
    """
    sentences = []
    # Only the network counts objects that a command reads; it includes headers and other traffic, too.
    received, objects = counted.get("network_received_bytes"), reached.get("received", 0.0)
    if received is not None and received < MIN_SEEN * objects:
        sentences.append(
            f"this instance received {received / objects:.0%} of the {objects:.0f} bytes of its objects: the command "
            "has not read all of them, so mb_per_s is not its speed"
        )
    for kind, claimed in reached.items():
        for where in ("disk", "nfs", "lustre"):
            seen = counted.get(f"{where}_{kind}_bytes")
            if seen is not None and seen < MIN_SEEN * claimed:
                # Before Linux 6.5 the kernel cannot report dirty pages, so this detects an fsync without effect.
                liars = (
                    "a cache, a compressor or an fsync that is not honest"
                    if kind == "write"
                    else "a cache or a compressor"
                )
                sentences.append(
                    f"{kind}: {seen / claimed:.0%} of {claimed:.0f} bytes went through the {where}: {liars} "
                    "answered for the rest, so this is not the storage's speed"
                )
    return sentences


def parse_stat(text: str, ticks_per_s: int) -> dict[str, float]:
    """Seconds of all processors together from the first line of /proc/stat."""
    columns = [int(column) for column in text.split("\n", 1)[0].split()[1:]]
    return {
        "cpu_s": sum(columns[n] for n in BUSY_COLUMNS) / ticks_per_s,
        "iowait_s": columns[IOWAIT_COLUMN] / ticks_per_s,
        "steal_s": columns[STEAL_COLUMN] / ticks_per_s,
    }


def parse_net_dev(text: str) -> dict[str, float]:
    """Bytes and packets received and sent by all interfaces but the loopback."""
    counted = dict.fromkeys(NET_DEV_COLUMNS, 0.0)
    for line in text.splitlines()[2:]:
        name, _, columns = line.partition(":")
        if name.strip() != "lo":
            figures = columns.split()
            for counter, column in NET_DEV_COLUMNS.items():
                counted[counter] += int(figures[column])
    return counted


def parse_diskstats(text: str, major: int, minor: int) -> dict[str, float]:
    """Operations, bytes and busy seconds of one block device: after merging, as the volume gets them."""
    for line in text.splitlines():
        columns = line.split()
        if columns[:2] == [str(major), str(minor)]:
            reads, _, read_sectors, _, writes, _, written_sectors, _, _, busy_ms = map(int, columns[3:13])
            return {
                "disk_read_operations": reads,
                "disk_write_operations": writes,
                "disk_read_bytes": read_sectors * SECTOR_BYTES,
                "disk_write_bytes": written_sectors * SECTOR_BYTES,
                "disk_busy_s": busy_ms / MS,
            }
    return {}


def parse_mountstats(text: str, path: str) -> dict[str, float]:
    """Requests, bytes and waiting times of the NFS mount at or above a path; empty where none is mounted there."""
    wanted, counted = False, {}
    for line in text.splitlines():
        words = line.split()
        if words[:1] == ["device"]:
            point, _, fstype = line.partition(" mounted on ")[2].partition(" with fstype ")
            wanted = fstype.startswith("nfs") and Path(path).is_relative_to(point)
            if wanted:
                names = ("read", "write", "other", *KINDS_OF_OTHERS)
                counted = {f"nfs_{name}_operations": 0.0 for name in names}
                counted.update(nfs_read_bytes=0.0, nfs_write_bytes=0.0, nfs_queue_s=0.0, nfs_round_trip_s=0.0)
                counted["nfs_timeouts"] = 0.0
        elif wanted and words[:1] == ["bytes:"]:
            # normal reads, normal writes, direct reads, direct writes, then the requests to the server
            counted["nfs_read_bytes"], counted["nfs_write_bytes"] = float(words[5]), float(words[6])
        elif wanted and len(words) > 8 and words[0].endswith(":") and words[0][:-1].isupper():  # noqa: PLR2004
            _add_requests(counted, words[0][:-1], [int(word) for word in words[1:9]])
    return counted


def lustre_at(text: str, path: Path) -> str:
    """Return the name of the Lustre file system of a path, from /proc/self/mountstats; "" if there is none."""
    for line in reversed(text.splitlines()):
        source, _, point = line.removeprefix("device ").partition(" mounted on ")
        point, _, fstype = point.partition(" with fstype ")
        if fstype.split(" ")[0] == "lustre" and path.is_relative_to(point):
            return source.rpartition(":/")[2].partition("/")[0]
    return ""


def of_lustre(name: str, roots: tuple[Path, ...] = LUSTRE_ROOTS) -> dict[str, float]:
    """Return the requests of a Lustre client to its servers, and the metadata operations of programs.

    Bytes and requests are those of its object storage clients (osc): after the page cache, which llite counts before.
    For metadata llite counts the operations of programs, and not the resulting requests. Raises OSError.
    """

    def statistics(part: str) -> list[str]:
        return [file.read_text() for root in roots for file in sorted(root.glob(f"{part}/{name}-*/stats"))]

    return parse_lustre(statistics("osc"), statistics("llite"))


def parse_lustre(osc: list[str], llite: list[str]) -> dict[str, float]:
    """Return the same from the texts of the statistics; empty if there are none.

    A line is `read_bytes 12 samples [bytes] 4096 1048576 9437184`: count, minimum, maximum and sum. A counter that is
    still zero has no line.
    """
    if not (osc and llite):
        return {}
    ways = [f"lustre_{way}_{counts}" for way in ("read", "write") for counts in ("bytes", "operations")]
    counted = dict.fromkeys([*ways, *OF_METADATA.values()], 0.0)
    for words in (line.split() for text in osc for line in text.splitlines()):
        if words[:1] in (["read_bytes"], ["write_bytes"]) and len(words) > 6:  # noqa: PLR2004
            counted[f"lustre_{words[0]}"] += float(words[6])
            counted[f"lustre_{words[0].replace('bytes', 'operations')}"] += float(words[1])
    for words in (line.split() for text in llite for line in text.splitlines()):
        if words and words[0] in OF_METADATA:
            counted[OF_METADATA[words[0]]] += float(words[1])
    return counted


def _add_requests(counted: dict[str, float], name: str, figures: list[int]) -> None:
    """One line of the mount's statistics: operations, transmissions, timeouts, bytes out, in, ms queued, answered."""
    kind = name.lower() if name in ("READ", "WRITE") else "other"
    counted[f"nfs_{kind}_operations"] += figures[0]
    for part, names in KINDS_OF_OTHERS.items():
        if name in names:
            counted[f"nfs_{part}_operations"] += figures[0]
    counted["nfs_timeouts"] += figures[2]
    counted["nfs_queue_s"] += figures[5] / MS
    counted["nfs_round_trip_s"] += figures[6] / MS


def parse_ethtool(text: str) -> dict[str, float]:
    """The allowance counters in the output of `ethtool -S`."""
    pairs = (line.partition(":") for line in text.splitlines())
    return {name.strip(): float(value) for name, _, value in pairs if name.strip().endswith("allowance_exceeded")}


def default_interface() -> str | None:
    """The interface that the default route leaves by."""
    try:
        lines = Path("/proc/net/route").read_text().splitlines()[1:]
    except OSError:
        return None
    rows = (line.split() for line in lines)
    return next((row[0] for row in rows if len(row) > 1 and row[1] == "00000000"), None)
