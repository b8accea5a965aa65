"""Workloads that are shell commands of the user's, with a cache on the storage."""

import math
import re
from typing import Annotated, ClassVar

from pydantic import Field, StringConstraints

from matrix.fields.types import Rule, Sweep
from matrix.input.workloads.contract import Clients, Workload
from matrix.input.workloads.expected import ALONE, ExpectedSeconds, expected_for_any_storage, seconds_of
from matrix.input.workloads.sweeps import Footprint, Params, combinations, values_are_different
from matrix.storages.base import Storage
from matrix.storages.models import how_many
from matrix.terms.charges import PUT_PART_BYTES
from matrix.terms.problems import Problems, Weight

# The user's own shell, by design: it runs on the user's instances. Only characters that no shell accepts are refused.
Command = Annotated[str, StringConstraints(min_length=1, max_length=4_096, pattern=r"^[^\x00]+$")]
CachePath = Annotated[
    str, StringConstraints(max_length=200, pattern=r"^[A-Za-z0-9_][A-Za-z0-9._-]*(/[A-Za-z0-9_][A-Za-z0-9._-]*)*$")
]
Gib = Annotated[int | float, Field(ge=0, le=1_000_000)]

# Assumed traffic of a command per second of its estimated time; unknown before the first run.
ASSUMED_BYTES_PER_S = 10e6
# Variables that the agent sets (agent/workloads/shell.py), or bash and the system do.
SET_BY_US = frozenset({"CACHE_DIR", "WORK_DIR", "BUILD_DIR", "JOBS", "S3_BUCKET", "S3_PREFIX", "S3_KEY", "S3_OBJECTS",
                       "S3_BYTES"})  # fmt: skip
OF_A_LEADER = frozenset({"HOSTS", "LEADER", "ON_HOST"})
_SET_BY_BASH = re.compile(
    "AWS_.*|BASH.*|COMP_.*|EPOCH.*|EUID|FUNCNAME|GROUPS|HOME|HOST(NAME|TYPE)|IFS|LANG|LC_ALL|LINENO|MACHTYPE|OLDPWD"
    "|OPT(ARG|ERR|IND)|OSTYPE|PATH|PIPESTATUS|PPID|PWD|RANDOM|REPLY|SECONDS|SHELL|SHELLOPTS|SHLVL|SRANDOM|UID"
)
# What bash does not expand: escaped characters, here-documents with a quoted end, single quotes outside of double ones.
_LITERAL = re.compile(
    r"""\\.|<<-?\s*(['"])(?P<end>\w+)\1.*?^\s*(?P=end)$|(?P<double>"(?:\\.|[^"\\])*")|'[^']*'""",
    re.DOTALL | re.MULTILINE,
)
_USED = re.compile(r"\$(?:\{[#!]?)?([A-Za-z_]\w*)(?!\w*:?[-+=])")
_ASSIGNED = re.compile(
    r"(?<![\w$])([A-Za-z_]\w*)(?:\[[^]]*\])?\+?=|\b(?:for|select)\s+([A-Za-z_]\w*)|\$\{([A-Za-z_]\w*):?="
    r"|\b(?:read|mapfile|readarray|getopts|export|declare|local|typeset|printf\s+-v)\b([^;&|\n]*)"
)
_SOURCES = re.compile(r"(?:^|[;&|(\n])\s*(?:\.|source|eval)\s")


