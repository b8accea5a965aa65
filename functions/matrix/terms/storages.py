"""How storages are written: labels in tables (`EBS (gp3; 200 GiB)`), names in sentences and charts (`EBS gp3`)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

Document = Mapping[str, Any]
# Written around a field's value, or instead of each of its values; a value without words is left out.
Words = str | Mapping[Any, str]


@dataclass(frozen=True)
class Kind:
    """A type of storage: how labels and names call it, and the words of its fields in reading order."""

    label: str
    name: str
    fields: Mapping[str, Words] = field(default_factory=dict)
    # Fields that are part of the name itself and not in its brackets: `EFS provisioned TLS (512 MiB/s)`.
    named_by: tuple[str, ...] = ()


KINDS = {
    "ebs": Kind(
        "EBS",
        "EBS",
        {
            "volumeType": "{}",
            "sizeGiB": "{} GiB",
            "iops": "{} IOPS",
            "throughputMiBps": "{} MiB/s",
            "raid0": "RAID-0 of {}",
            "snapshotId": "from {}",
        },
        named_by=("volumeType",),
    ),
    "instance-store": Kind("Instance store", "Instance store"),
    "efs": Kind(
        "EFS",
        "EFS",
        {
            "performanceMode": "performance mode {}",
            "throughputMode": "throughput mode {}",
            "provisionedThroughputMiBps": "{} MiB/s",
            "deployment": {"oneZone": "One Zone"},
            "tls": {True: "TLS"},
            "iam": {True: "IAM"},
        },
        named_by=("throughputMode", "performanceMode", "deployment", "tls", "iam"),
    ),
    "fsx-openzfs": Kind(
        "FSx for OpenZFS",
        "FSx OpenZFS",
        {
            "deploymentType": "{}",
            "storageCapacityGiB": "{} GiB",
            "throughputCapacityMBps": "{} MB/s",
            "iops": "{} IOPS",
            "compression": "{}",
            "recordSizeKiB": "{} KiB records",
            "nfsVersion": "NFS {}",
            "nconnect": "{} connections",
            "placement": "instances in {}",
        },
    ),
    "s3": Kind("S3", "S3 by", {"client": "client {}"}, named_by=("client",)),
    "file-server": Kind("File server", "File server", {"instanceType": "{}", "sizeGiB": "{} GiB"}),
}
# Names have less room than labels.
WORDS_IN_NAMES: Mapping[str, Words] = {
    "throughputMode": "{}",
    "performanceMode": {"maxIO": "maxIO"},
    "raid0": "{} volumes as RAID-0",
    "placement": "{}",
    "client": "{}",
}
# Values so usual that neither labels nor names mention them.
USUAL = {"compression": "NONE", "recordSizeKiB": 128, "nfsVersion": "4.1"}


def _texts(storage: Document, fields: Mapping[str, Words]) -> dict[str, str]:
    """Write each field that is set, and not as usual, in its words."""
    texts = {}
    for key, words in fields.items():
        value = storage.get(key)
        if value is not None and value != USUAL.get(key):
            texts[key] = words.format(value) if isinstance(words, str) else words.get(value, "")
    return {key: text for key, text in texts.items() if text}


def storage_label(storage: Document) -> str:
    """Label a storage as the published tables do: `EFS (performance mode generalPurpose; throughput mode elastic)`.

    A type without words of its own is labelled by all of its fields; an emulated storage says so first.
    """
    kind = KINDS.get(str(storage.get("type")), Kind(str(storage.get("type", "storage")), ""))
    fields = kind.fields or {key: f"{key} {{}}" for key in storage if key not in ("type", "emulated")}
    texts = _texts(storage, fields)
    # The throughput belongs to its mode: `throughput mode provisioned 512 MiB/s`.
    if throughput := texts.pop("provisionedThroughputMiBps", ""):
        texts["throughputMode"] = f"{texts.get('throughputMode', 'throughput mode')} {throughput}"
    details = ["EMULATED"] * bool(storage.get("emulated")) + list(texts.values())
    return f"{kind.label} ({'; '.join(details)})" if details else kind.label


@dataclass(frozen=True)
class StorageName:
    """A storage's name without figures, such as `EBS gp3`, and its figures by field."""

    kind: str
    figures: Mapping[str, str]

    @classmethod
    def of(cls, storage: Document) -> "StorageName | None":
        """Read a storage; None if its user has named it or its type is unknown."""
        kind = KINDS.get(str(storage.get("type")))
        if storage.get("name") or kind is None:
            return None
        client = {"client": storage.get("client") or "boto3"}
        words = {key: WORDS_IN_NAMES.get(key, words) for key, words in kind.fields.items()}
        texts = _texts({**storage, **client}, words)
        own = [texts.pop(key) for key in kind.named_by if key in texts]
        return cls(" ".join([kind.name, *own]), texts)

    def text(self, fields: Iterable[str]) -> str:
        """Write the name with these of its figures: `EBS gp3 (200 GiB, 3000 IOPS)`."""
        figures = ", ".join(self.figures[key] for key in fields if key in self.figures)
        return f"{self.kind} ({figures})" if figures else self.kind


def whole_names(storages: Iterable[tuple[str, Document]]) -> dict[str, str]:
    """Return the name of each storage, by its id, with all of its figures."""
    return _names(dict(storages), brief=False)


def brief_names(storages: Iterable[tuple[str, Document]]) -> dict[str, str]:
    """Return the name of each storage, by its id, with the figures in which it differs from others of its kind."""
    return _names(dict(storages), brief=True)


def _names(storages: Mapping[str, Document], *, brief: bool) -> dict[str, str]:
    read = {key: StorageName.of(storage) for key, storage in storages.items()}
    names = {}
    for key, name in read.items():
        if name is None:
            names[key] = str(storages[key].get("name") or storage_label(storages[key]))
            continue
        alike = [other for other in read.values() if other and other.kind == name.kind]
        names[key] = name.text(
            each for each in name.figures if not brief or len({other.figures.get(each) for other in alike}) > 1
        )
    # Storages of equal names differ in a field that has no words, so their ids tell them apart.
    texts = list(names.values())
    return {key: text if texts.count(text) == 1 else f"{text} [{key}]" for key, text in names.items()}
