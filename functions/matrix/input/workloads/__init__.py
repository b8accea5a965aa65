"""The workloads of a matrix, one module each: fields, rules, points, and expected time and bytes."""

from typing import Annotated, cast

from pydantic import Field

from matrix.fields.types import models_by_type
from matrix.input.workloads.build import BuildWorkload
from matrix.input.workloads.command import CommandWorkload
from matrix.input.workloads.contract import Workload as Workload
from matrix.input.workloads.dd import DdWorkload
from matrix.input.workloads.delete import DeleteWorkload
from matrix.input.workloads.fio import FioWorkload
from matrix.input.workloads.metadata import MetadataWorkload
from matrix.input.workloads.objects import ObjectsWorkload
from matrix.input.workloads.read import ReadWorkload
from matrix.input.workloads.touch import TouchWorkload
from matrix.input.workloads.transfer import TransferWorkload
from matrix.input.workloads.yocto import YoctoWorkload

AnyWorkload = Annotated[
    TouchWorkload
    | MetadataWorkload
    | DdWorkload
    | FioWorkload
    | ReadWorkload
    | BuildWorkload
    | CommandWorkload
    | TransferWorkload
    | DeleteWorkload
    | YoctoWorkload
    | ObjectsWorkload,
    Field(discriminator="type"),
]  # fmt: skip

MODELS = cast("dict[str, type[Workload]]", models_by_type(AnyWorkload))