class ShellWorkload(Workload):
    """Shared by builds and other commands."""

    timed: ClassVar[str]
    """The field with the command that is timed."""

    type: str
    """Kind of workload."""
    prepare: Command | None = None
    """Shell command before each step on each instance, not timed: unpack sources, install tools."""
    populate: Command | None = None
    """Shell command that fills CACHE_DIR, untimed: of a shared file system once, before any fleet; of EBS and instance
    store on each instance, before its first step."""
    jobs: Sweep[Annotated[int, Field(ge=1, le=1_024)]] = Field(default=[4])
    """Parallel jobs, given to the command as JOBS."""
    cache_path: CachePath | None = None
    """Folder of the cache, relative to the root of the storage. Default: `cache`; the root of one that is only read."""
    expected_read_gib: Annotated[Gib | None, Field(alias="expectedReadGiB", examples=[12.5])] = None
    """GiB that each instance reads from the storage in one execution. EFS counts a request below 32 KiB as 32 KiB."""
    expected_write_gib: Annotated[Gib | None, Field(alias="expectedWriteGiB", examples=[12.5])] = None
    """GiB that each instance writes to the storage in one execution, with what `prepare` writes."""
    expected_seconds: Annotated[ExpectedSeconds, Field(examples=[{"1": 600, "100": 900}])] = Field(default={ALONE: 600})
    """About how many seconds one execution takes, or a map by fleet size: it sets deadline and cost of a cell."""

    @property
    def populate_seconds(self) -> float:
        """Estimated seconds to fill the cache; 0 without a command that fills it."""
        return seconds_of(self.expected_seconds, "", 1) if self.populate else 0.0

    @property
    def assumed_bytes_per_s(self) -> float:
        """Assumed traffic of an instance, because it is unknown before the first run unless the matrix has it."""
        return ASSUMED_BYTES_PER_S if self.expected_read_gib is None else 0.0

    def points(self) -> list[Params]:
        swept = combinations(
            {
                self.timed: [getattr(self, self.timed)],
                "prepare": [self.prepare],
                "populate": [self.populate],
                "jobs": self.jobs,
                "cache_path": [self.cache_path],
            }
        )
        return [point | self.set_apart(self.document) for point in swept]

    def footprint(self, params: Params, storage: Storage, clients: Clients) -> Footprint:
        """Return the expected footprint of one instance for one step: the seconds in the matrix, for any storage."""
        del params
        on_each = math.ceil(clients.count / how_many(storage.document))
        seconds = seconds_of(self.expected_seconds, storage.type, on_each)
        assumed = seconds * ASSUMED_BYTES_PER_S
        read, written = (
            assumed if gib is None else gib * 2**30 for gib in (self.expected_read_gib, self.expected_write_gib)
        )
        gets = read / PUT_PART_BYTES
        return Footprint(seconds, read_bytes=read, written_bytes=written, read_requests=gets, longest_s=seconds)

    @classmethod
    def rules(cls) -> tuple[Rule, ...]:
        own = (commands_are_not_blank, variables_are_set, bytes_are_known_both_ways)
        return (*own, values_are_different, expected_for_any_storage)


def commands_are_not_blank(part: ShellWorkload) -> Problems:
    """Yield a problem for a command of nothing but spaces."""
    for name in (part.timed, "prepare", "populate"):
        command = getattr(part, name)
        if command is not None and not command.strip():
            yield part.problem(name, "is blank", "write a shell command" if name == part.timed else "leave it out")


def bytes_are_known_both_ways(part: ShellWorkload) -> Problems:
    """Yield a problem for expected bytes of one way only: what it moves the other way would have no bound."""
    for known, missing in (("expectedReadGiB", "expectedWriteGiB"), ("expectedWriteGiB", "expectedReadGiB")):
        if known in part.document and missing not in part.document:
            yield part.problem(missing, f"is missing beside {known}", "write it, too: 0 if it moves nothing")


def variables_are_set(part: ShellWorkload) -> Problems:
    """Yield a warning for variables that nobody sets: bash ends at them, after the storages were created."""
    is_leader = getattr(part, "on", "each") == "leader"
    set_by_us = SET_BY_US | OF_A_LEADER if is_leader else SET_BY_US
    for name in (part.timed, "prepare", "populate"):
        text = _LITERAL.sub(lambda match: match["double"] or " ", getattr(part, name) or "")
        if _SOURCES.search(text):
            continue  # what is sourced may set any
        assigned = {word for found in _ASSIGNED.findall(text) for each in found for word in re.findall(r"\w+", each)}
        unset = dict.fromkeys(
            variable
            for variable in _USED.findall(text)
            if variable not in assigned | set_by_us and not _SET_BY_BASH.fullmatch(variable)
        )
        if unset:
            words = ", ".join(f"${variable}" for variable in unset)
            image = " unless the container's image does" if getattr(part, "container", None) else ""
            rule = f"nobody sets {words}{image}, and bash ends at an unset variable"
            fix = f"set it in the command, or write ${{{next(iter(unset))}:-default}}; set are CACHE_DIR, JOBS and"
            fix += " BUILD_DIR" if part.timed == "build" else " WORK_DIR"
            if part.type == "command":
                where = "here" if is_leader else 'for other hosts by "on": "leader"'
                fix += f", and {where} HOSTS, LEADER and ON_HOST"
            yield part.problem(name, rule, fix, weight=Weight.NOTE)
