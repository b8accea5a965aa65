"""The published figures that the matrices in events/ reproduce, and the properties of a point that repeats each.

The files in sources/ have the figures as their sources print them; known errors are noted beside the figure.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias, cast

from matrix.statistics.percentiles import LEVELS
from matrix.terms.documents.parts import Params, Part
from matrix.terms.metrics import METRICS, Metric

FOLDER = Path(__file__).parent / "sources"
YOCTO = "yocto-builds"
EBS_FIO = "ebs-fio"
ZERO_BYTE = "efs-zero-byte"
TUTORIAL = "efs-tutorial"
READS = "read-throughput"
MOUNTPOINT = "mountpoint-s3"
EBS_AMD = "ebs-amd"
S3_CLIENTS = "s3-clients"
EFS_MDTEST = "efs-mdtest"
FSX_LUSTRE = "fsx-lustre-epam"
WORKSHOP = "efs-workshop"
# Sources whose rows have the properties of the repeating point (`figure`), or the reason for none (`reason`).
MAPPED: dict[str, tuple[str, ...]] = {
    MOUNTPOINT: ("standard", "express", "incremental_upload", "cache"),
    EBS_AMD: ("rows",),
    S3_CLIENTS: ("rows",),
    EFS_MDTEST: ("rows",),
    FSX_LUSTRE: ("rows", "cellranger"),
    WORKSHOP: ("smallfile", "dd", "ior", "transfer"),
}

# A file of sources/, or one of its rows: the columns differ between sources.
SourceRow: TypeAlias = dict[str, Any]

# A single volume, not several joined by RAID-0.
VOLUME: Part = {"type": "ebs", "raid0": None}
# The sources' names of volumes, and the same volumes as the input of a matrix.
VOLUMES: dict[str, Part] = {
    "gp3_throughput_1000": VOLUME | {"volumeType": "gp3", "iops": 4000, "throughputMiBps": 1000},
    "io2_iops_16000": VOLUME | {"volumeType": "io2", "iops": 16000},
    "gp3_iops_16000": VOLUME | {"volumeType": "gp3", "iops": 16000, "throughputMiBps": 1000},
    "gp3_throughput_2000_with_raid_0": {"type": "ebs", "volumeType": "gp3", "throughputMiBps": 1000, "raid0": 2},
}
RELEASE = "kirkstone"  # of the published builds, from their source
# The sources' words for the placement of instances, and the same placements as the input of a matrix.
PLACEMENTS: dict[str, str | list[float]] = {
    "any AZ": "spread",
    "file system's AZ": "same-az",
    "each file system's AZ": [0.5, 0.5],
}
# P50 is 128 minutes, and 184 with all 200 in the zone of one file system: with one file system, half of the instances
# in another zone would not make it faster.
READ_AS_TWO = (
    'the source says "2 times 100 instances in 2 AZs - same AZ as FSx": by its figures these are two file systems'
)
TUTORIAL_STORAGES: dict[str, Part] = {"ebs-gp2": VOLUME | {"volumeType": "gp2"}, "efs": {"type": "efs"}}
# Its throughput mode is that before section 07, which changes it "bursting to provisioned".
ZERO_BYTE_STORAGES: dict[str, Part] = {"ebs": VOLUME, "efs": {"type": "efs"}}
# "A file system with a permitted throughput greater than 200 MB/s" (tutorial 1.1.4, below its tables).
TUTORIAL_PERMITTED_MB_PER_S = 200
# The sources print one value for each point, which is compared with the run's median.
MEDIAN = "p50"
# The source calls a gp2 volume of 100 GiB by its 300 IOPS (3 IOPS/GiB).
READ_STORAGES: dict[str, Part] = {
    "ebs 300 IOPS": VOLUME | {"volumeType": "gp2", "sizeGiB": 100},
    "ebs 3000 IOPS": VOLUME | {"volumeType": "gp3", "iops": 3000},
    "s3 (S3A)": {"type": "s3"},
    "s3 (SDK v2)": {"type": "s3", "client": "crt"},
    "file server": {"type": "file-server"},
}
# The workload of events/read-throughput.json that reads as the source's program does.
SAME_SEVENTH = "same-seventh"
READ_MB_PER_S = Metric("MB/s", True, "read by all jobs")
OTHER_SERVER = "published of another program: the source's authors wrote a file server of their own"
OTHER_CLIENT = "the source asks for the AWS SDK for Java v2, which needs Java; ours is another client of AWS"
READ_CLIENTS: dict[str, Params] = {"s3 (S3A)": {"client": "S3A"}}
# The same clients as commands of events/s3-readers.json, by the workload's name.
READERS = {"s3 (S3A)": "s3a", "s3 (SDK v2)": "sdk-java", "S3A": "s3a", "SDK v2": "sdk-java", "aws cli": "aws-s3-cp"}
BY_COMMAND: Part = {"type": "s3", "client": "command"}
# The source's cells without a figure have no threads either; these are the threads of its other rows.
READ_THREADS, READ_RECORD_BYTES = 7, 8192
# 35 MB/s of 8 KiB are 4,270 reads per second, but gp2 bursts to 3,000; 190 MB/s are 181 MiB/s, but gp2 of up to
# 170 GiB is limited to 128 (EBS user guide, gp2).
BEYOND_THE_VOLUME = "more than such a volume can, so the page cache of the instance answered part of it"
# MultiThreadedSequentialAccessEBSReader opens the file in each thread, and never seeks.
SAME_STRETCH = f"{BEYOND_THE_VOLUME}: all 7 threads of its program read the same first seventh of the file"


@dataclass(frozen=True)
class Figure:
    """A published figure, and the properties of a point that is comparable with it."""

    source: str
    workload: str
    storage: Part
    params: Params
    metric: str
    percentile: str
    value: float | None  # None if the source has an empty cell for it
    instances: int = 1
    instance_type: str | None = None
    # Further values that should be equal; if one is not, both figures are shown with the objection.
    caveats: Params = field(default_factory=dict)
    wrong: str | None = None
    # An objection that no matrix can remove, such as another program of the same purpose, or how we read the source.
    unlike: str | None = None
    # Whether the instance itself was measured: then a figure of another instance type is not a counterpart at all.
    is_of_instance: bool = False
    # What the source says of the conditions of this row alone; None where it should and does not.
    conditions: Mapping[str, str | None] = field(default_factory=dict)
    row: str = ""  # its place in the source's file, such as `dd[3]`
    date: str | None = None  # the day or month of a later measurement, if a source dates its rows

    # The source's storage and params, if the point that repeats it has others.
    shown: dict[str, Part | Params] = field(default_factory=dict)
    # Unit of a metric that only a command prints; None: the metric is in `METRICS`.
    own: Metric | None = None

    @property
    def known(self) -> Metric:
        """The unit of its metric, and which way is better."""
        return self.own or METRICS[self.metric]

    @property
    def section(self) -> str:
        """The list of the source's file that it is in."""
        return self.row.partition("[")[0]


