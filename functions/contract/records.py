"""Records of the data that reads ask for: each can be told from all others, and is checked after it was read."""

from __future__ import annotations

RECORD_BYTES = 8_192


def record_bytes(request_bytes: int) -> int:
    """Return the size of a record in requests of this size, which hold whole ones."""
    return RECORD_BYTES if request_bytes % RECORD_BYTES == 0 else request_bytes
