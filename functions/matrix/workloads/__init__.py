"""The workloads that a matrix may name: one module each, with its fields, its rules, its points and what they take."""

from typing import Annotated

from pydantic import Field

from matrix.parts import Rule
from matrix.workloads import build, dd, fio, touch
from matrix.workloads.build import BuildWorkload
from matrix.workloads.dd import DdWorkload
from matrix.workloads.fio import FioWorkload
from matrix.workloads.touch import TouchWorkload

Workload = Annotated[TouchWorkload | DdWorkload | FioWorkload | BuildWorkload, Field(discriminator="type")]

MODELS: dict[str, type[TouchWorkload] | type[DdWorkload] | type[FioWorkload] | type[BuildWorkload]] = {
    "touch": TouchWorkload,
    "dd": DdWorkload,
    "fio": FioWorkload,
    "build": BuildWorkload,
}
RULES: dict[str, tuple[Rule, ...]] = {
    "touch": touch.RULES,
    "dd": dd.RULES,
    "fio": fio.RULES,
    "build": build.RULES,
}
