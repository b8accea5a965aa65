"""The input: storages, workloads, fleets, repetitions, budget and further settings of a run."""

from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from matrix.fields.fleet import Fleet, FleetAxis
from matrix.fields.types import InputModel, Name
from matrix.input.emulation import Quirks
from matrix.input.image import Image
from matrix.input.workloads import AnyWorkload
from matrix.storages.models import AnyStorage
from matrix.terms.keys import RUN_PATTERN

MAX_ENTRIES = 1_000
MAX_SEED = 2**32 - 1
# More than thirty launches hardly narrow six percentiles; a run that long has covered other hours and zones anyway.
MAX_LAUNCHES = 30
# The execution of a run and the data of its buckets are kept for a day more (run.asl.yaml, DataBucket).
MAX_HOURS = 720


class Objective(InputModel):
    """A target for the result; the report shows which storages reach it."""

    metric: Annotated[str | None, Field(examples=["duration_s"])] = None
    """Metric to judge by: one that a workload of the matrix has, or one that a `command` declares."""
    percentile: Annotated[int | float, Field(ge=0, le=100, examples=[98])] = 90
    """Percentage of a fleet's samples that must reach the limit. 90 means P90 of a duration and P10 of a rate."""
    at_most: Annotated[int | float | None, Field(examples=[6000])] = None
    """Upper limit of the percentile, in the metric's unit, for durations and latencies. Give this or atLeast."""
    at_least: Annotated[int | float | None, Field(examples=[1000])] = None
    """Lower limit of the percentile, in the metric's unit, for rates. Give this or atMost."""
    job_hours: Annotated[int | float | None, Field(gt=0, le=8_760, examples=[8])] = None
    """Length of your real job in hours. If burst credits end sooner, its mean rate over the job counts. May
    stand alone, without a metric and its limit."""


class Agreed(InputModel):
    """The plan that a person agreed to. `matrix run` writes it from the plan that it showed."""

    usd: Annotated[int | float, Field(ge=0, le=1e9, examples=[12.5])]
    """Expected cost in US dollars that you agree to."""
    most_off: Annotated[int | float, Field(gt=0, le=10, examples=[0.25])] = 0.1
    """Largest accepted difference of the run's own expected cost from `usd`, up or down, as a share of `usd`."""
    cells: Annotated[int | None, Field(ge=1, le=1_000_000, examples=[8])] = None
    """Number of cells that you agree to. A run that plans another number fails."""
    digest: Annotated[
        str | None, StringConstraints(pattern=r"^[0-9a-f]{16}$"), Field(examples=["00000000deadbeef"])
    ] = None
    """Fingerprint of the plan's cells, fleets, test points and steps. `matrix run` writes it."""


class Selector(InputModel):
    """Cells to leave out: all cells that have every value given here, as with `exclude` of GitHub Actions."""

    storage: Annotated[dict[str, Any] | None, Field(examples=[{"type": "ebs"}])] = None
    """Fields of the cell's storage and their values."""
    workload: Annotated[dict[str, Any] | None, Field(examples=[{"type": "dd"}])] = None
    """Fields of the cell's workload and their values. A sweep is compared as a whole."""
    fleet: Annotated[dict[str, Any] | None, Field(examples=[{"count": 200}])] = None
    """instanceType, count or both of the cell's fleet."""


class Inclusion(InputModel):
    """One more cell, beside those of the axes."""

    storage: AnyStorage
    """Storage with all its fields. If it equals one in `storage`, the cell shares that file system."""
    workload: AnyWorkload
    """Workload with all its fields."""
    fleet: Fleet
    """Fleet with one instanceType and one count."""


