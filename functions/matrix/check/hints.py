"""Suggest the field that a user means by an unknown one: first by meaning, then by spelling."""

import difflib
import re
from collections.abc import Sequence

# Names in other tools: the field of the first of these that the part of the matrix has.
_MEANING: dict[str, tuple[str, ...]] = {
    "ami": ("image",),
    "amiid": ("image",),
    "blocksize": ("blockSize", "bs"),
    "capacity": ("storageCapacityGiB", "sizeGiB"),
    "concurrency": ("threads", "maxConcurrentFileSystems"),
    "cost": ("budgetUsd",),
    "filecount": ("files",),
    "instances": ("count",),
    "iterations": ("repetitions",),
    "labels": ("tags",),
    "maxcost": ("budgetUsd",),
    "mode": ("throughputMode",),
    "nodes": ("count",),
    "numinstances": ("count",),
    "os": ("image",),
    "parallel": ("maxConcurrentFileSystems", "threads"),
    "price": ("budgetUsd",),
    "repeat": ("repetitions",),
    "repeats": ("repetitions",),
    "replicas": ("count",),
    "runs": ("repetitions",),
    "size": ("sizeGiB", "storageCapacityGiB", "dataSize", "fileSize"),
    "snapshot": ("snapshotId",),
    "throughput": ("throughputMiBps", "throughputCapacityMBps", "provisionedThroughputMiBps"),
    "timeout": ("deadlineHours",),
    "title": ("name",),
    "volumesize": ("sizeGiB",),
    "zone": ("placement", "deployment"),
    "az": ("placement", "deployment"),
    "availabilityzone": ("placement", "deployment"),
}
# Settings that do not belong in a matrix, and their place.
_ELSEWHERE: dict[tuple[str, ...], str] = {
    ("region",): "leave it out: a run is in the region of its stack (matrix run --region)",
    ("vpc", "vpcid", "subnet", "subnets", "subnetid", "subnetids", "securitygroup"): (
        "leave it out: the network is the stack's (parameters VpcId and SubnetIds)"
    ),
    ("kmskey", "kmskeyid", "kmskeyarn", "encrypted", "encryption"): (
        "leave it out: all is encrypted; a key of yours is the stack's parameter KmsKeyArn"
    ),
    ("filesystem", "fstype", "filesystemtype", "format", "mkfs"): (
        "leave it out: volumes and instance stores of a run get XFS; format a volume as you like and name it by"
        " volumeId, or measure the raw device by fio with device true"
    ),
    ("mountoptions", "mountopts"): "leave it out: only an nfs storage has options of yours; others are mounted as AWS"
    " recommends (docs/storages.md)",
    ("efa", "efaenabled", "gpudirect", "gpudirectstorage", "gds"): (
        "leave it out: EFA and GPUDirect Storage are not measured (docs/not.md)"
    ),
    ("datarepository", "datarepositoryassociation", "datarepositoryconfiguration", "importpath", "exportpath"): (
        "leave it out: link a file system of yours to its bucket, and name it by fileSystemId"
    ),
    ("sizes",): (
        "leave it out: only transfer, objects and metadata have a distribution of sizes; fio takes a range as filesize,"
        " and a volume has sizeGiB"
    ),
    ("role", "rolearn", "iamrole", "instanceprofile"): "leave it out: roles are the stack's (docs/company.md)",
}
# Values that AWS has and no run makes, and why.
_UNSUPPORTED: dict[tuple[str, ...], str] = {
    ("SINGLE_AZ_3", "MULTI_AZ_3"): "the third generation has no published prices, and a plan must know its cost",
    ("SINGLE_AZ_1", "MULTI_AZ_1", "SCRATCH_1", "PERSISTENT_1"): "this generation is not supported",
    ("standard",): "magnetic volumes are of the previous generation, which is not supported",
}
# With less in common two words are two words: `tags` and `storage` have 0.36, `labels` and `launches` 0.57, `nmae` and
# `name` 0.75.
_MIN_ALIKE = 0.75


def meant(written: str, names: Sequence[str]) -> str:
    """Return the name among `names` that an unknown field most likely means, or '' if unknown."""
    folded, by_fold = _folded(written), {_folded(name): name for name in names}
    if folded in by_fold:
        return by_fold[folded]
    for candidate in _MEANING.get(folded, ()):
        if candidate in names:
            return candidate
    # `budget` of budgetUsd, `numFiles` of files; of several the shortest, which adds the least.
    words = set(_words(written))
    of_words = [name for name in names if words < set(_words(name)) or set(_words(name)) < words]
    if of_words and words:
        return min(of_words, key=len)
    close = difflib.get_close_matches(folded, by_fold, n=1, cutoff=_MIN_ALIKE)
    return by_fold[close[0]] if close else ""


def elsewhere(written: str) -> str:
    """Return the place of a setting that does not belong in the matrix, or '' if unknown."""
    return next((fix for fields, fix in _ELSEWHERE.items() if _folded(written) in fields), "")


def unsupported(value: object) -> str:
    """Return why a run does not have a value that AWS has, or '' if unknown."""
    return next((reason for values, reason in _UNSUPPORTED.items() if value in values), "")


def _folded(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _words(name: str) -> list[str]:
    """Return the words of a name in camelCase or with _ and -, without the s of a plural."""
    parts = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+", name)
    return [part.lower().removesuffix("s") for part in parts]