def load(name: str) -> SourceRow:
    """Return a file of published figures."""
    document: SourceRow = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return document


@cache
def source_name(name: str) -> str:
    """Return what a file of published figures calls its source."""
    return str(load(name)["source"])


@cache
def conditions_of(name: str) -> Mapping[str, Mapping[str, str | None]]:
    """Return the conditions in a file of published figures, by list; `*` are those of all."""
    return cast("Mapping[str, Mapping[str, str | None]]", load(name)["conditions"])


def figures() -> Iterator[Figure]:
    """Yield every published figure that a workload reproduces."""
    return (figure for figure in cells() if figure.value is not None)


def cells() -> Iterator[Figure]:
    """Yield every figure, or empty cell, of a source that a workload can measure."""
    yield from _yocto_figures()
    yield from _fio_figures()
    yield from _tutorial_figures()
    yield from _zero_byte_figures()
    yield from _read_figures()
    for source, sections in MAPPED.items():
        yield from _mapped_figures(source, sections)


def _mapped_figures(source: str, sections: tuple[str, ...]) -> Iterator[Figure]:
    document = load(source)
    for section in sections:
        for i, row in enumerate(document[section]):
            figure = row["figure"]
            for metric, value in figure["metrics"].items():
                own = figure.get("own", {}).get(metric)
                yield Figure(
                    source, figure["workload"], figure["storage"], figure["params"], metric, MEDIAN, value,
                    instance_type=figure.get("instanceType", document.get("instanceType")), row=f"{section}[{i}]",
                    conditions=row.get("conditions", {}), wrong=figure.get("wrong"), unlike=figure.get("unlike"),
                    shown=figure.get("shown", {}),
                    own=Metric(own["unit"], own["better"] == "higher", metric.replace("_", " ")) if own else None,
                )  # fmt: skip


