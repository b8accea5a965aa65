"""Any shell command, judged by its time or by a number that it prints."""

import difflib
import re
import warnings
from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, StringConstraints

from matrix.fields.types import InputModel, Name, Rule, Size
from matrix.input.image import BUILT
from matrix.input.workloads.contract import Clients
from matrix.input.workloads.shell import Command, ShellWorkload
from matrix.input.workloads.sweeps import Footprint, Params
from matrix.input.workloads.yocto import ContainerImage
from matrix.storages.base import STREAM_BYTES_PER_S, Ability, Need, Storage
from matrix.terms.charges import PUT_PART_BYTES
from matrix.terms.metrics import METRICS
from matrix.terms.problems import Problem, Problems, path_text, shorten
from matrix.terms.sizes import UNITS, format_size

MAX_METRICS = 20
MAX_OBJECTS = 10_000
# Unit of an object's content (agent/workloads/uploads.py); the upload has up to 10,000 parts of 8 MiB or more.
OBJECT_UNIT_BYTES = 4_096
MAX_OBJECT_BYTES = UNITS["TiB"]
# Default part sizes of the tools: `aws s3 cp` 8 MB, rclone 5 MiB, s5cmd 50 MB. The smallest bounds the number of GETs.
MIN_PART_BYTES = 5 * UNITS["MiB"]
# As primary metric it is computed from the bytes of all objects.
THROUGHPUT = "mb_per_s"

MetricName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,40}$")]
# Shown in tables and CSV: it must not begin with a character that makes a formula in a spreadsheet.
Unit = Annotated[str, StringConstraints(max_length=20, pattern=r"^[A-Za-z0-9%][A-Za-z0-9%/._^-]*$")]
# Read by Python's `re` on the instance, never by a shell.
Pattern = Annotated[str, StringConstraints(min_length=1, max_length=500, pattern=r"^[^\x00]+$")]
JsonField = Annotated[str, StringConstraints(max_length=200, pattern=r"^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$")]

# Syntax that Python 3.9 of Amazon Linux 2023 does not know: atomic groups and possessive quantifiers, new in 3.11
# (docs.python.org/3/library/re.html). The search first replaces escapes and classes by plain characters.
_ONE_CHARACTER = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
_NEW_IN_3_11 = re.compile(r"\(\?>|[*+?}]\+")


class OwnMetric(InputModel):
    """A number that a command prints, and where."""

    unit: Annotated[Unit, Field(examples=["tx/s"])]
    """Unit, as tables show it: letters, digits and % / . _ ^ -, at most 20."""
    better: Annotated[Literal["higher", "lower"], Field(examples=["lower"])]
    """Which way is better."""
    pattern: Annotated[Pattern | None, Field(examples=["^tps = ([0-9.]+)"])] = None
    """Pattern (Python's) with one group, the whole number: a part of 12,345.6 fails. Either this or jsonField."""
    json_field: Annotated[JsonField | None, Field(examples=["write.iops"])] = None
    """Dotted path to a number in lines that are JSON objects; digits count into lists. Either this or pattern."""


class CommandWorkload(ShellWorkload):
    """Runs any shell command; judged by duration_s unless primaryMetric names another."""

    timed: ClassVar[str] = "command"
    setting_apart: ClassVar[tuple[str, ...]] = ("on", "work_directory")
    primary_metric: ClassVar[str] = "duration_s"
    yields: ClassVar[frozenset[str]] = frozenset({"command_cpu_s"})
    assumption: ClassVar[str] = (
        "a command takes its expectedSeconds and moves what its matrix says, or reads its objects once, or else moves"
        " 10 MB/s each way"
    )

    type: Literal["command"]
    """Kind of workload."""
    name: Annotated[Name, Field(examples=["pgbench"])]
    """Your own name for it, which tells it from other commands in ids, tables and comparisons."""
    command: Annotated[Command, Field(examples=["pgbench -T 60 -c $JOBS bench"])]
    """Shell command that is timed. It sees CACHE_DIR (on the storage), WORK_DIR (empty for each step) and JOBS."""
    on: Annotated[Literal["each", "leader"], Field(examples=["leader"])] = "each"
    """Each instance runs it, or one of them. That one reaches the others: by HOSTS, LEADER and ON_HOST."""
    work_directory: Literal["storage", "local"] = "storage"
    """Where WORK_DIR is: on the storage that is measured, or on the instance's own disk."""
    container: Annotated[ContainerImage | None, Field(examples=["docker.io/library/postgres:17"])] = None
    """Container image in which all commands run, by bash or sh. Default: they run on the instance."""
    metrics: Annotated[dict[MetricName, OwnMetric], Field(max_length=MAX_METRICS)] = Field(default={})
    """Numbers that the command prints, by your own names for them."""
    primary: Annotated[str, Field(alias="primaryMetric", max_length=41, pattern=r"^[a-z][a-z0-9_]*$")] = "duration_s"
    """Metric that judges the command: duration_s, one of its own metrics, or mb_per_s if it reads objects."""
    object_size: Annotated[Size | None, Field(examples=["1GiB"])] = None
    """On S3 only: size of each object that an instance uploads for the command before the time."""
    objects: Annotated[int, Field(ge=1, le=MAX_OBJECTS, examples=[100])] = 1
    """Number of these objects."""

    def needs(self) -> Iterator[Need]:
        """Yield the need to see a cache that another instance fills. Only the user knows the command's other needs."""
        if self.populate:
            yield Need(Ability.SEE_OTHERS, "populate", shorten(self.populate), "fill the cache in prepare")

    @property
    def is_only_reading(self) -> bool:
        """It works on the instance's own disk, and nothing fills its cache."""
        return self.work_directory == "local" and not self.populate

    @property
    def assumed_bytes_per_s(self) -> float:
        """0 for objects, which have a size; else an assumption, because the traffic of a command is unknown."""
        return 0.0 if self.object_size else super().assumed_bytes_per_s

    @property
    def containers(self) -> tuple[str, ...]:
        return (self.container,) if self.container not in (None, BUILT) else ()

    def points(self) -> list[Params]:
        own = {"objects": self.objects, "object_bytes": self.object_size} if self.object_size else {}
        return [{"name": self.name, **point, "container": self.container, **own} for point in super().points()]

    def footprint(self, params: Params, storage: Storage, clients: Clients) -> Footprint:
        """Return the seconds in the matrix, and its objects: uploaded by the first step, read once by each step."""
        footprint = super().footprint(params, storage, clients)
        stored = self.objects * (self.object_size or 0)
        if not stored:
            return footprint
        made = stored / len(self.points())
        return Footprint(
            footprint.seconds,
            read_bytes=stored if self.expected_read_gib is None else footprint.read_bytes,
            written_bytes=0.0 if self.expected_write_gib is None else footprint.written_bytes,
            stored_bytes=stored,
            read_requests=max(self.objects, stored / MIN_PART_BYTES),
            longest_s=footprint.seconds,
            making_s=made / STREAM_BYTES_PER_S,
            made_bytes=made,
            made_requests=max(self.objects, stored / PUT_PART_BYTES) / len(self.points()),
        )

    @classmethod
    def judged_by(cls, params: Params, workload: dict[str, Any]) -> str:
        """Return the metric that the matrix names."""
        del params
        return str(workload.get("primaryMetric", cls.primary_metric))

    @classmethod
    def rules(cls) -> tuple[Rule, ...]:
        own = (metrics_can_be_found, primary_is_measured, objects_can_be_made, a_leader_is_no_container)
        return (*super().rules(), *own)


