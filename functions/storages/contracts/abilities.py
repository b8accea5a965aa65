"""Abilities of a POSIX file system that some storages lack, such as clients of objects, and some workloads need."""

from dataclasses import dataclass
from enum import StrEnum


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
