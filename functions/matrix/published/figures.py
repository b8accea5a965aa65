"""The published figures that the matrices in events/published/ reproduce, and what a point needs to repeat each.

The files in sources/ have the figures as their sources print them; known errors are noted beside the figure.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
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
# The lists of each source's file. A row has the properties of the points that repeat it (`figures`), or the reason for
# none (`reason`). The builds have columns of their own.
SECTIONS: dict[str, tuple[str, ...]] = {
    EBS_FIO: ("rows",),
    TUTORIAL: ("touch", "dd", "instance_network", "transfer", "scale_out"),
    ZERO_BYTE: ("sweep", "single"),
    READS: ("rows", "side_results"),
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
# "A file system with a permitted throughput greater than 200 MB/s" (tutorial 1.1.4, below its tables).
TUTORIAL_PERMITTED_MB_PER_S = 200
# The sources print one value for each point, which is compared with the run's median.
MEDIAN = "p50"


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
    for source, sections in SECTIONS.items():
        document = load(source)
        for section in sections:
            for i, row in enumerate(document[section]):
                for figure in row.get("figures", ()):
                    yield from _figures(source, document, row, f"{section}[{i}]", figure)


def _figures(source: str, document: SourceRow, row: SourceRow, place: str, figure: SourceRow) -> Iterator[Figure]:
    instance_type = row.get("instanceType", document.get("instanceType"))
    for metric, value in figure["metrics"].items():
        own = figure.get("own", {}).get(metric)
        yield Figure(
            source, figure["workload"], figure["storage"], figure["params"], metric, MEDIAN, value,
            instance_type=figure.get("instanceType", instance_type), row=place,
            caveats=figure.get("caveats", {}), conditions=row.get("conditions", {}),
            wrong=figure.get("wrong"), unlike=figure.get("unlike"), is_of_instance=figure.get("isOfInstance", False),
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
