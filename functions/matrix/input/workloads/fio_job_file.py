"""A fio job file: its sections, each with its options and those of [global] before it (parse_jobs_ini in init.c)."""

import re
from dataclasses import dataclass
from typing import Any

from contract.fio_job import FioJob
from matrix.input.workloads.fio_options import canonical

# Options that say when a section begins.
_WAITS = ("stonewall", "wait_for_previous", "wait_for")
# Rows have the name of the section, and figures for each of them.
_SAYS_NOTHING = ("name", "description", "new_group")
# fio compares the first letters only.
_GLOBAL = "global"
_COMMENT = re.compile(r"[#;].*")
_WHOLE = re.compile(r"[0-9]{1,18}")
# A matrix has these in whole seconds.
_TIMES = ("runtime", "timeout", "ramp_time")


@dataclass(frozen=True)
class Section:
    """One job of the file."""

    name: str
    options: dict[str, Any]
    """In the order in which fio reads them: of two that set the same the later one wins."""
    waits: bool
    """Whether it starts after all sections before it have ended, not beside them."""
    waits_for: str = ""
    """The section that it starts after."""


def read(text: str) -> tuple[list[Section], list[str]]:
    """Return the sections of a job file, and its lines that are in none."""
    shared: dict[str, Any] = {}
    named: list[tuple[str, dict[str, Any]]] = []
    options, lost = None, []
    for given in text.splitlines():
        line = _COMMENT.sub("", given).strip()
        if line.startswith("["):
            name = line[1:].removesuffix("]").strip()
            if name.startswith(_GLOBAL):
                options = shared
            else:
                options = {**shared}
                named.append((name, options))
        elif line and options is None:
            lost.append(line)
        elif line and options is not None:
            option, value = _option(line)
            for same in [name for name in options if canonical(name) == canonical(option)]:
                del options[same]
            options[option] = value
    return [_section(name, options) for name, options in named], lost


def groups(sections: list[Section]) -> list[list[Section]]:
    """Return the sections that run beside each other, in the order of the groups."""
    together: list[list[Section]] = []
    for section in sections:
        is_after_one = together and [each.name for each in together[-1]] == [section.waits_for]
        if section.waits or is_after_one or not together:
            together.append([])
        together[-1].append(section)
    return together


def _option(line: str) -> tuple[str, Any]:
    """Return name and value of a line; a switch without a value is on."""
    if line.startswith("include "):
        return "include", line.removeprefix("include ").strip()
    name, equals, value = (part.strip() for part in line.partition("="))
    if name in _TIMES:
        seconds = FioJob({name: value}).seconds(name)
        return name, int(seconds) if seconds == int(seconds) > 0 else value
    if _WHOLE.fullmatch(value):
        return name, int(value)
    return name, value if equals else 1


def _section(name: str, options: dict[str, Any]) -> Section:
    kept = {option: value for option, value in options.items() if option not in (*_WAITS, *_SAYS_NOTHING)}
    waits = any(options.get(each, 0) != 0 for each in _WAITS[:-1])
    return Section(name, kept, waits=waits, waits_for=str(options.get(_WAITS[-1], "")))
