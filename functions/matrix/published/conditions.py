"""Conditions of a source's measurement, beside a run's: system, kernel, region, container, disks, tool, size.

sources/sources.json has them for all of a source (`*`) or one of its workloads, its table for a row; null means not
published.
Nothing here forbids a comparison. These are the differences that a reader of two figures should know.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias, cast

from matrix.input.image import BUILT
from matrix.published.figures import Figure, sources
from matrix.storages.models import is_shared
from matrix.terms.documents.plan import PlanCell
from matrix.terms.documents.result import ResultDocument

# As planned or as measured.
Cell: TypeAlias = PlanCell | ResultDocument

SYSTEMS = {"al2023": "Amazon Linux 2023", "ubuntu-22.04": "Ubuntu 22.04"}


def differences(cell: Cell, figure: Figure) -> Iterator[str]:
    """Yield the conditions in which a cell, planned or measured, differs from a published figure's.

    Conditions that the source does not publish come last. If a condition is known only after the run, a plan yields the
    source's value.
    """
    told = sources()[figure.source]["differs"]
    missing = []
    for name, theirs in {**told["*"], **told.get(figure.workload, {}), **figure.conditions}.items():
        if name in APPLIES and not APPLIES[name](cell):
            continue
        ours = OURS[name](cell) if name in OURS else None
        if theirs is None:
            missing.append(name)
        elif ours is None:
            yield f"{name}: {theirs} there"
        elif not re.match(rf"{re.escape(theirs)}(?!\w)", ours):
            yield f"{name}: {ours} here, {theirs} there"
    if missing:
        yield f"the source does not tell {', '.join(missing)}"


def _facts(cell: Cell) -> dict[str, dict[str, int]]:
    """Return the provenance that the instances reported, from a result; empty for a plan."""
    return cast("dict[str, dict[str, int]]", cell.get("provenance") or {})


def _measured(cell: Cell, fact: str) -> str | None:
    """Return a fact that the instances reported, None for a plan or if instances differ."""
    values = _facts(cell).get(fact) or {}
    return next(iter(values)) if len(values) == 1 else None


def _system(cell: Cell) -> str | None:
    planned = str(cell.get("image", "")).removesuffix("-x86_64").removesuffix("-arm64")
    return _measured(cell, "system") or SYSTEMS.get(planned)


def _region(cell: Cell) -> str | None:
    """Return the region of the instances, from the names of their zones: `eu-central-1a`."""
    zones = _facts(cell).get("Availability Zone") or {}
    regions = {region[0] for zone in zones if (region := re.match(r"[a-z-]+-\d+", zone))}
    return next(iter(regions)) if len(regions) == 1 else None


def _container(cell: Cell) -> str | None:
    container = cell["workload"].get("container")
    return "built of a Dockerfile" if container == BUILT else container


def _build_disk(cell: Cell) -> str | None:
    size_gib = cell["workload"].get("buildDiskGiB")
    return size_gib and f"gp3 volume of {size_gib} GiB"


def _source_disk(cell: Cell) -> str | None:
    workload = cell["workload"]
    size_gib = workload.get("sourceVolumeGiB")
    return size_gib and f"{workload['sourceVolumeType']} volume of {size_gib} GiB"


def _ebs_volume(cell: Cell) -> str | None:
    return f"{cell['storage'].get('volumeType')} of {cell['storage'].get('sizeGiB')} GiB"


# The cell's condition by its name in the sources' files; None for a plan if it is known only after the run. A condition
# without one is only that of the source.
OURS: Mapping[str, Callable[[Cell], str | None]] = {
    "system": _system,
    "kernel": lambda cell: _measured(cell, "kernel"),
    "region": _region,
    "container": _container,
    "build disk": _build_disk,
    "EBS volume": _ebs_volume,
    "source disk": _source_disk,
    "data set": lambda _: "the agent's own, random bytes",
    "program": lambda _: "Python",
    "TLS": lambda cell: "on" if cell["storage"].get("tls") else "off",
    "rate": lambda _: "bytes that the program got",
    "end": lambda _: "with a flush",
    "page cache": lambda _: "dropped before each step",
    "start": lambda _: "all instances at the same moment",
    "root volume": lambda _: "encrypted",
    "files": lambda _: "one for each job",
}
# Conditions that only some cells have.
APPLIES: Mapping[str, Callable[[Cell], bool]] = {
    "build disk": lambda cell: is_shared(cell["storage"]),
    "TLS": lambda cell: cell["storage"]["type"] == "efs",
    # The source measured the network card; a volume is beside it.
    "rate": lambda cell: cell["storage"]["type"] != "ebs",
    # What only the published build on a volume of its own did, and only that on EFS.
    "page cache": lambda cell: cell["storage"]["type"] == "ebs",
    "mirror tarballs": lambda cell: cell["storage"]["type"] == "ebs",
    "cache folder": lambda cell: cell["storage"]["type"] == "efs",
    "EBS volume": lambda cell: "volumeType" in cell["storage"],
    # A command is the source's own client; only its versions differ.
    "program": lambda cell: cell["workload"]["type"] != "command",
    "files": lambda cell: cell["workload"]["type"] == "fio",
    "Java clients": lambda cell: str(cell["workload"].get("name")).startswith(("s3a", "sdk-java")),
}