def _yocto_figures() -> Iterator[Figure]:
    document = load(YOCTO)
    params = {"image": document["workload"]["image"]}
    for section in ("cells", "later"):
        for i, cell in enumerate(document[section]):
            storage = {name: value for name, value in cell["storage"].items() if name != "placement"}
            # A single volume or file system, unless the source has several.
            storage = {**VOLUME, **storage} if storage["type"] == "ebs" else {"fileSystems": None, **storage}
            placement = cell["storage"].get("placement")
            values: Mapping[str, float | None] = cell["percentiles_s"] or {MEDIAN: None}
            for level in (f"p{level}" for level in LEVELS):
                if level in values:
                    yield Figure(
                        source=YOCTO, workload="yocto", storage=storage, params=params,
                        metric="duration_s", percentile=level, value=values[level],
                        instances=cell.get("launched", cell["instances"]),
                        instance_type=document["instanceType"], date=cell.get("date"), row=f"{section}[{i}]",
                        conditions=cell.get("conditions", {}),
                        caveats={"release": RELEASE} | ({"placement": placement} if placement else {}),
                        wrong=cell.get("note") if MEDIAN in values else None,
                        unlike=READ_AS_TWO if storage.get("fileSystems") else None,
                    )  # fmt: skip


def _medians(figure: Figure, row: SourceRow, columns: Mapping[str, str]) -> Iterator[Figure]:
    """Yield a row's figures: `columns` has the column of each metric."""
    for metric, column in columns.items():
        if column in row:
            yield replace(figure, metric=metric, value=row[column])


def _fio_figures() -> Iterator[Figure]:
    document = load(EBS_FIO)
    shared = {name: document["fio"][name] for name in ("rw", "iodepth", "numjobs", "direct")}
    for i, (volume, block_kib, threads, iops, mib_per_s, *latencies_us) in enumerate(document["rows"]):
        options = {**shared, "bs": f"{block_kib}k", "numjobs": threads}
        params = {"device": document["device"], "options": options}
        figure = Figure(
            EBS_FIO, "fio", VOLUMES[volume], params, "iops", MEDIAN, iops,
            instance_type=document["instanceType"], caveats={"sizeGiB": document["sizes_gib"][volume]},
            row=f"rows[{i}]",
        )  # fmt: skip
        yield figure
        yield replace(figure, metric="mib_per_s", value=mib_per_s)
        for level, latency_us in zip((50, 90, 99), latencies_us, strict=True):
            yield replace(figure, metric=f"write_completion_lat_p{level}_us", value=latency_us)


def _tutorial_figures() -> Iterator[Figure]:
    document = load(TUTORIAL)

    def figure(section: str, i: int, workload: str, **fields: Any) -> Figure:
        row = document[section][i]
        storage = TUTORIAL_STORAGES[row.get("storage", "efs")]
        return Figure(
            TUTORIAL, workload, storage, metric="", percentile=MEDIAN, value=None, conditions=row.get("conditions", {}),
            instance_type=row["instanceType"], row=f"{section}[{i}]", **fields,
        )  # fmt: skip

    for i, row in enumerate(document["touch"]):
        params = _files(row, row["files"])
        touch = figure("touch", i, "touch", params=params, caveats=_touch_tool(row))
        yield from _medians(touch, row, {"files_per_s": "files_per_s", "duration_s": "seconds"})
    for i, row in enumerate(document["dd"]):
        params = {"block_bytes": row["block_mib"] * 2**20, "sync": row["sync"], "threads": row["threads"]}
        caveats = {"tool": "dd" if row["threads"] == 1 else "parallel", "total_bytes": row["gb"] * 2**30}
        written = figure("dd", i, "dd", params=params, caveats=caveats)
        yield from _medians(written, row, {"mb_per_s": "mb_per_s", "duration_s": "seconds"})
    for i, row in enumerate(document["instance_network"]):
        columns = {
            "mb_per_s": "average_mb_per_s",
            "burst_mb_per_s": "burst_mb_per_s",
            "baseline_mb_per_s": "baseline_mb_per_s",
            "duration_s": "seconds",
        }
        caveats = {"total_bytes": row["gb"] * 2**30, "tool": "dd"}
        streamed = figure("instance_network", i, "instance-throughput", params={}, caveats=caveats, is_of_instance=True)
        yield from _medians(streamed, row, columns)
    for i, row in enumerate(document["transfer"]):
        params = {"tool": row["tool"].replace(" ", "")}
        caveats = {"threads": row["threads"], "files": row["files"], "file_bytes": row["file_kib"] * 2**10}
        copied = figure("transfer", i, "transfer", params=params, caveats=caveats)
        yield from _medians(copied, row, {"mb_per_s": "mb_per_s", "duration_s": "seconds"})


