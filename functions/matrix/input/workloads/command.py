"""Any shell command, judged by its time or by a number that it prints."""

import difflib
import re
from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, StringConstraints

from matrix.input.fields import InputModel, Name
from matrix.input.image import BUILT
from matrix.input.part import Part, Rule
from matrix.input.workloads.shell import Command, ShellWorkload
from matrix.input.workloads.sweeps import Params
from matrix.input.workloads.yocto import ContainerImage
from matrix.terms.metrics import METRICS
from matrix.terms.problems import Problem, Problems, path_text

MOST_METRICS = 20

MetricName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,40}$")]
# It stands in tables and CSV: no sign at its beginning that a spreadsheet takes for a formula.
Unit = Annotated[str, StringConstraints(max_length=20, pattern=r"^[A-Za-z0-9%][A-Za-z0-9%/._^-]*$")]
# Read by Python's `re` on the instance, never by a shell.
Pattern = Annotated[str, StringConstraints(min_length=1, max_length=500, pattern=r"^[^\x00]+$")]
JsonField = Annotated[str, StringConstraints(max_length=200, pattern=r"^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$")]

# What Python 3.9 of Amazon Linux 2023 cannot read, once escapes and classes are taken for plain characters: atomic
# groups and possessive quantifiers, new in 3.11 (docs.python.org/3/library/re.html).
_ONE_CHARACTER = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
_NEW_IN_3_11 = re.compile(r"\(\?>|[*+?}]\+")


class OwnMetric(InputModel):
    """A number that a command prints, and where."""

    unit: Annotated[Unit, Field(examples=["tx/s"])]
    """Unit, as tables show it: letters, digits and % / . _ ^ -, at most 20."""
    better: Annotated[Literal["higher", "lower"], Field(examples=["lower"])]
    """Which way is better."""
    pattern: Annotated[Pattern | None, Field(examples=["^tps = ([0-9.]+)"])] = None
    """Regular expression (Python's) with one group, the number. Either this or jsonField."""
    json_field: Annotated[JsonField | None, Field(examples=["write.iops"])] = None
    """Dotted path to a number in lines that are JSON objects; digits count into lists. Either this or pattern."""


class CommandWorkload(ShellWorkload):
    """Runs any shell command; judged by duration_s unless primaryMetric names one of its own metrics."""

    timed: ClassVar[str] = "command"
    primary_metric: ClassVar[str] = "duration_s"
    yields: ClassVar[frozenset[str]] = frozenset({"command_cpu_s"})
    assumption: ClassVar[str] = "a command takes its expectedSeconds and moves 10 MB/s each way"

    type: Literal["command"]
    """Kind of workload."""
    name: Annotated[Name, Field(examples=["pgbench"])]
    """Your own name for it, which tells it from other commands in ids, tables and comparisons."""
    command: Annotated[Command, Field(examples=["pgbench -T 60 -c $JOBS bench"])]
    """Shell command that is timed. It sees CACHE_DIR (on the storage), WORK_DIR (empty for each step) and JOBS."""
    work_directory: Literal["storage", "local"] = "storage"
    """Where WORK_DIR is: on the storage that is measured, or on the instance's own disk."""
    container: Annotated[ContainerImage | None, Field(examples=["docker.io/library/postgres:17"])] = None
    """Container image in which all commands run, with bash; fetched before the time. On the instance unless given."""
    metrics: Annotated[dict[MetricName, OwnMetric], Field(max_length=MOST_METRICS)] = Field(default={})
    """Numbers that the command prints, by your own names for them."""
    primary: Annotated[str, Field(alias="primaryMetric", max_length=41, pattern=r"^[a-z][a-z0-9_]*$")] = "duration_s"
    """The metric that it is judged by: duration_s or one of its own."""

    @property
    def containers(self) -> tuple[str, ...]:
        """The container that it runs in, if any."""
        return (self.container,) if self.container not in (None, BUILT) else ()

    def points(self) -> list[Params]:
        """Return the parameters of each point."""
        return [{"name": self.name, **point, "container": self.container} for point in super().points()]

    @classmethod
    def judged_by(cls, params: Params, workload: dict[str, Any]) -> str:
        """Return the metric that the matrix names."""
        del params
        return str(workload.get("primaryMetric", cls.primary_metric))

    @classmethod
    def rules(cls) -> tuple[Rule, ...]:
        """Return the rules for its fields."""
        return (*super().rules(), metrics_can_be_found, primary_is_measured)


def metrics_can_be_found(part: Part) -> Problems:
    """Yield a problem for each metric of its own that has a name of ours, or no place where it could be found."""
    for name, metric in part.metrics.items():
        path = (*part.path, "metrics", name)
        if name in METRICS:
            rule = "is a metric of Storage Matrix, which would no more be told from it"
            yield Problem(path_text(path), name, rule, f"write such as my_{name}"[:60])
        if (metric.pattern is None) == (metric.json_field is None):
            rule = "needs either pattern or jsonField, and not both"
            yield Problem(path_text(path), name, rule, "write a pattern with one group, or the path of a field")
        elif metric.pattern is not None:
            for rule, fix in _pattern_faults(metric.pattern):
                yield Problem(path_text((*path, "pattern")), metric.pattern, rule, fix)


def _pattern_faults(text: str) -> Iterator[tuple[str, str]]:
    try:
        groups = re.compile(text).groups
    except (re.error, OverflowError, RecursionError) as error:
        yield f"is no regular expression of Python: {error}", "see docs.python.org/3/library/re.html"
        return
    if groups != 1:
        yield f"has {groups} groups; one says what the number is", "write (?: ) around what is no number"
    if _NEW_IN_3_11.search(_ONE_CHARACTER.sub("x", text)):
        yield "has an atomic group or a possessive quantifier, which Python 3.9 cannot read", "write it without"


def primary_is_measured(part: Part) -> Problems:
    """Yield a problem for a primary metric that it does not measure."""
    known = ["duration_s", *part.metrics]
    if part.primary not in known:
        close = difflib.get_close_matches(part.primary, known, n=1)
        rule = f"is none of {', '.join(known)}"
        yield part.problem("primaryMetric", rule, f"did you mean {close[0]}?" if close else "declare it in metrics")
