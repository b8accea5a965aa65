"""The storages that a matrix may name: one module each, with its fields, its rules and how fast it may be."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from matrix.input.fields import models_by_type
from matrix.input.part import Rule
from matrix.input.storages import ebs, efs, fsx_openzfs, s3
from matrix.input.storages.ebs import EbsStorage
from matrix.input.storages.efs import EfsStorage
from matrix.input.storages.file_server import FileServerStorage
from matrix.input.storages.fsx_openzfs import FsxOpenZfsStorage
from matrix.input.storages.instance_store import InstanceStoreStorage
from matrix.input.storages.s3 import S3Storage

Storage = Annotated[
    EbsStorage
    | EfsStorage
    | FsxOpenZfsStorage
    | InstanceStoreStorage
    | S3Storage
    | FileServerStorage,
    Field(discriminator="type"),
]  # fmt: skip

MODELS = models_by_type(Storage)
RULES: dict[str, tuple[Rule, ...]] = {
    "ebs": ebs.RULES,
    "efs": efs.RULES,
    "fsx-openzfs": fsx_openzfs.RULES,
    "instance-store": (),
    "s3": s3.RULES,
    "file-server": (),
}

# Each instance of a cell has its own of these.
OF_EACH_INSTANCE = ("ebs", "instance-store")


def is_shared(storage: Mapping[str, Any]) -> bool:
    """Whether the instances of a cell share a storage, as a result describes it; of an unknown type it is supposed."""
    return storage.get("type") not in OF_EACH_INSTANCE
