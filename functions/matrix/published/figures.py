"""The published figures that the matrices in events/ reproduce: as a run of their own, and beside ours.

The figures in published/*.json are taken from their sources as they are, with what is known to be wrong in them noted
beside. A percentile over a number of instances that the source does not tell has no n.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from matrix.plan import placing
from matrix.statistics.percentiles import LEVELS
from matrix.terms.ids import cell_id, unique_slugs
from matrix.terms.metrics import METRICS
from matrix.terms.names import point_labels, storage_label

FOLDER = Path(__file__).parent / "sources"
YOCTO = "yocto-builds"
EBS_FIO = "ebs-fio"
ZERO_BYTE = "efs-zero-byte"
TUTORIAL = "efs-tutorial"
READS = "read-throughput"

Document = dict[str, Any]

# One volume, and not several as one.
VOLUME: Document = {"type": "ebs", "raid0": None}
# What the sources call a volume, and what it is as an input.
VOLUMES: dict[str, Document] = {
    "gp3_throughput_1000": VOLUME | {"volumeType": "gp3", "iops": 4000, "throughputMiBps": 1000},
    "io2_iops_16000": VOLUME | {"volumeType": "io2", "iops": 16000},
    "gp3_iops_16000": VOLUME | {"volumeType": "gp3", "iops": 16000, "throughputMiBps": 1000},
    "gp3_throughput_2000_with_raid_0": {"type": "ebs", "volumeType": "gp3", "throughputMiBps": 1000, "raid0": 2},
}
RELEASE = "kirkstone"  # of the published builds, as their source says
# Where the sources say that the instances are, and what that is as an input.
PLACEMENTS: dict[str, str | list[float]] = {
    "any AZ": "spread",
    "file system's AZ": "same-az",
    "two AZs, 100 instances in each, one of them the file system's": [0.5, 0.5],
}
TUTORIAL_STORAGES: dict[str, Document] = {"ebs-gp2": VOLUME | {"volumeType": "gp2"}, "efs": {"type": "efs"}}
ZERO_BYTE_STORAGES: dict[str, Document] = {"ebs": VOLUME, "efs": {"type": "efs"}}
# "A file system with a permitted throughput greater than 200 MB/s" (tutorial 1.1.4, below its tables).
TUTORIAL_PERMITTED_MB_PER_S = 200
# More is drawn than compared where the source's values are not told apart.
MEDIAN = "p50"
# gp2 of 100 GiB has 300 IOPS, as the source calls its volume.
READ_STORAGES: dict[str, Document] = {
    "ebs 300 IOPS": VOLUME | {"volumeType": "gp2", "sizeGiB": 100},
    "ebs 3000 IOPS": VOLUME | {"volumeType": "gp3", "iops": 3000},
    "s3 (S3A)": {"type": "s3"},
    "s3 (SDK v2)": {"type": "s3"},
    "file server": {"type": "file-server"},
}
OTHER_SERVER = "published of another program: the source's authors wrote a file server of their own"
READ_CLIENTS: dict[str, Document] = {"s3 (S3A)": {"client": "S3A"}, "s3 (SDK v2)": {"client": "SDK v2"}}
# 35 MB/s of 8 KiB are 4,270 reads a second, where a gp2 bursts to 3,000; and 190 MB/s are 181 MiB/s, where one of up to
# 170 GiB has 128 (EBS user guide, gp2).
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
    # What should be the same too; where it is not, the two are shown and said not to compare.
    caveats: Document = field(default_factory=dict)
    wrong: str | None = None
    # What is another thing there than here whatever the matrix says.
    unlike: str | None = None
    # Whether the instance itself was measured, so that another type is another thing and not the same one elsewhere.
    is_of_instance: bool = False
    row: str = ""  # where the source's file has it, such as `dd[3]`


def load(name: str) -> Document:
    """Return a file of published figures."""
    found: Document = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return found


# --- as a run ---------------------------------------------------------------------------------------------------------


def yocto_run(run: str) -> Document:
    """Return the published Yocto builds as a run's summary, marked as published."""
    document = load(YOCTO)
    storages = [json.dumps(cell["storage"]) for cell in document["cells"]]
    distinct = list(dict.fromkeys(storages))
    slugs = dict(zip(distinct, unique_slugs([(_slug(json.loads(one)), one) for one in distinct]), strict=True))
    cells = [
        _yocto_cell(document, cell, slugs[storage]) for cell, storage in zip(document["cells"], storages, strict=True)
    ]
    measured = sum(cell["state"] == "measured" for cell in cells)
    return {
        "schema": 1,
        "run": run,
        "name": "Published: Yocto builds on EBS, EFS and FSx for OpenZFS",
        "environment": "published",
        "source": document["source"],
        "started_at": None,
        "finished_at": None,
        "status": f"{measured} of {len(cells)} cells were published",
        "cells": cells,
        "totals": {"cells": len(cells), "measured": measured, "failed": len(cells) - measured},
        "cost_usd": None,
        "left_behind": [],
        "warnings": [
            f"published figures, not measured here: {document['source']}",
            "they are percentiles only: no single values, so no intervals, and no n where the source tells none",
        ],
    }