def _files(row: SourceRow, files: int) -> Params:
    return {"files": files, "threads": row["threads"], "directories": "own" if row["directories"] > 1 else "shared"}


def _touch_tool(row: SourceRow) -> Params:
    return {"tool": "touch" if row["threads"] == 1 else "parallel"}


def _zero_byte_figures() -> Iterator[Figure]:
    document = load(ZERO_BYTE)
    files = 1024
    mode = {"throughputMode": document["throughputMode"]}
    for i, row in enumerate(document["sweep"]):
        figure = Figure(
            ZERO_BYTE, "touch", {"type": "efs"}, {"files": files, "threads": row["threads"], "directories": "own"},
            "files_per_s", MEDIAN, row["iops"], caveats={"tool": "parallel"} | mode, row=f"sweep[{i}]",
            instance_type=document["instanceType"],
        )  # fmt: skip
        yield from _medians(figure, row, {"files_per_s": "iops", "duration_s": "seconds"})
    for i, row in enumerate(document["single"]):
        yield Figure(
            ZERO_BYTE, "touch", ZERO_BYTE_STORAGES[row["storage"]], _files(row, files), "duration_s", MEDIAN,
            row["seconds"], caveats=_touch_tool(row) | (mode if row["storage"] == "efs" else {}), row=f"single[{i}]",
            instance_type=document["instanceType"],
        )  # fmt: skip


def _read_figures() -> Iterator[Figure]:
    document = load(READS)
    for i, row in enumerate(document["rows"]):
        storage = READ_STORAGES[row["backend"]]
        params = {"access": row["access"], "threads": row.get("readers", row.get("threads", READ_THREADS))}
        if "readers" in row:
            params |= {"pages_per_request": None}
        if row["access"] == "random":
            params |= {"record_bytes": row.get("record_bytes", READ_RECORD_BYTES)}
            params |= {"page_bytes": row.get("page_cache_bytes", READ_RECORD_BYTES)}
            params |= {"records_per_request": row.get("records_per_request", 1)}
        is_empty = row["mb_per_s"] is None
        caveats = {} if is_empty else READ_CLIENTS.get(row["backend"], {})
        # Its readers draw any byte of a thread's stretch: random.nextLong(start, start + length - recordSize).
        caveats = caveats | ({"offsets": "bytes"} if row["access"] == "random" else {})
        unlike = {"file-server": OTHER_SERVER, "s3": OTHER_CLIENT if is_empty else None}.get(storage["type"])
        yield Figure(
            READS, "read", storage, params, "mb_per_s", MEDIAN, row["mb_per_s"], row=f"rows[{i}]", unlike=unlike,
            caveats=caveats, conditions=row.get("conditions", {}),
            wrong=_why_too_fast(row) if storage["type"] == "ebs" and not is_empty else None,
        )  # fmt: skip
        if storage["type"] == "ebs" and row["access"] == "sequential" and not is_empty:
            yield Figure(
                READS, "command", storage, {"name": SAME_SEVENTH, "jobs": params["threads"]}, "read_mb_per_s", MEDIAN,
                row["mb_per_s"], row=f"rows[{i}]", own=READ_MB_PER_S,
            )  # fmt: skip
        if row["backend"] in READERS:
            at_random = "-random" if row["access"] == "random" else ""
            yield _by_command(f"{READERS[row['backend']]}{at_random}", row, f"rows[{i}]", params["threads"])
    for i, row in enumerate(document["side_results"]):
        yield _by_command(READERS[row["client"]], row, f"side_results[{i}]", row.get("threads"))
        if "threads" in row:
            params = {"access": "sequential", "threads": row["threads"]}
            caveats = {"client": row["client"]}
            yield Figure(
                READS, "read", {"type": "s3"}, params, "mb_per_s", MEDIAN, row["mb_per_s"],
                caveats=caveats, row=f"side_results[{i}]",
            )  # fmt: skip


def _why_too_fast(row: SourceRow) -> str:
    return SAME_STRETCH if row["access"] == "sequential" else BEYOND_THE_VOLUME


def _by_command(name: str, row: SourceRow, place: str, threads: int | None) -> Figure:
    """Return a row as the command of this name measures it, by the client that the source used."""
    params = {"name": name} if threads is None else {"name": name, "jobs": threads}
    return Figure(
        READS, "command", BY_COMMAND, params, "mb_per_s", MEDIAN, row["mb_per_s"], row=place,
        conditions=row.get("conditions", {}),
    )  # fmt: skip
