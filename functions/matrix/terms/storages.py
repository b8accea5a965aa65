"""Names of storages: whole ones for sentences (`EBS gp3 (200 GiB, 3000 IOPS)`), brief ones for charts (`EBS gp3`)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from matrix.terms.names import USUAL, storage_label

Document = Mapping[str, Any]

# What tells storages of one kind apart, with its unit.
FIGURES = {
    "ebs": {
        "sizeGiB": "GiB",
        "iops": "IOPS",
        "throughputMiBps": "MiB/s",
        "raid0": "volumes as RAID-0",
        "snapshotId": "from {}",
    },
    "instance-store": {},
    "efs": {"provisionedThroughputMiBps": "MiB/s"},
    "fsx-openzfs": {
        **{"deploymentType": "", "storageCapacityGiB": "GiB", "throughputCapacityMBps": "MB/s", "iops": "IOPS"},
        **{"compression": "", "recordSizeKiB": "KiB records", "nfsVersion": "NFS {}", "nconnect": "connections"},
        **{"placement": ""},
    },
    "s3": {},
    "file-server": {"instanceType": "", "sizeGiB": "GiB"},
}


@dataclass(frozen=True)
class StorageName:
    """A storage's kind and its figures."""

    kind: str
    figures: Mapping[str, str]

    @classmethod
    def of(cls, storage: Document) -> "StorageName | None":
        """Read a storage; None for one that is named by its user or is of no known kind."""
        kind = str(storage.get("type"))
        if storage.get("name") or kind not in FIGURES:
            return None
        words = {
            "ebs": f"EBS {storage.get('volumeType') or ''}",
            "efs": f"EFS {storage.get('throughputMode') or ''}{_efs_words(storage)}",
            "fsx-openzfs": "FSx OpenZFS",
            "instance-store": "Instance store",
            "file-server": "File server",
            "s3": f"S3 by {storage.get('client') or 'boto3'}",
        }
        known = {
            field: unit.format(storage[field]) if "{}" in unit else f"{storage[field]} {unit}".strip()
            for field, unit in FIGURES[kind].items()
            if storage.get(field) not in (None, USUAL.get(field))
        }
        return cls(words[kind].strip(), known)

    def text(self, fields: Iterable[str]) -> str:
        """Write it with these of its figures."""
        told = ", ".join(self.figures[field] for field in fields if field in self.figures)
        return f"{self.kind} ({told})" if told else self.kind


def _efs_words(storage: Document) -> str:
    zone = " One Zone" if storage.get("deployment") == "oneZone" else ""
    ways = "".join(f" {way.upper()}" for way in ("tls", "iam") if storage.get(way))
    return (" maxIO" if storage.get("performanceMode") == "maxIO" else "") + zone + ways


def whole_names(storages: Iterable[tuple[str, Document]]) -> dict[str, str]:
    """Return the name of each storage, by its id, with all of its figures."""
    return _named(dict(storages), brief=False)


def brief_names(storages: Iterable[tuple[str, Document]]) -> dict[str, str]:
    """Return the name of each storage, by its id, with what tells it from the others of its kind in this run."""
    return _named(dict(storages), brief=True)


def _named(storages: Mapping[str, Document], *, brief: bool) -> dict[str, str]:
    read = {key: StorageName.of(storage) for key, storage in storages.items()}
    found = {}
    for key, name in read.items():
        if name is None:
            found[key] = str(storages[key].get("name") or storage_label(dict(storages[key])))
            continue
        alike = [other for other in read.values() if other and other.kind == name.kind]
        fields = [
            field for field in name.figures if not brief or len({other.figures.get(field) for other in alike}) > 1
        ]
        found[key] = name.text(fields)
    # Two that are still alike differ in something that no name has: their ids do.
    texts = list(found.values())
    return {key: text if texts.count(text) == 1 else f"{text} [{key}]" for key, text in found.items()}
