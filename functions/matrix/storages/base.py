"""The base class of the storages' models."""

import math
import re
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

from matrix.fields.types import InputModel, Name
from matrix.storages.metrics import NO_METRICS, Burst, StorageMetrics
from matrix.terms.charges import Amount, Charge, Query, Usage
from matrix.terms.documents.parts import StorageFields

# One thread or one TCP connection, conservatively: EC2 gives a single flow of packets at most 5 Gbit/s.
STREAM_BYTES_PER_S = 625e6
# Of an instance whose type is not known.
MOST_NETWORK_BYTES_PER_S = 20 * STREAM_BYTES_PER_S
# For a service with no throughput limit that a fleet reaches: the sum of 1,000 instances.
BEYOND_ANY_FLEET_BYTES_PER_S = 1_000 * MOST_NETWORK_BYTES_PER_S
USUAL_INSTANCE_TYPE = "m6i.large"
# The field by which a matrix names an existing EFS or FSx file system.
FILE_SYSTEM_ID = "fileSystemId"
# Written around a field's value, or instead of each of its values; a value without words is left out.
FieldWords = str | Mapping[Any, str]


@dataclass(frozen=True)
class Words:
    """The label and the name of a type of storage, and the words for its fields in reading order."""

    label: str
    name: str
    fields: Mapping[str, FieldWords] = field(default_factory=dict)
    # Names have less room than labels: shorter words for some fields.
    in_names: Mapping[str, FieldWords] = field(default_factory=dict)
    # Fields that are part of the name itself and not in its brackets: `EFS provisioned TLS (512 MiB/s)`.
    named_by: tuple[str, ...] = ()
    # The fields of ids, in their order.
    in_ids: Mapping[str, FieldWords] = field(default_factory=dict)
    # Values so common that labels, names and ids omit them.
    usual: Mapping[str, object] = field(default_factory=dict)
    # Values that names assume for fields that an old or a published storage lacks.
    supposed: Mapping[str, object] = field(default_factory=dict)

    def texts(self, storage: StorageFields, fields: Mapping[str, FieldWords]) -> dict[str, str]:
        """Write each of these fields that is set, and not as usual, in its words."""
        texts = {}
        for key, words in fields.items():
            value = storage.get(key)
            if value is not None and value != self.usual.get(key):
                texts[key] = words.format(value) if isinstance(words, str) else words.get(value, "")
        return {key: text for key, text in texts.items() if text}


@dataclass(frozen=True)
class CeilingWords:
    """Names of the two limits of a type of storage, and advice on how to raise them."""

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
    """Latency of an emulated storage for one block, without the transfer of its bytes, and limits of reads."""

    read_s: float
    write_s: float
    unit_bytes: int  # a larger block counts as several operations
    read_iops: float | None = None  # None: as many as writes
    read_bytes_per_s: float | None = None
    is_free_of_iops: bool = False  # its IOPS limit metadata only


class Limit(NamedTuple):
    """Bytes and requests of a second at the most."""

    bytes_per_s: float = math.inf
    requests_per_s: float = math.inf


class ServiceLimits(NamedTuple):
    """What AWS documents for all clients of a storage together, in its quickest region, or for each of them."""

    read: Limit = Limit()
    written: Limit = Limit()
    is_of_each_client: bool = False


# Of a prefix that S3 has not split yet: each client has its own (S3 user guide, performance).
OF_A_PREFIX = ServiceLimits(Limit(requests_per_s=5_500), Limit(requests_per_s=3_500), is_of_each_client=True)


@dataclass(frozen=True)
class AttachedVolumes:
    """The EBS volumes of one instance: their number, their total limits and the type of the instance."""

    instance_type: str
    count: int
    iops: float | None  # None for HDDs, whose operations AWS counts in MiB
    bytes_per_s: float
    is_provisioned: bool = False  # io1 or io2


