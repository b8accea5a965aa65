"""What a block says of itself, so that one that is missing, old, torn or in another's place is told from its own."""

from __future__ import annotations

import struct

MARK = b"smblock1"
STAMP = struct.Struct("=8sQQQ")  # mark; seed of the step, number of the file, number of the block in it


def stamp(seed: int, file: int, block: int) -> bytes:
    """What a block begins with; behind it stands what it would hold without."""
    return STAMP.pack(MARK, seed, file, block)