def _yocto_cell(document: Document, cell: Document, file_system: str) -> Document:
    count = cell["instances"]
    found = cell["percentiles_s"]
    fleet = {"instanceType": document["instanceType"], "count": count}
    name = cell_id(file_system, "yocto", f"{document['instanceType']}-x{count}")
    missing = {"name": "NotPublished", "message": cell.get("note") or "the source leaves this cell empty"}
    return {
        "id": name,
        "file_system": file_system,
        "storage": cell["storage"],
        "workload": document["workload"],
        "fleet": fleet,
        "state": "measured" if found else "failed",
        "error": None if found else missing,
        "expected_s": None,
        "actual_s": None,
        "points": [_yocto_point(document, found, count)] if found else [],
        "suspect": cell.get("note") if found else None,
        "warnings": [cell["note"]] if found and cell.get("note") else [],
    }


def _yocto_point(document: Document, found: Document, count: int) -> Document:
    # Cells of one instance have percentiles of several builds, and the source does not tell how many.
    n = count if count > 1 else None
    metric = METRICS["duration_s"]
    figures = {f"p{level}": float(found[f"p{level}"]) for level in LEVELS}
    return {
        "id": "p01",
        "params": {"image": document["workload"]["image"]},
        "label": document["workload"]["image"],
        "metrics": {
            "duration_s": {
                **{"unit": metric.unit, "higher_is_better": metric.higher_is_better, "primary": True},
                **{"n": n, "expected_n": n, **figures, "mean": None},
            }
        },
        "fleet": [],
        "latency": {},
    }


def _slug(storage: Document) -> str:
    words = [storage["type"], *(str(value) for name, value in storage.items() if name not in ("type", "placement"))]
    return "-".join(words).lower()


# --- beside ours ------------------------------------------------------------------------------------------------------


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
        told = {
            "mb_per_s": "average_mb_per_s",
            "burst_mb_per_s": "burst_mb_per_s",
            "baseline_mb_per_s": "baseline_mb_per_s",
        }
        for metric, column in told.items():
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


def beside(summary: Document) -> list[Document]:
    """Return each figure of a run that has a published counterpart, with the ratio and what speaks against it."""
    known = list(figures())
    found = []
    for cell in summary.get("cells", []):
        points = cell.get("points") or []
        labels = point_labels(points)
        for point in points:
            found += [
                _row(summary, cell, point, labels[point["id"]], figure)
                for figure in known
                if figure.metric in (point.get("metrics") or {}) and is_counterpart(cell, point, figure)
            ]
    return found


