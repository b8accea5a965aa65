"""What the model of a workload offers to the rest of Storage Matrix, and what most of them have in common."""

import math
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Protocol

from matrix.input.element import Element, ElementModel
from matrix.input.workloads.sweeps import Footprint, Params
from matrix.terms.documents.parts import Volume
from storages.contracts.abilities import Ability, Need
from storages.contracts.model import Storage


class Workload(Element, Protocol):
    """What a workload of a matrix offers. mypy checks each model against it where cells are made of them."""

    primary_metric: ClassVar[str]
    """The metric that it is judged by, of an open loop apart."""
    yields: ClassVar[frozenset[str]]
    """Its metrics besides duration_s; some need a certain tool or direction."""
    tools: ClassVar[frozenset[str]]
    """The programs that it always needs; what `tool` of a point needs is in plan/needed_tools.py."""
    size_field: ClassVar[str]
    """The field that says how much it keeps on the storage."""

    @property
    def populate_seconds(self) -> float:
        """Seconds that filling its cache takes, about; 0 if it has none to fill."""
        ...

    @property
    def containers(self) -> tuple[str, ...]:
        """The container images that it runs in."""
        ...

    def work_volume(self, storage: Storage) -> Volume | None:
        """Return the volume that each instance has for what it does beside the storage; None if it needs none."""
        ...

    @property
    def wants_device(self) -> bool:
        """Whether it writes the disk itself, on which no file system is made."""
        ...

    @property
    def wants_objects(self) -> bool:
        """Whether it asks for objects, which a file system has not."""
        ...

    @property
    def is_only_reading(self) -> bool:
        """Whether it writes nothing to its storage, which may then be mounted read-only."""
        ...

    @property
    def wants_exports(self) -> bool:
        """Whether it waits for files to become objects of a bucket of the stack."""
        ...

    @property
    def writes_zeros(self) -> bool:
        """Whether any of its points writes zeros, which a compressor makes nothing of."""
        ...

    @property
    def number_of_points(self) -> int:
        """How many points its sweeps make, without making them."""
        ...

    @property
    def points_in_a_row(self) -> int:
        """How many of its points, one after another, are phases of one piece of work, measured in their order."""
        ...

    def needs(self) -> Iterable[Need]:
        """Return what it needs of a storage that not every storage can do."""
        ...

    def points(self) -> list[Params]:
        """Return the parameters of each point."""
        ...

    def footprint(self, params: Params, storage: Storage, instances: int) -> Footprint:
        """Return what one instance is expected to take for one step of `params`."""
        ...

    def can_be_emulated(self, params: Params) -> bool:
        """Return whether the agent's own engines do a point, which alone keep to an emulated storage's speed."""
        ...

    @classmethod
    def judged_by(cls, params: Params, workload: dict[str, Any]) -> str:
        """Return the metric that a point of a workload (its document) is judged by."""
        ...

    @classmethod
    def set_apart(cls, workload: Mapping[str, Any]) -> Params:
        """Return what of a workload (its document) is another measurement, and no value of a sweep: in each point."""
        ...


class WorkloadModel(ElementModel):
    """What holds for a workload unless its own model says otherwise."""

    tools: ClassVar[frozenset[str]] = frozenset()
    size_field: ClassVar[str] = "size"
    setting_apart: ClassVar[tuple[str, ...]] = ()
    """Fields that change what is measured and are no sweep. They stand in a point where they are not the default."""

    @classmethod
    def set_apart(cls, workload: Mapping[str, Any]) -> Params:
        """Return its fields that change what is measured, as far as a document has other values than the default."""
        fields = {name: cls.model_fields[name] for name in cls.setting_apart}
        values = {name: workload.get(field.alias or name) for name, field in fields.items()}
        return {name: value for name, value in values.items() if value not in (None, fields[name].default)}

    @property
    def populate_seconds(self) -> float:
        """It has no cache."""
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
        """It works on files, or on what a storage has in their place."""
        return False

    @property
    def is_only_reading(self) -> bool:
        """It writes what it reads by itself."""
        return False

    @property
    def wants_exports(self) -> bool:
        """What becomes of its files elsewhere is nothing to it."""
        return False

    @property
    def writes_zeros(self) -> bool:
        """It writes what cannot be compressed, or what its own program makes."""
        return False

    def needs(self) -> Iterable[Need]:
        """Yield a whole file system: nobody has looked what of it the workload does not need."""
        kind: str = self.type  # type: ignore[attr-defined] # of the workload's own model
        yield Need(Ability.EVERYTHING, "type", kind, "")

    @property
    def number_of_points(self) -> int:
        """The product of its sweeps, which are its lists."""
        values = [getattr(self, name) for name in type(self).model_fields]
        return math.prod(len(value) for value in values if isinstance(value, list))

    @property
    def points_in_a_row(self) -> int:
        """Each of its points stands for itself."""
        return 1

    def can_be_emulated(self, params: Params) -> bool:
        """Return False: other programs than our engines do it."""
        del params
        return False

    @classmethod
    def judged_by(cls, params: Params, workload: dict[str, Any]) -> str:
        """Return the primary metric, whatever the point."""
        del params, workload
        primary: str = cls.primary_metric  # type: ignore[attr-defined] # of the workload's own model
        return primary
