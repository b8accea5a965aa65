"""Stamps at the start of blocks, to detect missing, old, torn or misplaced blocks."""

from __future__ import annotations

import struct

MARK = b"smblock1"
STAMP = struct.Struct("=8sQQQ")  # mark; seed of the step, number of the file, number of the block in it


def stamp(seed: int, file: int, block: int) -> bytes:
    """Return the first bytes of a block. The rest of the block is its usual content."""
    return STAMP.pack(MARK, seed, file, block)
