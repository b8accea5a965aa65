"""What a run, a plan and the checks ask of a workload, and the answer that most workloads give."""

import math
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

from matrix.fields.types import InputModel, Name
from matrix.input.workloads.sweeps import Footprint, Params
from matrix.storages.base import MOST_NETWORK_BYTES_PER_S, STREAM_BYTES_PER_S, Ability, Need, Storage
from matrix.terms.charges import metered_request_bytes
from matrix.terms.documents.parts import Volume

Way = Literal["read", "written"]


class Requests(NamedTuple):
    """Bytes that are moved one way, by so many requests, and what EFS meters beyond the bytes."""

    moved: float = 0.0
    number: float = 0.0
    padding: float = 0.0

    def and_also(self, other: "Requests") -> "Requests":
        """Return the sum of two."""
        return Requests(self.moved + other.moved, self.number + other.number, self.padding + other.padding)


class Most(NamedTuple):
    """Bytes and requests of a second at the most, of requests of a least size."""

    bytes_per_s: float
    requests_per_s: float
    least_request: int

    def moved(self, moved: float, seconds: float) -> Requests:
        """Return these bytes with the most requests that move them in this time."""
        number = min(self.requests_per_s * seconds, moved / self.least_request)
        return Requests(moved, number, number * (metered_request_bytes(self.least_request) - self.least_request))


@dataclass(frozen=True)
class Clients:
    """Instances that start together, and the bytes per second that each can move: 5 Gbit/s unless its type is known."""

    count: int
    most_bytes_per_s: float = STREAM_BYTES_PER_S
    limit_bytes_per_s: float = MOST_NETWORK_BYTES_PER_S
    """What each cannot exceed in one direction, though plans may expect less."""

    def sharing(self, storage: Storage) -> int:
        """Return how many of them share one storage."""
        return self.count if storage.traits.is_shared else 1

    def bytes_per_s(self, storage: Storage, threads: int = 1) -> float:
        """Return the bytes per second of each instance with so many threads: its share of the storage, or its own."""
        share = storage.bandwidth_bytes_per_s / self.sharing(storage)
        return min(share, self.most_bytes_per_s, threads * storage.traits.stream_bytes_per_s)

    def most(self, storage: Storage, way: Way, least_request: int, largest_request: float = math.inf) -> "Most":
        """Return what each may move one way in a second, by AWS's limits of storage and instances."""
        limits = storage.service_limits
        bytes_per_s, requests_per_s = limits.read if way == "read" else limits.written
        share = 1 if limits.is_of_each_client else self.sharing(storage)
        requests = min(requests_per_s / share, self.limit_bytes_per_s / least_request)
        moved = min(bytes_per_s / share, self.limit_bytes_per_s, requests * largest_request)
        return Most(moved, requests, least_request)

    def making_s(self, storage: Storage, own_bytes: float, shared_bytes: float, threads: int = 1) -> float:
        """Return the seconds until each has written its own bytes, and one of them those that all share."""
        own_s = own_bytes / self.bytes_per_s(storage, threads) if own_bytes else 0.0
        if not shared_bytes:
            return own_s
        return own_s + shared_bytes / Clients(1, self.most_bytes_per_s).bytes_per_s(storage, threads)


class Workload(InputModel):
    """A workload of a matrix."""

    assumption: ClassVar[str] = ""
    """Assumption of plans about it, in a sentence."""
    primary_metric: ClassVar[str]
    """Its primary metric, except for open loops."""
    yields: ClassVar[frozenset[str]]
    """Its metrics in addition to duration_s. Some need a certain tool or direction."""
    tools: ClassVar[frozenset[str]] = frozenset()
    """Programs that it always needs. Those of a point's `tool` are in plan/images.py."""
    size_field: ClassVar[str] = "size"
    """Field that decides how much data it stores."""
    operations_field: ClassVar[str] = "files"
    """Field that decides how many operations a step has."""
    setting_apart: ClassVar[tuple[str, ...]] = ()
    """Fields that change the measurement without being sweeps. A point has them if they are not the default."""

    type: str
    name: Name | None = None
    """Your own name for it, used in ids and tables."""

    @property
    def slug(self) -> str:
        """Readable id."""
        return self.name or self.type

    @property
    def size_path(self) -> str:
        """Path of the field that decides how much data it stores."""
        return self.size_field

    @abstractmethod
    def points(self) -> list[Params]:
        """Return the parameters of each point."""

    @abstractmethod
    def footprint(self, params: Params, storage: Storage, clients: Clients) -> Footprint:
        """Return the expected time, bytes and requests of one instance for one step of `params`."""

    def latencies_of(self, operation: str, params: Params, storage: Storage, clients: Clients) -> float:
        """Return how many latencies of an operation one instance measures in a step. 0: none; infinite: not known."""
        del operation, params, storage, clients
        return math.inf

    @classmethod
    def set_apart(cls, workload: Mapping[str, Any]) -> Params:
        """Return the values of `setting_apart` fields of a workload (its document) that differ from their default."""
        fields = {name: cls.model_fields[name] for name in cls.setting_apart}
        values = {name: workload.get(field.alias or name) for name, field in fields.items()}
        return {name: value for name, value in values.items() if value not in (None, fields[name].default)}

    @property
    def populate_seconds(self) -> float:
        """Approximate seconds to fill its cache. 0: no cache."""
        return 0.0

    @property
    def assumed_bytes_per_s(self) -> float:
        """Bytes per second, each way, that a plan assumes for each instance. 0: its fields determine its bytes."""
        return 0.0

    @property
    def containers(self) -> tuple[str, ...]:
        """Container images that it runs in."""
        return ()

    def work_volume(self, storage: Storage) -> Volume | None:
        """Return the extra volume of each instance for data outside of the storage. None: not needed."""
        del storage
        return None

    @property
    def moves_data(self) -> bool:
        """Whether it reads or writes contents, and does not only make, look at or delete empty files."""
        return True

    @property
    def wants_device(self) -> bool:
        """Whether it writes to the raw device, which then gets no file system."""
        return False

    @property
    def wants_objects(self) -> bool:
        """Whether it requests objects, which a file system does not have."""
        return False

    @property
    def is_only_reading(self) -> bool:
        """Whether it only reads, so that its storage may be mounted read-only."""
        return False

    @property
    def reads_of_others(self) -> tuple[str, Any] | None:
        """Field and value by which instances read what others of their fleet wrote."""
        return None

    @property
    def writes_zeros(self) -> bool:
        """Whether one of its points writes zeros, which compression removes."""
        return False

    def needs(self) -> Iterable[Need]:
        """Return the abilities that it needs and that some storages lack. Default: a whole file system."""
        yield Need(Ability.EVERYTHING, "type", self.type, "")

    @property
    def number_of_points(self) -> int:
        """Number of points of its sweeps, which are its lists, without creating them."""
        values = [getattr(self, name) for name in type(self).model_fields]
        return math.prod(len(value) for value in values if isinstance(value, list))

    @property
    def points_in_a_row(self) -> int:
        """Number of consecutive points that are phases of one piece of work and keep their order."""
        return 1

    def can_be_emulated(self, params: Params) -> bool:
        """Return whether the agent's own engines run a point. Only these keep to an emulated storage's limits."""
        del params
        return False

    @classmethod
    def judged_by(cls, params: Params, workload: dict[str, Any]) -> str:
        """Return the primary metric of a point of a workload (its document)."""
        del params, workload
        return cls.primary_metric
