"""The published figures that the matrices in events/ reproduce, and what a point of ours must be to repeat each.

The files in sources/ hold the figures as their sources print them; known errors are noted beside the figure.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from matrix.statistics.percentiles import LEVELS

FOLDER = Path(__file__).parent / "sources"
YOCTO = "yocto-builds"
EBS_FIO = "ebs-fio"
ZERO_BYTE = "efs-zero-byte"
TUTORIAL = "efs-tutorial"
READS = "read-throughput"

Document = dict[str, Any]

# A single volume, not several joined by RAID-0.
VOLUME: Document = {"type": "ebs", "raid0": None}
# The sources' names of volumes, and the same volumes as the input of a matrix.
VOLUMES: dict[str, Document] = {
    "gp3_throughput_1000": VOLUME | {"volumeType": "gp3", "iops": 4000, "throughputMiBps": 1000},
    "io2_iops_16000": VOLUME | {"volumeType": "io2", "iops": 16000},
    "gp3_iops_16000": VOLUME | {"volumeType": "gp3", "iops": 16000, "throughputMiBps": 1000},
    "gp3_throughput_2000_with_raid_0": {"type": "ebs", "volumeType": "gp3", "throughputMiBps": 1000, "raid0": 2},
}
RELEASE = "kirkstone"  # of the published builds, as their source says
# The sources' words for where the instances are, and the same placements as the input of a matrix.
PLACEMENTS: dict[str, str | list[float]] = {
    "any AZ": "spread",
    "file system's AZ": "same-az",
    "two AZs, 100 instances in each, one of them the file system's": [0.5, 0.5],
}
TUTORIAL_STORAGES: dict[str, Document] = {"ebs-gp2": VOLUME | {"volumeType": "gp2"}, "efs": {"type": "efs"}}
ZERO_BYTE_STORAGES: dict[str, Document] = {"ebs": VOLUME, "efs": {"type": "efs"}}
# "A file system with a permitted throughput greater than 200 MB/s" (tutorial 1.1.4, below its tables).
TUTORIAL_PERMITTED_MB_PER_S = 200
# The sources print one value for each point, which is held against our median.
MEDIAN = "p50"
# The source calls a gp2 volume of 100 GiB by its 300 IOPS (3 IOPS/GiB).
READ_STORAGES: dict[str, Document] = {
    "ebs 300 IOPS": VOLUME | {"volumeType": "gp2", "sizeGiB": 100},
    "ebs 3000 IOPS": VOLUME | {"volumeType": "gp3", "iops": 3000},
    "s3 (S3A)": {"type": "s3"},
    "s3 (SDK v2)": {"type": "s3"},
    "file server": {"type": "file-server"},
}
OTHER_SERVER = "published of another program: the source's authors wrote a file server of their own"
READ_CLIENTS: dict[str, Document] = {"s3 (S3A)": {"client": "S3A"}, "s3 (SDK v2)": {"client": "SDK v2"}}
# 35 MB/s of 8 KiB are 4,270 reads per second, but gp2 bursts to 3,000; 190 MB/s are 181 MiB/s, but gp2 of up to
# 170 GiB is limited to 128 (EBS user guide, gp2).
BEYOND_THE_VOLUME = "more than such a volume can, so the page cache of the instance answered part of it"


@dataclass(frozen=True)
class Figure:
    """A published figure, and what a point of ours must be to stand beside it."""

    source: str
    workload: str
    storage: Document
    params: Document
    metric: str
    percentile: str
    value: float
    instances: int = 1
    instance_type: str | None = None
    # Further values that should be equal; where one is not, both figures are shown with the objection.
    caveats: Document = field(default_factory=dict)
    wrong: str | None = None
    # An objection that no matrix can remove, such as another program of the same purpose.
    unlike: str | None = None
    # Whether the instance itself was measured: then a figure of another instance type is no counterpart at all.
    is_of_instance: bool = False
    row: str = ""  # where the source's file has it, such as `dd[3]`


def load(name: str) -> Document:
    """Return a file of published figures."""
    document: Document = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return document


def figures() -> Iterator[Figure]:
    """Yield every published figure that a workload of ours reproduces."""
    yield from _yocto_figures()
    yield from _fio_figures()
    yield from _tutorial_figures()
    yield from _zero_byte_figures()
    yield from _read_figures()


def _yocto_figures() -> Iterator[Figure]:
    document = load(YOCTO)
    for i, cell in enumerate(document["cells"]):
        storage = {name: value for name, value in cell["storage"].items() if name != "placement"}
        storage |= VOLUME if storage["type"] == "ebs" else {}
        placement = cell["storage"].get("placement")
        params = {"image": document["workload"]["image"]}
        caveats = {"release": RELEASE} | ({"placement": placement} if placement else {})
        for level in LEVELS if cell["percentiles_s"] else ():
            yield Figure(
                source=YOCTO, workload="yocto", storage=storage, params=params, metric="duration_s",
                percentile=f"p{level}", value=cell["percentiles_s"][f"p{level}"], instances=cell["instances"],
                instance_type=document["instanceType"], caveats=caveats,
                wrong=cell.get("note"), row=f"cells[{i}]",
            )  # fmt: skip


def _fio_figures() -> Iterator[Figure]:
    document = load(EBS_FIO)
    shared = {name: document["fio"][name] for name in ("rw", "iodepth", "numjobs", "direct")}
    for i, (volume, block_kib, threads, iops, _) in enumerate(document["rows"]):
        options = {**shared, "bs": f"{block_kib}k", "numjobs": threads}
        yield Figure(EBS_FIO, "fio", VOLUMES[volume], {"options": options}, "iops", MEDIAN, iops, row=f"rows[{i}]")


def _tutorial_figures() -> Iterator[Figure]:
    document = load(TUTORIAL)
    for i, row in enumerate(document["touch"]):
        directories = "own" if row["directories"] > 1 else "shared"
        params = {"files": row["files"], "threads": row["threads"], "directories": directories}
        tool = {"tool": "touch" if row["threads"] == 1 else "parallel"}
        yield Figure(
            TUTORIAL, "touch", TUTORIAL_STORAGES[row["storage"]], params, "files_per_s", MEDIAN, row["files_per_s"],
            instance_type=row["instanceType"], caveats=tool, row=f"touch[{i}]",
        )  # fmt: skip
    for i, row in enumerate(document["dd"]):
        params = {"block_bytes": row["block_mib"] * 2**20, "sync": row["sync"], "threads": row["threads"]}
        caveats = {"tool": "dd" if row["threads"] == 1 else "parallel", "total_bytes": row["gb"] * 2**30}
        yield Figure(
            TUTORIAL, "dd", TUTORIAL_STORAGES[row["storage"]], params, "mb_per_s", MEDIAN, row["mb_per_s"],
            instance_type=row["instanceType"], caveats=caveats, row=f"dd[{i}]",
        )  # fmt: skip
    for i, row in enumerate(document["instance_network"]):
        columns = {
            "mb_per_s": "average_mb_per_s",
            "burst_mb_per_s": "burst_mb_per_s",
            "baseline_mb_per_s": "baseline_mb_per_s",
        }
        for metric, column in columns.items():
            if column in row:
                yield Figure(
                    TUTORIAL, "instance-throughput", TUTORIAL_STORAGES[row["storage"]], {}, metric, MEDIAN, row[column],
                    instance_type=row["instanceType"], caveats={"total_bytes": row["gb"] * 2**30},
                    is_of_instance=True, row=f"instance_network[{i}]",
                )  # fmt: skip
    for i, row in enumerate(document["transfer"]):
        params = {"tool": row["tool"].replace(" ", "")}
        caveats = {"threads": row["threads"], "files": row["files"], "file_bytes": row["file_mb"] * 10**6}
        yield Figure(
            TUTORIAL, "transfer", TUTORIAL_STORAGES["efs"], params, "mb_per_s", MEDIAN, row["mb_per_s"],
            instance_type=row["instanceType"], caveats=caveats, row=f"transfer[{i}]",
        )  # fmt: skip


def _zero_byte_figures() -> Iterator[Figure]:
    document = load(ZERO_BYTE)
    files = {"files": 1024}
    for i, row in enumerate(document["sweep"]):
        params = {**files, "threads": row["threads"], "directories": "own"}
        yield Figure(
            ZERO_BYTE, "touch", {"type": "efs"}, params, "files_per_s", MEDIAN, row["iops"],
            caveats={"tool": "parallel"}, row=f"sweep[{i}]",
        )  # fmt: skip
    for i, row in enumerate(document["single"]):
        params = {**files, "threads": row["threads"], "directories": "own" if row["directories"] > 1 else "shared"}
        caveats = {"tool": "touch" if row["threads"] == 1 else "parallel"}
        yield Figure(
            ZERO_BYTE, "touch", ZERO_BYTE_STORAGES[row["storage"]], params, "duration_s", MEDIAN, row["seconds"],
            caveats=caveats, row=f"single[{i}]",
        )  # fmt: skip


def _read_figures() -> Iterator[Figure]:
    document = load(READS)
    for i, row in enumerate(document["rows"]):
        storage = READ_STORAGES.get(row["backend"])
        if storage is None or row["mb_per_s"] is None:
            continue
        params = {"access": row["access"], "threads": row["threads"]}
        if row["access"] == "random":
            params |= {"record_bytes": row["record_bytes"], "page_bytes": row["page_cache_bytes"]}
            params |= {"records_per_request": row.get("records_per_request", 1)}
        wrong = BEYOND_THE_VOLUME if storage["type"] == "ebs" else None
        unlike = OTHER_SERVER if storage["type"] == "file-server" else None
        caveats = READ_CLIENTS.get(row["backend"], {})
        yield Figure(
            READS, "read", storage, params, "mb_per_s", MEDIAN, row["mb_per_s"],
            caveats=caveats, wrong=wrong, row=f"rows[{i}]", unlike=unlike,
        )  # fmt: skip
    for i, row in enumerate(document["side_results"]):
        if "threads" in row:
            params = {"access": "sequential", "threads": row["threads"]}
            caveats = {"client": row["client"]}
            yield Figure(
                READS, "read", {"type": "s3"}, params, "mb_per_s", MEDIAN, row["mb_per_s"],
                caveats=caveats, row=f"side_results[{i}]",
            )  # fmt: skip
