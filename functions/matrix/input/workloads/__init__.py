"""The workloads that a matrix may name: one module each, with its fields, its rules, its points and what they take."""

from typing import Annotated

from pydantic import Field

from matrix.input.fields import models_by_type
from matrix.input.part import Rule
from matrix.input.workloads import build, dd, fio, instance_throughput, read, touch, transfer, yocto
from matrix.input.workloads.build import BuildWorkload
from matrix.input.workloads.dd import DdWorkload
from matrix.input.workloads.fio import FioWorkload
from matrix.input.workloads.instance_throughput import InstanceThroughputWorkload
from matrix.input.workloads.read import ReadWorkload
from matrix.input.workloads.touch import TouchWorkload
from matrix.input.workloads.transfer import TransferWorkload
from matrix.input.workloads.yocto import YoctoWorkload

Workload = Annotated[
    TouchWorkload
    | DdWorkload
    | FioWorkload
    | ReadWorkload
    | BuildWorkload
    | TransferWorkload
    | YoctoWorkload
    | InstanceThroughputWorkload,
    Field(discriminator="type"),
]  # fmt: skip

MODELS = models_by_type(Workload)
RULES: dict[str, tuple[Rule, ...]] = {
    "touch": touch.RULES,
    "dd": dd.RULES,
    "fio": fio.RULES,
    "read": read.RULES,
    "build": build.RULES,
    "transfer": transfer.RULES,
    "yocto": yocto.RULES,
    "instance-throughput": instance_throughput.RULES,
}


def populate_s(workload: Workload) -> float:
    """Return the seconds that filling the workload's cache takes, about; 0 if it has none to fill."""
    return getattr(workload, "populate_seconds", 0.0)
