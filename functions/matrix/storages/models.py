"""The storages that a matrix may name: one module each, with its fields, its rules and its special cases."""

from collections.abc import Mapping
from typing import Annotated, Literal, cast

from pydantic import Field

from matrix.fields.types import models_by_type
from matrix.storages.base import Storage
from matrix.storages.ebs import EbsStorage
from matrix.storages.efs import EfsStorage
from matrix.storages.file_server import FileServerStorage
from matrix.storages.fsx_lustre import FsxLustreStorage
from matrix.storages.fsx_ontap import FsxOntapStorage
from matrix.storages.fsx_openzfs import FsxOpenZfsStorage
from matrix.storages.instance_store import InstanceStoreStorage
from matrix.storages.metrics import NO_METRICS, StorageMetrics
from matrix.storages.mountpoint import MountpointStorage
from matrix.storages.nfs import NfsStorage
from matrix.storages.s3 import S3Storage
from matrix.storages.s3_express import S3ExpressStorage
from matrix.storages.s3_files import S3FilesStorage
from matrix.terms.documents.parts import StorageFields

AnyStorage = Annotated[
    EbsStorage
    | EfsStorage
    | FsxLustreStorage
    | FsxOntapStorage
    | FsxOpenZfsStorage
    | InstanceStoreStorage
    | MountpointStorage
    | NfsStorage
    | S3ExpressStorage
    | S3FilesStorage
    | S3Storage
    | FileServerStorage,
    Field(discriminator="type"),
]  # fmt: skip

MODELS = cast("dict[str, type[Storage]]", models_by_type(AnyStorage))
# By the kind of mount. The root volume is a disk like others.
COUNTERS: Mapping[str, Literal["disk", "nfs", "lustre"]] = {
    "root": "disk",
    **{kind: counter for model in MODELS.values() for kind, counter in model.traits.metrics.counters.items()},
}


def metrics_of(kind: object) -> StorageMetrics:
    """Return the metrics of a type of storage. An unknown type, such as a published one, has none."""
    model = MODELS.get(str(kind))
    return model.traits.metrics if model else NO_METRICS


def is_shared(storage: StorageFields) -> bool:
    """Whether the instances of a cell share a storage, as a result describes it; True for an unknown type."""
    model = MODELS.get(str(storage.get("type")))
    return model is None or model.traits.is_shared


def existing_id(storage: StorageFields) -> str | None:
    """Return the id of the user's existing storage, as plan and results describe it; None for one of the run."""
    model = MODELS.get(str(storage.get("type")))
    return model.existing_id_in(storage) if model else None


def is_written_in(storage: StorageFields) -> bool:
    """Return whether a run writes to a storage, as plan and results describe it, or only reads it."""
    model = MODELS.get(str(storage.get("type")))
    return model is None or model.is_written_in(storage)


def is_mounted_read_only(storage: StorageFields) -> bool:
    """Return whether it is an existing file system to which nothing is written; existing objects are not mounted."""
    model = MODELS.get(str(storage.get("type")))
    return model is not None and not model.traits.is_only_read and not model.is_written_in(storage)


def how_many(storage: StorageFields) -> int:
    """Return the number of a storage's file systems, as plan and results describe it: each is in its own zone."""
    return int(storage.get("fileSystems") or 1)
