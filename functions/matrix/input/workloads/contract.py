"""The interface of a workload model (`Workload`), and defaults for most models (`WorkloadModel`)."""

import math
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Protocol

from matrix.input.element import Element, ElementModel
from matrix.input.workloads.sweeps import Footprint, Params
from matrix.terms.documents.parts import Volume
from storages.contracts.abilities import Ability, Need
from storages.contracts.model import Storage


class Workload(Element, Protocol):
    """Interface of a workload in a matrix. mypy checks each model against it where cells are made of them."""

    primary_metric: ClassVar[str]
    """Its primary metric, except for open loops."""
    yields: ClassVar[frozenset[str]]
    """Its metrics in addition to duration_s. Some need a certain tool or direction."""
    tools: ClassVar[frozenset[str]]
    """Programs that it always needs. Those of a point's `tool` are in plan/needed_tools.py."""
    size_field: ClassVar[str]
    """Field that decides how much data it stores."""

    @property
    def populate_seconds(self) -> float:
        """Approximate seconds to fill its cache. 0: no cache."""
        ...

    @property
    def assumed_bytes_per_s(self) -> float:
        """Bytes per second, each way, that a plan assumes for each instance. 0: its fields determine its bytes."""
        ...

    @property
    def containers(self) -> tuple[str, ...]:
        """Container images that it runs in."""
        ...

    def work_volume(self, storage: Storage) -> Volume | None:
        """Return the extra volume of each instance for data outside of the storage. None: not needed."""
        ...

    @property
    def wants_device(self) -> bool:
        """Whether it writes to the raw device, which then gets no file system."""
        ...

    @property
    def wants_objects(self) -> bool:
        """Whether it requests objects, which a file system does not have."""
        ...

    @property
    def is_only_reading(self) -> bool:
        """Whether it only reads, so that its storage may be mounted read-only."""
        ...

    @property
    def wants_exports(self) -> bool:
        """Whether it waits until files are exported as objects to a bucket of the stack."""
        ...

    @property
    def writes_zeros(self) -> bool:
        """Whether one of its points writes zeros, which compression removes."""
        ...

    @property
    def number_of_points(self) -> int:
        """Number of points of its sweeps, without creating them."""
        ...

    @property
    def points_in_a_row(self) -> int:
        """Number of consecutive points that are phases of one piece of work and keep their order."""
        ...

    def needs(self) -> Iterable[Need]:
        """Return the abilities that it needs and that some storages lack."""
        ...

    def points(self) -> list[Params]:
        """Return the parameters of each point."""
        ...

    def footprint(self, params: Params, storage: Storage, instances: int) -> Footprint:
        """Return the expected time, bytes and requests of one instance for one step of `params`."""
        ...

    def can_be_emulated(self, params: Params) -> bool:
        """Return whether the agent's own engines run a point. Only these keep to an emulated storage's limits."""
        ...

    @classmethod
    def judged_by(cls, params: Params, workload: dict[str, Any]) -> str:
        """Return the primary metric of a point of a workload (its document)."""
        ...

    @classmethod
    def set_apart(cls, workload: Mapping[str, Any]) -> Params:
        """Return the fields of a workload (its document) that change the measurement without being sweeps."""
        ...


class WorkloadModel(ElementModel):
    """Defaults for the models of workloads."""

    tools: ClassVar[frozenset[str]] = frozenset()
    size_field: ClassVar[str] = "size"
    setting_apart: ClassVar[tuple[str, ...]] = ()
    """Fields that change the measurement without being sweeps. A point has them if they are not the default."""

    @classmethod
    def set_apart(cls, workload: Mapping[str, Any]) -> Params:
        """Return the values of `setting_apart` fields that differ from their default in a document."""
        fields = {name: cls.model_fields[name] for name in cls.setting_apart}
        values = {name: workload.get(field.alias or name) for name, field in fields.items()}
        return {name: value for name, value in values.items() if value not in (None, fields[name].default)}

    @property
    def populate_seconds(self) -> float:
        """It has no cache."""
        return 0.0

    @property
    def assumed_bytes_per_s(self) -> float:
        """Its fields determine its bytes."""
        return 0.0

    @property
    def containers(self) -> tuple[str, ...]:
        """It runs on the instance itself."""
        return ()

    def work_volume(self, storage: Storage) -> Volume | None:
        """Return None: the root volume is enough."""
        del storage
        return None

    @property
    def wants_device(self) -> bool:
        """It works on files."""
        return False

    @property
    def wants_objects(self) -> bool:
        """It works on files, or on the storage's replacement for them."""
        return False

    @property
    def is_only_reading(self) -> bool:
        """It writes its own data before reading it."""
        return False

    @property
    def wants_exports(self) -> bool:
        """It does not depend on exports of its files."""
        return False

    @property
    def writes_zeros(self) -> bool:
        """It writes incompressible data, or data of its own program."""
        return False

    def needs(self) -> Iterable[Need]:
        """Yield a whole file system, because the workload's exact needs are unknown."""
        kind: str = self.type  # type: ignore[attr-defined] # of the workload's own model
        yield Need(Ability.EVERYTHING, "type", kind, "")

    @property
    def number_of_points(self) -> int:
        """The product of its sweeps, which are its lists."""
        values = [getattr(self, name) for name in type(self).model_fields]
        return math.prod(len(value) for value in values if isinstance(value, list))

    @property
    def points_in_a_row(self) -> int:
        """Number of points that belong together: one, unless a model overrides it."""
        return 1

    def can_be_emulated(self, params: Params) -> bool:
        """Return False: other programs than our engines do it."""
        del params
        return False

    @classmethod
    def judged_by(cls, params: Params, workload: dict[str, Any]) -> str:
        """Return the primary metric of the workload, for each point."""
        del params, workload
        primary: str = cls.primary_metric  # type: ignore[attr-defined] # of the workload's own model
        return primary
