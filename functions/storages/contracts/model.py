"""What the model of a storage offers to the rest of Storage Matrix, and what most of them have in common."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

from matrix.input.element import Element, ElementModel
from matrix.terms.charges import Amount, Charge, Query, Usage
from matrix.terms.documents.parts import StorageFields
from storages.contracts.abilities import Ability
from storages.contracts.bursts import Burst
from storages.contracts.demand import Demand
from storages.contracts.quotas import Quota, QuotaUse

# The field by which a matrix names an EFS or FSx that exists.
FILE_SYSTEM_ID = "fileSystemId"
# Written around a field's value, or instead of each of its values; a value without words is left out.
FieldWords = str | Mapping[Any, str]


@dataclass(frozen=True)
class Words:
    """What a type of storage is called in labels and in names, and the words of its fields in reading order."""

    label: str
    name: str
    fields: Mapping[str, FieldWords] = field(default_factory=dict)
    # Names have less room than labels: shorter words of some fields.
    in_names: Mapping[str, FieldWords] = field(default_factory=dict)
    # Fields that are part of the name itself and not in its brackets: `EFS provisioned TLS (512 MiB/s)`.
    named_by: tuple[str, ...] = ()
    # Values so usual that neither labels nor names mention them.
    usual: Mapping[str, object] = field(default_factory=dict)
    # What names say of fields that an old or a published storage lacks.
    supposed: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class CeilingWords:
    """What a type of storage calls its two ceilings, and what raises them."""

    operations: str
    throughput: str
    more_operations: str
    more_throughput: str
    is_throughput_bounded: bool = True


OTHER_CEILINGS = CeilingWords(
    "storage IOPS", "storage throughput", "take a storage with more IOPS", "take a faster storage"
)


@dataclass(frozen=True)
class BlockTimes:
    """How long an emulated storage takes for one block, beside its bytes."""

    read_s: float
    write_s: float
    unit_bytes: int  # a larger block counts as several operations


@dataclass(frozen=True)
class AttachedVolumes:
    """The EBS volumes of an instance: what they can do together, and the type of the instance that has them."""

    instance_type: str
    count: int
    iops: float | None  # None of HDDs, whose operations AWS counts in MiB
    bytes_per_s: float


class Storage(Element, Protocol):
    """What a storage of a matrix offers. mypy checks each model against it where cells are made of them."""

    is_shared: ClassVar[bool]
    """Whether the instances of a cell share it; else each has its own."""
    has_device: ClassVar[bool]
    """Whether it is a disk of an instance, made for the run and empty, that can be written without a file system."""
    is_only_read: ClassVar[bool]
    """Whether it is no file system, so that no other workload can be done on it than `only_workloads`."""
    keeps_objects: ClassVar[bool]
    """Whether it keeps objects, and no files."""
    exports_objects: ClassVar[bool]
    """Whether its files become objects of a bucket of the stack, after a while."""
    existing_fields: ClassVar[tuple[str, ...]]
    """The fields by which a matrix names one that is there already; none where it can't."""
    most_instances: ClassVar[int | None]
    """Of how many instances a fleet on one that exists may be; None where nothing bounds it."""
    are_limits_published: ClassVar[bool]
    """Whether AWS says what it can do, so that a chart may show that."""
    bursts_by: ClassVar[str]
    """The field of a matrix that decides what its credits are."""
    starter: ClassVar[Mapping[str, Any]]
    """What `matrix new` writes beside the required fields, so that a first run measures something worth knowing."""
    opened_by: ClassVar[str]
    """The field by which a matrix lets a run write to one that exists; empty where it never is, or always."""
    usual_instance_type: ClassVar[str]
    """An instance type that it can be used from."""
    most_readers: ClassVar[int | None]
    """How many threads of a fleet may read it at once; None where nothing refuses them."""
    most_answer_bytes: ClassVar[int | None]
    """Bytes that one request may ask for; None where there is no limit of its own."""
    limits_count: ClassVar[str]
    """What its published limits count, as the end of a clause: `, of writes`; empty where they count everything."""
    create_and_delete_s: ClassVar[float]
    """Seconds that creating and deleting it takes."""
    create_and_delete_most_s: ClassVar[float]
    """Seconds that creating and deleting it may take."""
    words: ClassVar[Words]
    ceilings: ClassVar[CeilingWords]

    @property
    def only_workloads(self) -> tuple[str, ...]:
        """The types of the only workloads that can be done on it; none where it is a file system."""
        ...

    @property
    def lacks(self) -> Mapping[Ability, str]:
        """What of a file system it lacks, each with the rule that a plan shows."""
        ...

    @property
    def bandwidth_bytes_per_s(self) -> float:
        """Bytes per second: of a shared storage for all clients together."""
        ...

    @property
    def effective_iops(self) -> int:
        """Operations per second: of a shared storage for all clients together."""
        ...

    @property
    def create_latency_s(self) -> float:
        """Seconds that one create takes one thread."""
        ...

    @property
    def sync_latency_s(self) -> float:
        """Seconds that one small synchronous write takes beside its bytes."""
        ...

    @property
    def read_latency_s(self) -> float:
        """Seconds that one read takes beside its bytes, where that is what bounds one thread; else 0."""
        ...

    @property
    def block_times(self) -> BlockTimes | None:
        """How an emulated one times its blocks; None for a type that cannot be emulated."""
        ...

    @property
    def bursts(self) -> list[Burst]:
        """Its limits that credits raise for a while."""
        ...

    @property
    def cache_bytes(self) -> float:
        """Bytes that its server answers from memory or a cache of its own; 0 where there is none."""
        ...

    @property
    def is_throughput_published(self) -> bool:
        """Whether AWS says a throughput that binds it everywhere."""
        ...

    @property
    def is_billed_by_use(self) -> bool:
        """Whether its bytes or requests cost money, beside the time that it exists."""
        ...

    def metered_bytes(self, use: Mapping[str, float]) -> tuple[float, float] | None:
        """Return bytes read and written per second as AWS bills them; None where the mount did not count them."""
        ...

    @property
    def only_in_its_zone(self) -> str | None:
        """Why an instance of another zone cannot mount it, as a clause; None where it can."""
        ...

    def unfit(self, instance_type: str) -> tuple[str, str] | None:
        """Return why it cannot be used from an instance type, and a type from which it can; None where it can."""
        ...

    def refused_by_image(self, os: str) -> tuple[str, str] | None:
        """Return why instances with this system cannot use it, and a way out; None where they can."""
        ...

    def bursts_keeping(self, gib: float) -> list[Burst]:
        """Return its limits that credits raise once it keeps so much; limits of some storages grow with that."""
        ...

    @property
    def volumes(self) -> int:
        """Volumes of one instance, which come and go with it and have a price of their own."""
        ...

    def attached(self, instance_type: str) -> AttachedVolumes | None:
        """Return the volumes of an instance of a fleet of this type, or of its server; None where it has none."""
        ...

    @classmethod
    def fitting(cls, demand: Demand) -> Iterable["Storage"]:
        """Return the configurations of the type that come closest to a demand and carry it.

        Beside them those whose credits may carry it for a while; none where the type cannot.
        """
        ...

    @property
    def price_queries(self) -> list[Query]:
        """Its products in AWS's price list, whose prices of today take the place of those of prices.json."""
        ...

    @property
    def offer_queries(self) -> list[Query]:
        """Products of AWS's price list that a region has if the storage is offered there."""
        ...

    def charges(self, usage: Usage) -> Iterable[Charge]:
        """Return what a shared one is charged for; nothing where only volumes and instances cost."""
        ...

    def volume_charges(self, count: int, each_s: Amount) -> Iterable[Charge]:
        """Return what `count` of its volumes are charged that each exist `each_s`."""
        ...

    @property
    def precondition_s(self) -> float:
        """Seconds that each instance writes its disks all over before the first step; 0 if it does not."""
        ...

    @property
    def compressor(self) -> str | None:
        """What compresses its data; None if nothing does."""
        ...

    @property
    def existing_id(self) -> str | None:
        """Id of the one that is there already and is somebody's own: nothing is made, tagged or deleted."""
        ...

    @classmethod
    def existing_id_in(cls, document: StorageFields) -> str | None:
        """Return the same of a storage as plan and results describe it."""
        ...

    @classmethod
    def is_written_in(cls, document: StorageFields) -> bool:
        """Return whether a run writes to it, on one that exists in a folder of its own; else it is only read."""
        ...

    @property
    def is_beyond_security_groups(self) -> bool:
        """Whether its endpoint is held by no security group, so that the stack must know the addresses of the VPC."""
        ...

    @property
    def least_zones(self) -> int:
        """In how many Availability Zones the stack must have subnets for one of it to be made."""
        ...

    @property
    def offered_zones(self) -> Mapping[str, tuple[str, ...]] | None:
        """The ids of the only Availability Zones where AWS makes one, by region; None where it does in all."""
        ...

    @property
    def gateway_service(self) -> str:
        """The service whose gateway endpoint subnets without internet need for it; empty where they need none."""
        ...

    @property
    def is_free_between_zones(self) -> bool:
        """Whether its price includes the traffic between Availability Zones."""
        ...

    def room_gib(self, instance_type: str) -> float | None:
        """Return the GiB that one instance sees of it; None where there is no end to it."""
        ...

    quotas: ClassVar[tuple[Quota, ...]]
    """The quotas that count it, beside those of its instances and volumes."""

    @classmethod
    def quota_uses(cls, document: StorageFields) -> Iterable[QuotaUse]:
        """Return how much of `quotas` one that a run makes takes."""
        ...

    @classmethod
    def volumes_of(cls, document: StorageFields, count: int) -> Iterable[tuple[int, StorageFields]]:
        """Return the volumes of a fleet of `count`, its server's too: how many, each as a matrix describes one."""
        ...

    @classmethod
    def server_type(cls, document: StorageFields) -> str | None:
        """Return the type of the instance that serves it; None where it is no instance of the account."""
        ...

    @classmethod
    def is_in_one_zone(cls, document: StorageFields) -> bool:
        """Return whether such a storage lives in one Availability Zone, from which others are reached at a price."""
        ...

    @classmethod
    def tools(cls, document: StorageFields) -> frozenset[str]:
        """Return the programs that an instance needs to get at such a storage."""
        ...

    @classmethod
    def tools_in_folder(cls, document: StorageFields) -> frozenset[str]:
        """Return which of them are also needed where the local cloud plays it, which mounts nothing."""
        ...


