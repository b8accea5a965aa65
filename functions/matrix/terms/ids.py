"""Ids of file systems and cells: readable, unique, and safe in a path, a tag and a key."""

import hashlib
import re
from collections import Counter
from collections.abc import Mapping

MAX_CHARACTERS = 100
MAX_SLUG_CHARACTERS = 63
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


def short_hash(text: str, characters: int = 6) -> str:
    """Return a short hash of `text`, the same on every machine."""
    return hashlib.sha256(text.encode()).hexdigest()[:characters]


def cut(slug: str, most: int) -> str:
    """Return `slug` with at most `most` characters; a hash of the whole keeps cut slugs unique."""
    safe = _UNSAFE.sub("-", slug)
    return safe if len(safe) <= most else f"{safe[: most - 9]}-{short_hash(slug, 8)}"


def unique_slugs(wanted: Mapping[str, str]) -> dict[str, str]:
    """Return a unique slug by fingerprint from wanted ones. Colliding slugs get a short hash of their fingerprint."""
    cut_slugs = {fingerprint: cut(slug, MAX_SLUG_CHARACTERS - 7) for fingerprint, slug in wanted.items()}
    times = Counter(cut_slugs.values())
    slugs: dict[str, str] = {}
    for fingerprint, slug in cut_slugs.items():
        candidate = slug if times[slug] == 1 else f"{slug}-{short_hash(fingerprint)}"
        attempt = 0
        # A user may have named a storage exactly as another storage's hash reads.
        while candidate in slugs.values():
            attempt += 1
            candidate = f"{slug}-{short_hash(f'{fingerprint}{attempt}')}"
        slugs[fingerprint] = candidate
    return slugs


def launch_id(file_system: str, launch: int) -> str:
    """Return the id of the file system of one of several launches, such as `efs-elastic.l2`."""
    return f"{file_system}.l{launch}"


def without_launch(file_system: str, launch: int) -> str:
    """Return the id that the file systems of all launches begin with."""
    return file_system.removesuffix(f".l{launch}")


def cell_id(file_system: str, workload: str, fleet: str) -> str:
    """Return a cell's id, such as `efs-elastic.touch.m6i.4xlarge-x10`."""
    return cut(f"{file_system}.{workload}.{fleet}", MAX_CHARACTERS)
