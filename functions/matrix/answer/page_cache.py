"""Reads that the page cache of an instance answered: bytes that programs read and their mount did not."""

from collections.abc import Sequence

from matrix.samples.file import FileSample
from matrix.samples.moved import mount_read_bytes
from matrix.terms.documents.parts import Params
from matrix.terms.documents.result import ReadBytes

# Below this many bytes a count is of access times and the like.
LEAST_BYTES = 2.0**20


def read_bytes(params: Params, samples: Sequence[FileSample]) -> ReadBytes | None:
    """Return the bytes that programs and mounts read at one point. None if one of them was not counted, or is small.

    fio excludes its ramp from its own counts, but the kernel does not.
    """
    if (params.get("options") or {}).get("ramp_time"):
        return None
    counted = [
        (sample.work["read_bytes"], mounted)
        for file, sample in samples
        if sample.work.get("read_bytes") and (mounted := mount_read_bytes(file, sample)) is not None
    ]
    asked = sum(asked for asked, _ in counted)
    return {"asked": asked, "mounted": sum(mounted for _, mounted in counted)} if asked >= LEAST_BYTES else None