def metrics_can_be_found(part: CommandWorkload) -> Problems:
    """Yield a problem for each of its metrics that has the name of a built-in metric, or no place in the output."""
    for name, metric in part.metrics.items():
        path = path_text(("metrics", name))
        if name in METRICS:
            rule = "is a metric of Storage Matrix, which would no more be told from it"
            yield Problem(path, name, rule, f"for example my_{name}"[:60])
        if (metric.pattern is None) == (metric.json_field is None):
            rule = "needs either pattern or jsonField, and not both"
            yield Problem(path, name, rule, "write a pattern with one group, or the path of a field")
        elif metric.pattern is not None:
            for rule, fix in _pattern_faults(metric.pattern):
                yield Problem(f"{path}.pattern", metric.pattern, rule, fix)


def _pattern_faults(text: str) -> Iterator[tuple[str, str]]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", FutureWarning)
            groups = re.compile(text).groups
    except FutureWarning as warning:
        # Such as [[:alpha:]], a class of other programs.
        yield f"means something else in Python than it seems to: {warning}", "write [ and -- in a class as \\[ and \\-"
        return
    except (re.error, OverflowError, RecursionError) as error:
        yield f"is not a regular expression of Python: {error}", "see docs.python.org/3/library/re.html"
        return
    if groups != 1:
        yield f"has {groups} groups; one says what the number is", "write (?: ) around what is not a number"
    if _NEW_IN_3_11.search(_ONE_CHARACTER.sub("x", text)):
        yield "has an atomic group or a possessive quantifier, which Python 3.9 cannot read", "write it without"


def primary_is_measured(part: CommandWorkload) -> Problems:
    """Yield a problem for a primary metric that it does not measure."""
    known = ["duration_s", *part.metrics, *([THROUGHPUT] if part.object_size else [])]
    if part.primary not in known:
        close = difflib.get_close_matches(part.primary, known, n=1)
        rule = f"is none of {', '.join(known)}"
        yield part.problem("primaryMetric", rule, f"did you mean {close[0]}?" if close else "declare it in metrics")


def a_leader_is_no_container(part: CommandWorkload) -> Problems:
    """Yield a problem for a leader in a container: its network and its files are not those of the other instances."""
    if part.on == "leader" and part.container is not None:
        yield part.problem("container", "has no way to the other instances", 'leave it out, or write on "each"')


def objects_can_be_made(part: CommandWorkload) -> Problems:
    """Yield a problem for objects of a size that is not a multiple of blocks, or that takes too long."""
    size = part.object_size
    if size is None:
        if part.objects != 1:
            yield part.problem("objects", "are of no size", "write objectSize, or leave it out")
    elif size % OBJECT_UNIT_BYTES or not size:
        whole = max(1, size // OBJECT_UNIT_BYTES) * OBJECT_UNIT_BYTES
        yield part.problem("objectSize", "must be a multiple of 4KiB", f"write {format_size(whole)}")
    elif size * part.objects > MAX_OBJECT_BYTES:
        yield part.problem("objectSize", f"{part.objects} of them are more than 1TiB", "write less of them")
