"""Where a job's files are: on the storage under test, whatever path they have in a job that was written elsewhere."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from matrix.input.workloads.fio_options import REFUSED, REPORTS, canonical, is_off

PLACES = ("directory", "filename", "filename_format")
# fio splits names at colons.
_BETWEEN_NAMES = re.compile(r"(?<!\\):")
# Linux has these below /dev, and they are no disks.
_NO_DISK = re.compile(r"/dev/(null|zero|full|u?random|shm/.*|std.*|tty.*|ng[0-9].*|b?sg[0-9/].*|mtd.*|dax.*|pmem.*)")


class Change(NamedTuple):
    """An option that is not passed on as it is, and the line that takes its place."""

    name: str
    value: Any
    becomes: str


def _names(target: object) -> list[str]:
    return _BETWEEN_NAMES.split(str(target)) if target is not None else []


def _disks(target: object) -> frozenset[str]:
    return frozenset(name for name in _names(target) if name.startswith("/dev/"))


def names_a_device(target: object) -> bool:
    """Whether a `filename` is of devices only."""
    return bool(_names(target)) and len(_disks(target)) == len(set(_names(target)))


def number_of_disks(targets: Sequence[object]) -> int:
    """Return how many devices one job names."""
    return max((len(_disks(target)) for target in targets), default=0)


def faults(targets: Sequence[object], *, is_device: bool) -> Iterator[tuple[str, str]]:
    """Yield (rule, fix) if the jobs of a workload name what is no disk, or not one and the same target."""
    named = {_disks(target) for target in targets}
    no_disks = sorted(name for disks in named for name in disks if _NO_DISK.fullmatch(name))
    if no_disks:
        yield f"{no_disks[0]} is no disk that a storage can be", "leave it out, and the files are on the storage"
    elif any(named) and not is_device:
        yield "names a device beside files: a cell has one of them", "make a workload of each"
    elif len(named - {frozenset()}) > 1:
        yield "names another device than the jobs beside it: a cell has one storage", "make a workload of each"


def not_names(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return options without those whose values are names of files, which may have any character."""
    return {name: value for name, value in given.items() if not (name in PLACES or REPORTS.fullmatch(name))}


def passed_on(given: Mapping[str, Any], *, is_device: bool) -> tuple[dict[str, Any], list[Change]]:
    """Return options by fio's own names as they are passed on, and what of them was changed."""
    kept: dict[str, Any] = {}
    changes = []
    for name, value in given.items():
        own = canonical(name)
        kept.pop(own, None)
        if own not in PLACES and (own in REFUSED or REPORTS.fullmatch(own)):
            if not is_off(own, value):
                changes.append(Change(name, value, "is left out: the agent keeps fio's report, and makes the files"))
            continue
        kept[own] = value
    was = {name: kept.pop(name) for name in PLACES if name in kept}
    folder, form = str(was.get("directory", "")), was.get("filename_format")
    if is_device:
        became = {}
    elif "filename" in was:
        became = {"filename": ":".join(_flat(folder, name) for name in _names(was["filename"]))}
    else:
        became = {"filename_format": _flat("", str(form))} if form is not None else {}
    line = " ".join(f"{name}={value}" for name, value in became.items()) or "the storage's own place"
    name = next((each for each in reversed(PLACES) if each in was and was[each] != became.get(each)), "")
    if name:
        changes.append(Change(name, was[name], f"becomes {line}"))
    return {**kept, **became}, changes


def _flat(folder: str, name: str) -> str:
    """Return a path as a name in one folder."""
    return "-".join(part for part in f"{folder}/{name}".split("/") if part not in ("", ".", ".."))
