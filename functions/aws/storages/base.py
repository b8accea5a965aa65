"""The interface between the functions and the AWS calls of a storage, with what holds for most types."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from aws.stack import network
from aws.stack.tags import as_mapping, is_ours
from matrix.storages.models import existing_id
from matrix.terms.documents.job import ExportedTo, Mount
from matrix.terms.documents.parts import Part
from matrix.terms.errors import FileSystemFailed


@dataclass(frozen=True)
class Existing:
    """A file system as its service lists it."""

    id: str
    tags: list[dict[str, str]]
    created_at: float  # epoch seconds


@dataclass(frozen=True)
class Refusal:
    """Reason why an existing file system cannot be measured as the matrix describes it, with a fix."""

    field: str
    value: object
    rule: str
    fix: str
    is_doubt: bool = False  # only a warning


@dataclass(frozen=True)
class Copy:
    """A backup, snapshot or recovery point; `of` is the id of the copied resource."""

    kind: str
    id: str
    of: str
    created_at: float  # epoch seconds
    delete: Callable[[], object]


def refuse_another(service: str, resource_id: str, tags: Iterable[Mapping[str, str]]) -> None:
    """Raise FileSystemFailed for a file system without the tags of this stack's runs, which the role may not delete."""
    if not is_ours(as_mapping(tags)):
        raise FileSystemFailed(f"{service} {resource_id} was made by no run of this stack: it is left as it is")


class CloudStorage(ABC):
    """Interface of a type of storage with AWS. `storage` is its document; `resource_id` is that of a file system."""

    @abstractmethod
    def mount(self, resource_id: str, storage: Part, /) -> Mount:
        """Return how an instance mounts it."""

    def device(self, storage: Part, /) -> Mount:
        """Return how an instance opens its own disks without a file system on them, if its traits allow that."""
        raise NotImplementedError(storage["type"])

    def refusals(self, storage: Part, account: str, /) -> Iterable[Refusal]:
        """Return reasons why what exists already cannot be measured. Creates and changes nothing."""
        return ()

    def zones_of(self, resource_id: str, /) -> list[str]:
        """Return the Availability Zones of an existing one. Empty: it is in all, or in the stack's first one."""
        return []

    def subnets(self, storage: Part, /) -> list[str]:
        """Return the stack's subnets in which instances may be; the first is in the zone of a storage in one zone."""
        existing = existing_id(storage)
        return network.subnets_from(self.zones_of(existing) if existing else ())

    def attach(self, storage: Part, instances: Sequence[str], /) -> None:
        """Attach what exists already to the instances of a fleet before they mount it."""

    def exported_to(self, resource_id: str, /) -> ExportedTo | None:
        """Return the bucket and prefix to which its files are exported. None: it does not export them."""
        return None


class FileSystem(CloudStorage):
    """A storage that exists apart from instances. Others, such as volumes, come and go with them.

    Every function may be called again after a crash or a time-out. Creation is idempotent by a token made from the run
    and the file system's name; deletion continues from the state that AWS reports. Both find a file system by that
    token and by tags, never by a record of the project, which may not have been written.
    """

    CREATION_LIMIT_S = 0
    DELETION_PROOF = ""
    """Proof that it is deleted, for the receipt: the service, the call and its answer."""
    PURPOSE = ""
    """Purpose of its launch if it is an EC2 instance, else ""."""

    COPIES = ""
    """Kind of the copies that AWS makes automatically, for rows and receipts. "" if it makes none."""
    COPIES_DELETION_PROOF = ""
    """Proof that a copy is deleted, for the receipt: the service, the call and its answer."""

    def copies(self, resource_ids: Sequence[str], /) -> Iterable[Copy]:
        """Return the copies of these file systems. Copies remain after a deletion and cost money."""
        return ()

    def in_use(self) -> Mapping[str, Callable[[], float]]:
        """Return functions that read the account's current use of each quota, by the quota's code."""
        return {}

    @abstractmethod
    def create(self, token: str, storage: Part, tags: list[dict[str, str]], run: str, name: str, zone: int, /) -> str:
        """Create the file system `name` of a run and return its id. With the same token, return the same id again.

        `zone` is the index of the stack's subnet, from 0. A storage with one file system uses the first subnet.
        """

    def find(self, token: str, /) -> str | None:
        """Return the id of the file system that was created with this token, None if there is none any more."""
        return None

    def is_ready(self, resource_id: str, storage: Part, /) -> bool:
        """Return whether instances can mount it. Raises FileSystemFailed if it will never become available."""
        return True

    @abstractmethod
    def delete(self, resource_id: str, /) -> bool:
        """Start or continue its deletion; return whether it is deleted."""

    def existing(self) -> Iterable[Existing]:
        """Return all of its kind in the account and region. Empty if it is an instance, which EC2 lists."""
        return ()

    def deleted(self, created_at: Mapping[str, float], /) -> Iterable[str]:
        """Return the ids that no longer exist. `created_at` has the epoch second of creation by id."""
        return set(created_at) - {listed.id for listed in self.existing()}