class StorageModel(ElementModel):
    """What holds for a storage unless its own model says otherwise."""

    has_device: ClassVar[bool] = False
    is_only_read: ClassVar[bool] = False
    keeps_objects: ClassVar[bool] = False
    exports_objects: ClassVar[bool] = False
    existing_fields: ClassVar[tuple[str, ...]] = ()
    most_instances: ClassVar[int | None] = None
    are_limits_published: ClassVar[bool] = True
    bursts_by: ClassVar[str] = "type"
    starter: ClassVar[Mapping[str, Any]] = {}
    opened_by: ClassVar[str] = ""
    usual_instance_type: ClassVar[str] = "m6i.large"
    most_readers: ClassVar[int | None] = None
    most_answer_bytes: ClassVar[int | None] = None
    limits_count: ClassVar[str] = ""
    quotas: ClassVar[tuple[Quota, ...]] = ()

    @property
    def only_workloads(self) -> tuple[str, ...]:
        """It is a file system, or our own engine reads it."""
        return ("read",) if self.is_only_read else ()

    @property
    def lacks(self) -> Mapping[Ability, str]:
        """Nothing."""
        return {}

    @property
    def read_latency_s(self) -> float:
        """Bandwidth and IOPS bound its reads first."""
        return 0.0

    @property
    def block_times(self) -> BlockTimes | None:
        """It cannot be emulated."""
        return None

    @property
    def bursts(self) -> list[Burst]:
        """It is always as fast."""
        return []

    @property
    def cache_bytes(self) -> float:
        """It has no server with a cache."""
        return 0.0

    @property
    def is_throughput_published(self) -> bool:
        """AWS says what it gives."""
        return True

    @property
    def is_billed_by_use(self) -> bool:
        """It costs by the time that it exists."""
        return False

    def metered_bytes(self, use: Mapping[str, float]) -> tuple[float, float] | None:
        """Return None: the kernel does not count what AWS bills."""
        del use
        return None

    @property
    def only_in_its_zone(self) -> str | None:
        """Any instance of the VPC can use it."""
        return None

    def unfit(self, instance_type: str) -> tuple[str, str] | None:
        """Return None: any type will do."""
        del instance_type
        return None

    def refused_by_image(self, os: str) -> tuple[str, str] | None:
        """Return None: each image has what it takes, or can install it."""
        del os
        return None

    def bursts_keeping(self, gib: float) -> list[Burst]:
        """Return its bursts: they do not depend on what it keeps."""
        del gib
        return self.bursts

    @property
    def volumes(self) -> int:
        """It has none."""
        return 0

    def attached(self, instance_type: str) -> AttachedVolumes | None:
        """Return None: it is no volume."""
        del instance_type
        return None

    @classmethod
    def fitting(cls, demand: Demand) -> Iterable["Storage"]:
        """Return none: it does not last, or is made for something else."""
        del demand
        return ()

    @property
    def price_queries(self) -> list[Query]:
        """It is no product of its own."""
        return []

    @property
    def offer_queries(self) -> list[Query]:
        """Those that it is priced by."""
        return self.price_queries

    def charges(self, usage: Usage) -> Iterable[Charge]:
        """Return none: it costs no more than its instances and volumes."""
        del usage
        return ()

    def volume_charges(self, count: int, each_s: Amount) -> Iterable[Charge]:
        """Return none: it has no volumes."""
        del count, each_s
        return ()

    @property
    def precondition_s(self) -> float:
        """It is measured as it is."""
        return 0.0

    @property
    def compressor(self) -> str | None:
        """Nothing compresses its data."""
        return None

    @property
    def existing_id(self) -> str | None:
        """What its fields name together."""
        return self.existing_id_in(self.document)

    @classmethod
    def existing_id_in(cls, document: StorageFields) -> str | None:
        """Return what its fields name together, None where none does: it is made for the run."""
        return "/".join(document[field] for field in cls.existing_fields if field in document) or None

    @classmethod
    def is_written_in(cls, document: StorageFields) -> bool:
        """Return True, but of what is no file system."""
        del document
        return not cls.is_only_read

    @property
    def is_beyond_security_groups(self) -> bool:
        """Its endpoint is in a security group of the stack."""
        return False

    @property
    def least_zones(self) -> int:
        """It is made in one subnet, or in each that there is."""
        return 1

    @property
    def offered_zones(self) -> Mapping[str, tuple[str, ...]] | None:
        """Return None: AWS makes it in each zone."""
        return None

    @property
    def gateway_service(self) -> str:
        """It has an address in its subnets, or that of S3 serves it."""
        return ""

    @property
    def is_free_between_zones(self) -> bool:
        """Traffic between zones is billed."""
        return False

    def room_gib(self, instance_type: str) -> float | None:
        """Return None: there is no end to it."""
        del instance_type
        return None

    @classmethod
    def quota_uses(cls, document: StorageFields) -> Iterable[QuotaUse]:
        """Return none: no quota counts it."""
        del document
        return ()

    @classmethod
    def volumes_of(cls, document: StorageFields, count: int) -> Iterable[tuple[int, StorageFields]]:
        """Return none: it has no volumes of the account."""
        del document, count
        return ()

    @classmethod
    def server_type(cls, document: StorageFields) -> str | None:
        """Return None: AWS serves it."""
        del document
        return None

    @classmethod
    def is_in_one_zone(cls, document: StorageFields) -> bool:
        """Return False: it is in each zone, or where its instance is."""
        del document
        return False

    @classmethod
    def tools(cls, document: StorageFields) -> frozenset[str]:
        """Return none: the agent gets at it by itself."""
        del document
        return frozenset()

    @classmethod
    def tools_in_folder(cls, document: StorageFields) -> frozenset[str]:
        """Return none: a folder is neither made nor mounted."""
        del document
        return frozenset()
