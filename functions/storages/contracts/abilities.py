"""What a file system under POSIX can do and a client of objects cannot: what workloads need, and storages lack."""

from dataclasses import dataclass
from enum import StrEnum


class Ability(StrEnum):
    """Something that not every storage can do with files."""

    WRITE_ANYWHERE = "write anywhere"
    """Write at any place of a file, in any order, more than once, or into one that exists."""
    SYNC_MIDWAY = "sync midway"
    """Go on writing to a file after it was synchronised."""
    SYNC_NAMES = "sync names"
    """Wait, by fsync of a directory, until the names in it are stored."""
    ALLOCATE = "allocate"
    """Reserve the room of a file before it is written."""
    RENAME = "rename"
    """Rename a file."""
    SEE_OTHERS = "see others"
    """See files that another instance has written."""
    EVERYTHING = "everything"
    """Be a whole file system: links, permissions, renamed and empty directories. What a workload needs nobody knows."""


@dataclass(frozen=True)
class Need:
    """An ability that a workload needs: for the value of one of its fields, and what to write instead of that."""

    ability: Ability
    field: str
    value: object
    fix: str