def is_counterpart(cell: Document, point: Document, figure: Figure) -> bool:
    """Return whether a cell's point, planned or measured, is what a published figure was measured of."""
    return (
        cell["workload"]["type"] == figure.workload
        and cell["fleet"].get("count") == figure.instances
        and not (figure.is_of_instance and cell["fleet"].get("instanceType") != figure.instance_type)
        and _holds(figure.storage, cell["storage"])
        and _holds(figure.params, point["params"])
    )


def _holds(wanted: Document, found: Document) -> bool:
    """Whether all that is wanted is found, below options too; sizes such as `4k` and `4K` are the same."""
    return all(
        _holds(value, found.get(name) or {}) if isinstance(value, dict) else _same(value, found.get(name))
        for name, value in wanted.items()
    )


def _same(one: object, other: object) -> bool:
    return str(one).lower() == str(other).lower()


def _row(summary: Document, cell: Document, point: Document, label: str, figure: Figure) -> Document:
    metric = point["metrics"][figure.metric]
    ours = metric.get(figure.percentile)
    against = list(objections(summary.get("environment"), cell, point, figure))
    return {
        "cell": cell["id"],
        "storage": storage_label(cell["storage"]),
        "instances": figure.instances,
        "point": label,
        "metric": figure.metric,
        "unit": metric["unit"],
        "percentile": figure.percentile,
        "ours": ours,
        "published": figure.value,
        "ratio": ours / figure.value if ours is not None else None,
        "comparable": not against,
        "why_not": against,
        "source": load(figure.source)["source"],
    }


ENVIRONMENTS = {
    "local": "measured on this machine's disk, not on AWS",
    "local-vm": "measured in emulated machines, not on AWS",
    "emulated": "emulated on this machine, no storage was measured",
    "published": "this run is itself published figures",
}


def objections(environment: str | None, cell: Document, point: Document, figure: Figure) -> Iterator[str]:
    """Say why a figure of ours, measured in an environment, cannot be held against the published one."""
    if environment in ENVIRONMENTS:
        yield ENVIRONMENTS[environment]
    if figure.wrong:
        yield f"the source got it wrong: {figure.wrong}"
    if figure.unlike:
        yield figure.unlike
    instance_type = cell["fleet"].get("instanceType")
    if figure.instance_type is None:
        yield "the source does not tell the instance type"
    elif instance_type != figure.instance_type:
        yield f"on {instance_type}, published on {figure.instance_type}"
    if figure.storage == {"type": "efs"}:
        yield from _throughput_objections(cell["storage"], figure)
    known = {**cell["storage"], **cell["workload"], **point["params"]}
    yield from _caveats(cell, known, figure)


def _throughput_objections(storage: Document, figure: Figure) -> Iterator[str]:
    """Say why a file system of ours may be another one than the source's, which tells its throughput or nothing."""
    if figure.source != TUTORIAL:
        yield "the source does not tell the throughput mode"
        return
    mode = storage.get("throughputMode", "elastic")
    provisioned_mb_per_s = storage.get("provisionedThroughputMiBps", 0) * 2**20 / 1e6
    if mode == "bursting" or (mode == "provisioned" and provisioned_mb_per_s <= TUTORIAL_PERMITTED_MB_PER_S):
        yield f"published on a file system that may move more than {TUTORIAL_PERMITTED_MB_PER_S} MB/s"


def _caveats(cell: Document, known: Document, figure: Figure) -> Iterator[str]:
    for name, value in figure.caveats.items():
        if name == "placement":
            if _in_zones(placing.resolved(cell["fleet"].get("placement"), cell["storage"])) != PLACEMENTS[value]:
                yield f"published with instances in {value}"
        elif not _same(value, known.get(name)):
            yield f"{name} {known.get(name)}, published with {value}"


def _in_zones(placement: str | list[float]) -> str | list[float]:
    """A placement, shares as parts of 1."""
    return placement if isinstance(placement, str) else [share / sum(placement) for share in placement]
