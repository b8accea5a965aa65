"""Sizes in bytes, as people write them: `"2GiB"`, `"1MiB"`, `"500MB"`, or a plain number of bytes."""

import re

# Powers of two have an i (IEC 80000-13); without it they are powers of ten, as on a disk's label.
UNITS = {
    "": 1,
    "B": 1,
    "kB": 10**3,
    "KB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "TB": 10**12,
    "KiB": 2**10,
    "MiB": 2**20,
    "GiB": 2**30,
    "TiB": 2**40,
}
MAX_BYTES = 2**50
_SIZE = re.compile(r"([0-9]{1,18})\s?([A-Za-z]{0,3})")


class NotASize(ValueError):
    """The text or number is not a size. The message shows a valid one."""


def parse_size(value: object, least: int = 1) -> int:
    """Return a size in bytes; `value` is a number of bytes or a text such as "2GiB"."""
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        raise NotASize('must be a size such as "2GiB", "1MiB", "500MB" or a number of bytes')
    if isinstance(value, int):
        size = value
    else:
        match = _SIZE.fullmatch(value)
        if not match or match[2] not in UNITS:
            raise NotASize(
                'must be a size such as "2GiB", "1MiB", "500MB" (units B, kB, MB, GB, TB, KiB, MiB, GiB, TiB)'
            )
        size = int(match[1]) * UNITS[match[2]]
    if not least <= size <= MAX_BYTES:
        raise NotASize(f"must be between {least} {'byte' if least == 1 else 'bytes'} and 1024TiB")
    return size


def format_size(size: int) -> str | int:
    """Return the shortest exact way to write `size` bytes with a unit, so that it reads back as the same number."""
    for unit in ("TiB", "GiB", "MiB", "KiB", "TB", "GB", "MB", "kB"):
        if size >= UNITS[unit] and size % UNITS[unit] == 0:
            return f"{size // UNITS[unit]}{unit}"
    return size


def rough_size(size: float) -> str:
    """Return a size for people, to three digits: `21.3 GiB`."""
    unit = next((unit for unit in ("TiB", "GiB", "MiB", "KiB") if size >= UNITS[unit]), "B")
    return f"{size / UNITS[unit]:.3g} {unit}"
