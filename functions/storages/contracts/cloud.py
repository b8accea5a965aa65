"""What the module of a file system offers to the functions."""

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
    """Why a file system that exists cannot be measured as the matrix describes it, and what to do about it."""

    field: str
    value: object
    rule: str
    fix: str
    is_doubt: bool = False  # only a warning


@dataclass(frozen=True)
class Copy:
    """A backup, snapshot or recovery point; `of` is what it is a copy of."""

    kind: str
    id: str
    of: str
    created_at: float  # epoch seconds
    delete: Callable[[], object]


class FileSystem(Protocol):
    """What the module of a file system offers. `storage` is the matrix's, `resource_id` what `create` returned."""

    CREATION_LIMIT_S: int
    SEEN_GONE: str
    """Which answer of which service says that it is gone, in the words of the receipt."""
    PURPOSE: str
    """What its row is kept with: "" for a resource of its own, or what the instance that it is was launched for."""

    COPIES: str
    """Kind of the copies that AWS makes of it by itself, in rows and receipts; "" where it makes none."""
    COPIES_SEEN_GONE: str
    """Which answer of which service says that a copy is gone, in the words of the receipt."""

    def copies(self, resource_ids: Sequence[str], /) -> Iterable[Copy]:
        """Return the copies of these file systems. They outlive them and cost money."""
        ...

    def in_use(self) -> Mapping[str, Callable[[], float]]:
        """Return how much the whole account uses of each quota that counts it now, by the quota's code."""
        ...

    def create(self, token: str, storage: Part, tags: list[dict[str, str]], run: str, name: str, zone: int, /) -> str:
        """Create the file system `name` of a run, or find the one that this token made before; return its id.

        `zone` counts the stack's subnets, from 0: that of a file system of which a storage has only one is the first.
        """
        ...

    def find(self, token: str, /) -> str | None:
        """Return the id of the one that this token made, None where there is none (any more)."""
        ...

    def is_ready(self, resource_id: str, storage: Part, /) -> bool:
        """Say whether instances can mount it. Raises FileSystemFailed where they never will."""
        ...

    def refusals(self, storage: Part, /) -> Iterable[Refusal]:
        """Return why the one that the storage names as existing cannot be measured. Nothing is made or changed."""
        ...

    def is_lent(self, storage: Part, /) -> bool:
        """Say whether the local cloud lends a folder in its place; what it does not lend, it has itself."""
        ...

    def mount(self, resource_id: str, storage: Part, /) -> Mount:
        """Return how an instance gets at it."""
        ...

    def delete(self, resource_id: str, /) -> bool:
        """Take its deletion one step further; say whether it is gone."""
        ...

    def existing(self) -> Iterable[Existing]:
        """Return those of the account and region. Empty for what is found with its instances."""
        ...

    def gone(self, created_at: Mapping[str, float], /) -> Iterable[str]:
        """Return which of these ids, each with the epoch second of its creation, do not exist any more."""
        ...
