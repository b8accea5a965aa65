"""The interface between the functions and a file system's AWS calls."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from matrix.terms.documents.job import Mount
from matrix.terms.documents.parts import Part


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


class FileSystem(Protocol):
    """Interface of a file system's `cloud` module. `storage` is its document, `resource_id` the id from `create`."""

    CREATION_LIMIT_S: int
    SEEN_GONE: str
    """Proof that it is deleted, for the receipt: the service, the call and its answer."""
    PURPOSE: str
    """Purpose of its launch if it is an EC2 instance, else ""."""

    COPIES: str
    """Kind of the copies that AWS makes automatically, for rows and receipts. "" if it makes none."""
    COPIES_SEEN_GONE: str
    """Proof that a copy is deleted, for the receipt: the service, the call and its answer."""

    def copies(self, resource_ids: Sequence[str], /) -> Iterable[Copy]:
        """Return the copies of these file systems. Copies remain after a deletion and cost money."""
        ...

    def in_use(self) -> Mapping[str, Callable[[], float]]:
        """Return functions that read the account's current use of each quota, by the quota's code."""
        ...

    def create(self, token: str, storage: Part, tags: list[dict[str, str]], run: str, name: str, zone: int, /) -> str:
        """Create the file system `name` of a run and return its id. With the same token, return the same id again.

        `zone` is the index of the stack's subnet, from 0. A storage with one file system uses the first subnet.
        """
        ...

    def find(self, token: str, /) -> str | None:
        """Return the id of the file system that was created with this token, None if there is none any more."""
        ...

    def is_ready(self, resource_id: str, storage: Part, /) -> bool:
        """Return whether instances can mount it. Raises FileSystemFailed if it will never become available."""
        ...

    def refusals(self, storage: Part, /) -> Iterable[Refusal]:
        """Return reasons why the storage's existing file system cannot be measured. Creates and changes nothing."""
        ...

    def mount(self, resource_id: str, storage: Part, /) -> Mount:
        """Return how an instance mounts it."""
        ...

    def delete(self, resource_id: str, /) -> bool:
        """Start or continue its deletion; return whether it is deleted."""
        ...

    def existing(self) -> Iterable[Existing]:
        """Return all of its kind in the account and region. Empty if it is an instance, which EC2 lists."""
        ...

    def gone(self, created_at: Mapping[str, float], /) -> Iterable[str]:
        """Return the ids that no longer exist. `created_at` has the epoch second of creation by id."""
        ...
