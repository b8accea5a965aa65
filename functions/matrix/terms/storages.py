"""Names of storages: whole ones for sentences (`EBS gp3 (200 GiB, 3000 IOPS)`), brief ones for charts (`EBS gp3`)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

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
            "efs": f"EFS {storage.get('throughputMode') or ''}{_efs_traits(storage)}",
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


def _efs_traits(storage: Document) -> str:
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


# What goes without saying of a storage.
USUAL = {"compression": "NONE", "recordSizeKiB": 128, "nfsVersion": "4.1"}


def storage_label(storage: dict[str, Any]) -> str:
    """Name a storage as the published tables do: `EFS (performance mode generalPurpose; throughput mode elastic)`."""
    words = {
        "ebs": _ebs_words,
        "efs": _efs_words,
        "fsx-openzfs": _fsx_words,
        "s3": _s3_words,
        "file-server": _server_words,
    }
    names = {
        "ebs": "EBS",
        "efs": "EFS",
        "fsx-openzfs": "FSx for OpenZFS",
        "s3": "S3",
        "file-server": "File server",
        "instance-store": "Instance store",
    }
    kind = str(storage.get("type", "storage"))
    describe = words.get(kind, _any_words)
    known = {field: value for field, value in storage.items() if field != "emulated"}
    details = ["EMULATED"] * bool(storage.get("emulated")) + [word for word in describe(known) if word]
    name = names.get(kind, kind)
    return f"{name} ({'; '.join(details)})" if details else name


def _with_unit(storage: dict[str, Any], field: str, unit: str) -> str:
    return f"{storage[field]} {unit}" if storage.get(field) is not None else ""


def _ebs_words(storage: dict[str, Any]) -> list[str]:
    return [
        str(storage.get("volumeType") or ""),
        _with_unit(storage, "sizeGiB", "GiB"),
        _with_unit(storage, "iops", "IOPS"),
        _with_unit(storage, "throughputMiBps", "MiB/s"),
        f"RAID-0 of {storage['raid0']}" if storage.get("raid0") else "",
        f"from {storage['snapshotId']}" if storage.get("snapshotId") else "",
    ]


def _efs_words(storage: dict[str, Any]) -> list[str]:
    throughput = [storage.get("throughputMode"), _with_unit(storage, "provisionedThroughputMiBps", "MiB/s")]
    return [
        f"performance mode {storage['performanceMode']}" if storage.get("performanceMode") else "",
        f"throughput mode {' '.join(word for word in throughput if word)}" if any(throughput) else "",
        "One Zone" if storage.get("deployment") == "oneZone" else "",
        "TLS" if storage.get("tls") else "",
        "IAM" if storage.get("iam") else "",
    ]


def _fsx_words(storage: dict[str, Any]) -> list[str]:
    storage = {field: value for field, value in storage.items() if value != USUAL.get(field)}
    return [
        str(storage.get("deploymentType") or ""),
        _with_unit(storage, "storageCapacityGiB", "GiB"),
        _with_unit(storage, "throughputCapacityMBps", "MB/s"),
        _with_unit(storage, "iops", "IOPS"),
        str(storage["compression"]) if storage.get("compression") else "",
        _with_unit(storage, "recordSizeKiB", "KiB records"),
        f"NFS {storage['nfsVersion']}" if storage.get("nfsVersion") else "",
        _with_unit(storage, "nconnect", "connections"),
        f"instances in {storage['placement']}" if storage.get("placement") else "",
    ]


def _s3_words(storage: dict[str, Any]) -> list[str]:
    return [f"client {storage['client']}" if storage.get("client") else ""]


def _server_words(storage: dict[str, Any]) -> list[str]:
    return [str(storage.get("instanceType") or ""), _with_unit(storage, "sizeGiB", "GiB")]


def _any_words(storage: dict[str, Any]) -> list[str]:
    return [f"{field} {value}" for field, value in storage.items() if field != "type" and value is not None]