class Ability(StrEnum):
    """Something that not every storage can do with files."""

    WRITE_ANYWHERE = "write anywhere"
    """Write at any place of a file, in any order, more than once, or to an existing file."""
    SYNC_MIDWAY = "sync midway"
    """Go on writing to a file after it was synchronised."""
    SYNC_NAMES = "sync names"
    """Wait, by fsync of a directory, until the names in it are stored."""
    ALLOCATE = "allocate"
    """Reserve the room of a file before it is written."""
    DIRECT_ANY_SIZE = "direct any size"
    """Read or write by O_DIRECT what is no multiple of a disk's sector."""
    RENAME = "rename"
    """Rename a file."""
    SEE_OTHERS = "see others"
    """See files that another instance has written."""
    EVERYTHING = "everything"
    """Every ability of a file system, such as links, permissions, renamed and empty directories.

    The need of a workload that runs unknown programs.
    """


@dataclass(frozen=True)
class Need:
    """An ability that a workload needs because of one field's value, and the fix: a value without that need."""

    ability: Ability
    field: str
    value: object
    fix: str


@dataclass(frozen=True)
class Quota:
    """A quota as Service Quotas names it.

    `default` is AWS's in most regions; None if it is not known, or if most accounts may have none before they request
    it.
    """

    service: str
    code: str
    name: str
    unit: str
    default: float | None = None


@dataclass(frozen=True)
class QuotaUse:
    """Use of a quota by one storage while it exists, in the quota's unit, and the fields that lower it."""

    quota: Quota
    amount: float
    lower: str = ""  # the fields to lower, as an imperative; empty if only fewer file systems help


@dataclass(frozen=True, kw_only=True)
class Traits:
    """Plain data of a type of storage, with what holds for most types."""

    words: Words
    create_latency_s: float
    """Seconds for one create of one thread."""
    sync_latency_s: float
    """Seconds of one small synchronous write, without the transfer of its bytes."""
    ceilings: CeilingWords = OTHER_CEILINGS
    metrics: StorageMetrics = NO_METRICS
    assumption: str = ""
    """Assumption of plans about it, in a sentence."""
    is_shared: bool = True
    """Whether all instances of a cell share it. If false, each instance has its own."""
    is_in_one_zone: bool = False
    """Whether it is in one Availability Zone, so that traffic from other zones is charged."""
    has_device: bool = False
    """Whether it is an empty disk that is made for the run, so that a workload may write to the device itself."""
    is_only_read: bool = False
    """Whether it has no file system, so that only `only_workloads` run on it."""
    keeps_objects: bool = False
    """Whether it stores objects and not files."""
    existing_fields: tuple[str, ...] = ()
    """Fields that name an existing resource, such as fileSystemId. Empty if only new ones can be measured."""
    most_instances: int | None = None
    """Largest fleet on an existing one. None: no limit."""
    opened_by: str = ""
    """What lets a run write to an existing one, such as `mayWrite true`. Empty if it is never or always allowed."""
    are_limits_published: bool = True
    """Whether AWS publishes its limits, so that charts can show them."""
    limits_count: str = ""
    """Operations that its published limits count, as the end of a clause, such as `, of writes`. Empty: all."""
    bursts_by: str = "type"
    """Field of the matrix that decides its burst credits."""
    is_billed_by_use: bool = False
    """Whether AWS charges for its bytes or requests, in addition to its hours."""
    read_latency_s: float = 0.0
    """Seconds of one read, without the transfer of its bytes. 0 if it does not limit a single thread."""
    stream_bytes_per_s: float = STREAM_BYTES_PER_S
    """Bytes per second that plans assume of one thread at most."""
    most_readers: int | None = None
    """Most threads of a fleet that can read it at the same time. None: no limit."""
    most_answer_bytes: int | None = None
    """Most bytes that one request can ask for. None: no limit of its own."""
    create_and_delete_s: float = 0.0
    """Expected seconds for creating and deleting it."""
    create_and_delete_most_s: float = 0.0
    """Most seconds that creating and deleting it may take."""
    quotas: tuple[Quota, ...] = ()
    """Quotas that count it, in addition to those of its instances and volumes."""
    tools: frozenset[str] = frozenset()
    """Programs that an instance needs to use it."""
    starter: Mapping[str, Any] = field(default_factory=dict)
    """Fields that `matrix new` writes beside the required ones, to make a first run useful."""
    usual_instance_type: str = USUAL_INSTANCE_TYPE
    """An instance type that can use it."""


