"""A prefix of the stack's data bucket for each file system; each instance mounts what lies below its own name there."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from aws.stack.environment import environment
from matrix.terms.documents.job import Mount
from matrix.terms.documents.parts import Part
from matrix.terms.sizes import parse_size
from storages import prefixes
from storages.contracts.cloud import Copy, Refusal

CREATION_LIMIT_S = 0
SEEN_GONE = prefixes.SEEN_GONE
PURPOSE = ""
PREFIXES = prefixes.OF_MOUNTS
find, existing, gone, delete = PREFIXES.find, PREFIXES.existing, PREFIXES.gone, prefixes.delete
# Without the first a step could not remove its files, without the second no file could be written again.
ALWAYS = ("allow-delete", "allow-overwrite")
OPTION_OF = {"readPartSize": "read-part-size", "writePartSize": "write-part-size", "cacheMiB": "max-cache-size"}


def create(token: str, _storage: Part, tags: list[dict[str, str]], _run: str, _name: str, _zone: int) -> str:
    """Write down whose the prefix is; return its id. Writing it again changes nothing."""
    return PREFIXES.create(token, tags)


def is_ready(_resource_id: str, _storage: Part) -> bool:
    """Return True: there is nothing to wait for."""
    return True


def refusals(_storage: Part) -> Iterable[Refusal]:
    """Return none: a matrix can name none that exists."""
    return ()


def is_lent(_storage: Part) -> bool:
    """Return True: in place of a mount the local cloud lends a folder."""
    return True


def mount(resource_id: str, storage: Part) -> Mount:
    """Return how an instance mounts what lies below its own name; its role lets it use nothing else."""
    bucket, _, prefix = resource_id.partition("/")
    given = [f"{option}={parse_size(storage[field])}" for field, option in OPTION_OF.items() if storage.get(field)]
    return {
        "kind": "mountpoint",
        "bucket": bucket,
        "prefix": f"{prefix}/{{userid}}",
        "region": environment().region,
        "options": ",".join([*ALWAYS, *given]),
    }


COPIES = COPIES_SEEN_GONE = ""


def copies(_resource_ids: Sequence[str]) -> Iterable[Copy]:
    """Return none: its prefix is emptied with all that is below it."""
    return ()


def in_use() -> Mapping[str, Callable[[], float]]:
    """Return nothing: no quota of its own counts it."""
    return {}
