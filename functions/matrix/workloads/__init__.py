"""The workloads that a matrix may name: one module each, with its fields, its rules, its points and what they take."""

from typing import Annotated

from pydantic import Field

from matrix.parts import Rule
from matrix.workloads import build, dd, fio, touch, transfer
from matrix.workloads.build import BuildWorkload
from matrix.workloads.dd import DdWorkload
from matrix.workloads.fio import FioWorkload
from matrix.workloads.touch import TouchWorkload
from matrix.workloads.transfer import TransferWorkload

Workload = Annotated[
    TouchWorkload | DdWorkload | FioWorkload | BuildWorkload | TransferWorkload, Field(discriminator="type")
]

MODELS: dict[
    str,
    type[TouchWorkload] | type[DdWorkload] | type[FioWorkload] | type[BuildWorkload] | type[TransferWorkload],
] = {
    "touch": TouchWorkload,
    "dd": DdWorkload,
    "fio": FioWorkload,
    "build": BuildWorkload,
    "transfer": TransferWorkload,
}
RULES: dict[str, tuple[Rule, ...]] = {
    "touch": touch.RULES,
    "dd": dd.RULES,
    "fio": fio.RULES,
    "build": build.RULES,
    "transfer": transfer.RULES,
}