class Matrix(InputModel):
    """A matrix of storages, workloads and fleets; each combination is a cell that is measured."""

    schema_: Annotated[
        str | None, Field(alias="$schema", max_length=2_000, examples=["../docs/matrix.schema.json"])
    ] = None
    """Path or URL of this schema. Editors use it to complete and check the matrix."""
    name: Annotated[Name, Field(examples=["builds-on-efs"])]
    """Name of the matrix, with which its run ids begin: a-z, 0-9 and -, at most 40 characters."""
    storage: Annotated[list[AnyStorage], Field(min_length=1, max_length=MAX_ENTRIES, examples=[[{"type": "efs"}]])]
    """Storages to compare."""
    workload: Annotated[
        list[AnyWorkload], Field(min_length=1, max_length=MAX_ENTRIES, examples=[[{"type": "touch", "files": 1024}]])
    ]
    """Workloads to run on each storage."""
    fleet: Annotated[
        list[FleetAxis], Field(min_length=1, max_length=MAX_ENTRIES, examples=[[{"instanceType": "m6i.large"}]])
    ]
    """Fleets of instances to run them with."""
    image: Annotated[Image | None, Field(examples=[{"os": "ubuntu-22.04", "bake": True}])] = None
    """Operating system, packages and containers of the instances. Default: the newest Amazon Linux 2023."""
    include: Annotated[list[Inclusion], Field(default=[], max_length=MAX_ENTRIES)]
    """Cells to add to the combinations, each with its own storage, workload and fleet."""
    exclude: Annotated[list[Selector], Field(default=[], max_length=MAX_ENTRIES)]
    """Combinations to leave out. Each entry must match at least one cell."""
    repetitions: Annotated[int, Field(ge=1, le=100, examples=[5])] = 3
    """How often each test point is measured, on the same instances and the same file system."""
    launches: Annotated[int, Field(ge=1, le=MAX_LAUNCHES, examples=[5])] = 1
    """How often the whole matrix is measured, each time with new instances and new file systems. From 3 launches on,
    intervals include the differences between launches."""
    order: Annotated[Literal["random", "as-written"], Field(examples=["as-written"])] = "random"
    """Order of file systems, cells and test points. With "random" a drift over time does not hit one storage alone."""
    seed: Annotated[int | None, Field(ge=0, le=MAX_SEED, examples=[7])] = None
    """Seed of the random order. Default: derived from the run's name, so each run has another. The plan shows it."""
    budget_usd: Annotated[int | float | None, Field(ge=0, le=1e9, examples=[250])] = None
    """Limit of the run's planned cost in US dollars. A run whose expected cost is higher is refused. A cell whose worst
    case no longer fits is skipped. Default: no limit."""
    dry_run: Annotated[bool, Field(examples=[True])] = False
    """Only plan, create nothing."""
    resume: Annotated[
        str | None, StringConstraints(pattern=RUN_PATTERN), Field(examples=["builds-20261120-101500-4f"])
    ] = None
    """Id of an earlier run that has ended. Its measured cells are reused, only the others are measured."""
    compare_with: Annotated[
        str | None,
        StringConstraints(pattern=rf"^(baseline:)?{RUN_PATTERN.removeprefix('^')}"),
        Field(examples=["baseline:nightly"]),
    ] = None
    """Run id, or baseline:NAME, to compare this run with when it has ended."""
    max_concurrent_file_systems: Annotated[int, Field(ge=1, le=40, examples=[8])] = 4
    """How many file systems are measured at the same time. Cells of one file system run one after the other."""
    emulate: Annotated[
        bool
        | Annotated[int, Field(ge=2, le=64)]
        | Annotated[dict[Name, Quirks], Field(min_length=1, max_length=MAX_ENTRIES)],
        Field(examples=[True]),
    ] = False
    """Local runs only: emulate each storage's provisioned limits, to test the analysis on known values. A number
    divides all limits, and multiplies all latencies, so that a slow machine can keep up.
    An object sets quirks of storages by their `name`, such as stalls, noise or credits that end
    (docs/demo.md#quirks)."""
    objective: Objective | None = None
    """Target that storages should reach. The report shows which do."""
    tags: Annotated[dict[str, str], Field(default={}, examples=[{"CostCenter": "4711"}])]
    """Tags of all resources that the run creates, beside those of Storage Matrix and of the stack
    (docs/company.md#tags)."""
    intended: Annotated[
        dict[str, Annotated[str, StringConstraints(pattern=r"^[^\x00-\x1f\x7f-\x9f]{1,500}$")]],
        Field(default={}, examples=[{"data-exceeds-the-servers-cache": "hot-reads measure the server's memory"}]),
    ]
    """Warnings that you have weighed and mean, by their code in `matrix plan --json`, each with the reason. The plan
    lists them as assumptions."""
    agreed: Annotated[Agreed | None, Field(examples=[{"usd": 12.5}])] = None
    """The plan that you agreed to. If the run's own plan differs, the run fails before it creates anything."""
    deadline_hours: Annotated[int | float | None, Field(gt=0, le=MAX_HOURS, examples=[12])] = None
    """Hours after which the run is ended and its resources are deleted. Default: computed from the cells' deadlines."""
    owner: Annotated[
        str | None,
        StringConstraints(pattern=r"^[A-Za-z0-9 _.:/=+@-]*$", max_length=256),
        Field(examples=["build-team"]),
    ] = None
    """Value of the tag storage-matrix:owner on all resources that the run creates."""

    def located(self, axis: Literal["storage", "workload"]) -> list[tuple[str, Any]]:
        """Return each storage or workload of the axis and of the inclusions, with its path in the input."""
        elements = [(f"{axis}[{i}]", element) for i, element in enumerate(getattr(self, axis))]
        return elements + [(f"include[{i}].{axis}", getattr(added, axis)) for i, added in enumerate(self.include)]

    def fleets(self) -> list[Fleet]:
        """Return each fleet of the axis and of the inclusions."""
        return [fleet for axis in self.fleet for fleet in axis.fleets()] + [added.fleet for added in self.include]