class Storage(InputModel):
    """A storage in a matrix: what plans and functions ask of it, with what holds for most storages.

    A model states what has no value here, and what differs.
    """

    traits: ClassVar[Traits]

    type: str
    name: Name | None = None
    """Your own name for it, used in ids and tables."""

    @cached_property
    def slug(self) -> str:
        """Readable id: the type, and the fields of `Words.in_ids`."""
        texts = self.traits.words.texts(self.document, self.traits.words.in_ids).values()
        return "-".join([self.type, *(re.sub("[/_]", "-", text.strip("/")).lower() for text in texts)])

    @property
    def only_workloads(self) -> tuple[str, ...]:
        """Types of the only workloads that it supports. Empty if it is a file system, which supports all."""
        return ("read",) if self.traits.is_only_read else ()

    @property
    def lacks(self) -> Mapping[Ability, str]:
        """Abilities of a file system that it lacks, each with the rule that a plan shows."""
        return {} if self.traits.is_shared else {Ability.DIRECT_ANY_SIZE: "O_DIRECT takes whole sectors of a disk"}

    @property
    @abstractmethod
    def bandwidth_bytes_per_s(self) -> float:
        """Limit of the throughput in bytes per second. For a shared storage, of all clients together."""

    @property
    @abstractmethod
    def effective_iops(self) -> int:
        """Limit of the operations per second. For a shared storage, of all clients together."""

    @property
    def service_limits(self) -> ServiceLimits:
        """The most that AWS may let it do, which bounds what is billed by use. By default nothing is known."""
        return ServiceLimits()

    @property
    def create_latency_s(self) -> float:
        return self.traits.create_latency_s

    @property
    def sync_latency_s(self) -> float:
        return self.traits.sync_latency_s

    @property
    def read_latency_s(self) -> float:
        return self.traits.read_latency_s

    @property
    def block_times(self) -> BlockTimes | None:
        """Latencies of a block for emulation. None: the type cannot be emulated."""
        return None

    @property
    def bursts(self) -> list[Burst]:
        """Limits that burst credits raise for some time."""
        return []

    @property
    def cache_bytes(self) -> float:
        """Size in bytes of the server's memory or cache. 0: none."""
        return 0.0

    @property
    def paid_iops(self) -> int:
        """IOPS that are paid for, with those that come with it. 0: it has only these, or no such price."""
        return 0

    @property
    def merges_sequential(self) -> bool:
        """Whether its operations are those of its largest block, to which AWS merges sequential requests only."""
        return False

    @property
    def is_throughput_published(self) -> bool:
        """Whether AWS publishes a throughput limit that holds in every region."""
        return True

    @property
    def is_billed_by_use(self) -> bool:
        return self.traits.is_billed_by_use

    def metered_bytes(
        self, counted: Mapping[str, float], a_byte: tuple[float | None, float | None]
    ) -> tuple[Amount, Amount] | None:
        """Return (read, written) bytes as AWS bills them, from the mounts' counters. None if they did not count."""
        return None

    @property
    def only_in_its_zone(self) -> str | None:
        """Reason why an instance in another zone cannot mount it, as a clause. None if it can."""
        return None

    def unfit(self, instance_type: str) -> tuple[str, str] | None:
        """Return (reason, usable type) if an instance type cannot use it, else None."""
        return None

    def refused_in(self, region: str) -> tuple[str, str, str] | None:
        """Return (field, reason, fix) if AWS refuses it in a region and not in others, else None."""
        return None

    def refused_by_image(self, os: str) -> tuple[str, str] | None:
        """Return (reason, fix) if instances with this operating system cannot use it, else None."""
        return None

    @property
    def is_filled(self) -> bool:
        """Whether its instances find data on it that no workload of the run has written."""
        return self.existing_id is not None

    @property
    def loading_bytes_per_s(self) -> float:
        """Bytes per second at which data that are there from the start can be read for the first time."""
        return math.inf

    def bursts_keeping(self, gib: float) -> list[Burst]:
        """Return its burst limits when it stores `gib` GiB. The limits of some storages grow with the stored data."""
        return self.bursts

    @property
    def volumes(self) -> int:
        """Number of volumes of one instance. They are created, deleted and charged with it."""
        return 0

    def attached(self, instance_type: str) -> AttachedVolumes | None:
        """Return the volumes of a fleet's instance of this type, or of the storage's server. None: it has none."""
        return None

    @property
    def price_queries(self) -> list[Query]:
        """Queries for its products in AWS's price list. The answers replace the prices of prices.json."""
        return []

    def charges(self, usage: Usage) -> Iterable[Charge]:
        """Return the charges of a shared storage. Empty if only its volumes and instances cost money."""
        return ()

    def volume_charges(self, count: int, each_s: Amount) -> Iterable[Charge]:
        """Return the charges of `count` of its volumes that each exist for `each_s` seconds."""
        return ()

    @property
    def precondition_s(self) -> float:
        """Seconds that each instance needs to write its disks full before the first step. 0: it does not."""
        return 0.0

    @property
    def compressor(self) -> str | None:
        """Name of the compression of its data. None: not compressed."""
        return None

    @property
    def existing_id(self) -> str | None:
        """Id of the user's existing resource, which a run never tags or deletes. None: the run creates one."""
        return self.existing_id_in(self.document)

    @classmethod
    def existing_id_in(cls, document: StorageFields) -> str | None:
        """Return `existing_id` of a storage's document in a plan or a result."""
        return "/".join(document[field] for field in cls.traits.existing_fields if field in document) or None

    @classmethod
    def is_written_in(cls, document: StorageFields) -> bool:
        """Return whether a run writes to it (in its own folder, if the resource existed before) or only reads it."""
        return not cls.traits.is_only_read

    @property
    def is_beyond_security_groups(self) -> bool:
        """Whether no security group covers its endpoint, so that the stack must know the VPC's address range."""
        return False

    @property
    def least_zones(self) -> int:
        """Number of Availability Zones in which the stack must have subnets to create one."""
        return 1

    @property
    def offered_zones(self) -> Mapping[str, tuple[str, ...]] | None:
        """Ids of the only Availability Zones that offer it, by region. None: all zones."""
        return None

    @property
    def lacks_own_key(self) -> bool:
        """Whether a run creates it without the stack's key (KmsKeyArn), although AWS would encrypt it by one."""
        return False

    @property
    def gateway_service(self) -> str:
        """Service whose gateway endpoint takes its bytes past NAT gateways: `s3` or `s3express`. Empty: none."""
        return ""

    def gateway_bytes(self, usage: Usage) -> Amount:
        """Return the bytes between instances and `gateway_service`."""
        return usage.read_bytes.and_also(usage.written_bytes)

    @property
    def is_free_between_zones(self) -> bool:
        """Whether its price includes traffic between Availability Zones."""
        return False

    def capacity_gib(self, instance_type: str) -> float | None:
        """Return its capacity in GiB as one instance sees it. None: unlimited."""
        return None

    @classmethod
    def quota_uses(cls, document: StorageFields) -> Iterable[QuotaUse]:
        """Return the use of each of `quotas` by one that a run creates."""
        return ()

    @classmethod
    def volumes_of(cls, document: StorageFields, count: int) -> Iterable[tuple[int, StorageFields]]:
        """Return the volumes of a fleet of `count` instances and of its server: (number, fields of a volume)."""
        return ()

    @classmethod
    def server_type(cls, document: StorageFields) -> str | None:
        """Return the type of the instance that serves it. None if AWS serves it."""
        return None

    @classmethod
    def is_in_one_zone(cls, document: StorageFields) -> bool:
        return cls.traits.is_in_one_zone

    @classmethod
    def tools(cls, document: StorageFields) -> frozenset[str]:
        return cls.traits.tools
