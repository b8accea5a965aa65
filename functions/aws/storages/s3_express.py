"""S3 Express One Zone: a directory bucket for each file system, in the zone of its subnet."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from aws.storages import directory_buckets as buckets
from aws.storages.base import Copy, Refusal
from aws.storages.s3 import place
from matrix.terms.documents.job import Mount
from matrix.terms.documents.parts import Part

CREATION_LIMIT_S = 0
SEEN_GONE = buckets.SEEN_GONE
PURPOSE = ""
BUCKETS = buckets.OF_OBJECTS
find, existing, gone, delete = BUCKETS.find, BUCKETS.existing, BUCKETS.gone, buckets.delete


def create(token: str, _storage: Part, tags: list[dict[str, str]], _run: str, _name: str, zone: int) -> str:
    """Create the directory bucket with its tags, or find the one that this token created before; return its name."""
    return BUCKETS.create(token, tags, zone)


def is_ready(_resource_id: str, _storage: Part) -> bool:
    """Return True: a new bucket can be used at once."""
    return True


def refusals(_storage: Part) -> Iterable[Refusal]:
    """Return none: a matrix cannot name an existing one."""
    return ()


def mount(resource_id: str, storage: Part) -> Mount:
    """Return how an instance accesses it: each below its own name. A session is valid for the whole bucket."""
    return place(resource_id, "{userid}", storage)


COPIES = COPIES_SEEN_GONE = ""


def copies(_resource_ids: Sequence[str]) -> Iterable[Copy]:
    """Return none: directory buckets have no versions."""
    return ()


def in_use() -> Mapping[str, Callable[[], float]]:
    """Return nothing: AWS's pages do not give the code of the quota of directory buckets per account."""
    return {}
