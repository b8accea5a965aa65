"""The input: what is measured on what, by how many, how often, and for how much money."""

from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from matrix.input.emulation import Quirks
from matrix.input.fields import InputModel, Name
from matrix.input.fleet import Fleet, FleetAxis
from matrix.input.image import Image
from matrix.input.workloads import AnyWorkload
from matrix.terms.keys import RUN_PATTERN
from storages.models import AnyStorage

MOST_ENTRIES = 1_000
MOST_SEED = 2**32 - 1
# Six percentiles of thirty launches are as sure as of any number; a run that long has met other hours and zones anyway.
MOST_LAUNCHES = 30
# The execution of a run and the data of its buckets are kept for a day more (run.asl.yaml, DataBucket).
MOST_HOURS = 720


class Objective(InputModel):
    """What the result must reach; the report says which storages do."""

    metric: Annotated[str, Field(examples=["duration_s"])]
    """Name of a metric that a workload of the matrix yields."""
    percentile: Annotated[int | float, Field(ge=0, le=100)] = 90
    """How many percent of a fleet's samples must be at least this good: of durations that is P90, of rates P10."""
    at_most: Annotated[int | float | None, Field(examples=[6000])] = None
    """Reached when the percentile is at most this, in the metric's unit. Either this or atLeast."""
    at_least: Annotated[int | float | None, Field(examples=[1000])] = None
    """Reached when the percentile is at least this, in the metric's unit. Either this or atMost."""
    job_hours: Annotated[int | float | None, Field(gt=0, le=8_760, examples=[8])] = None
    """How long the real job lasts: what was done on credits that last for less is judged by what is sustained."""


class Agreed(InputModel):
    """The plan that a person has agreed to; `matrix run` writes it of the plan that it showed."""

    usd: Annotated[int | float, Field(ge=0, le=1e9, examples=[12.5])]
    """US dollars that the plan expected; a run whose own plan is further off fails and creates nothing."""
    most_off: Annotated[int | float, Field(gt=0, le=10, examples=[0.25])] = 0.1
    """How far off the cost of the run's own plan may be, as a share of `usd`."""
    cells: Annotated[int | None, Field(ge=1, le=1_000_000, examples=[8])] = None
    """How many cells the plan had; a run that plans another number fails."""
    digest: Annotated[
        str | None, StringConstraints(pattern=r"^[0-9a-f]{16}$"), Field(examples=["00000000deadbeef"])
    ] = None
    """What tells its cells, their fleets, points and steps from those of another plan."""


class Selector(InputModel):
    """Cells to leave out: those that have every value given here, as in `exclude` of GitHub Actions."""

    storage: Annotated[dict[str, Any] | None, Field(examples=[{"type": "ebs"}])] = None
    """Fields that the cell's storage must have with these values."""
    workload: Annotated[dict[str, Any] | None, Field(examples=[{"type": "dd"}])] = None
    """Fields that the cell's workload must have with these values; a sweep is compared as a whole."""
    fleet: Annotated[dict[str, Any] | None, Field(examples=[{"count": 200}])] = None
    """instanceType, count, or both, of the cell's fleet."""


class Inclusion(InputModel):
    """One more cell, beside those of the axes."""

    storage: AnyStorage
    """Its storage, in full; equal to one of the axis, the cell shares that file system."""
    workload: AnyWorkload
    """Its workload, in full."""
    fleet: Fleet
    """Its fleet: one instanceType and one count."""


class Matrix(InputModel):
    """A matrix of storages, workloads and fleets; each combination is a cell that is measured."""

    schema_: Annotated[str | None, Field(alias="$schema", max_length=2_000)] = None
    """Address of this schema, for completion in editors."""
    name: Annotated[Name, Field(examples=["builds-on-efs"])]
    """Name of the matrix, used in run ids: a-z, 0-9 and -, at most 40 characters."""
    storage: Annotated[list[AnyStorage], Field(min_length=1, max_length=MOST_ENTRIES, examples=[[{"type": "efs"}]])]
    """Storages to compare."""
    workload: Annotated[
        list[AnyWorkload], Field(min_length=1, max_length=MOST_ENTRIES, examples=[[{"type": "touch", "files": 1024}]])
    ]
    """Workloads to run on each."""
    fleet: Annotated[
        list[FleetAxis], Field(min_length=1, max_length=MOST_ENTRIES, examples=[[{"instanceType": "m6i.large"}]])
    ]
    """Fleets to run them with."""
    image: Image | None = None
    """What the instances boot: operating system, packages, baked or not; Amazon Linux 2023, not baked, unless given."""
    include: Annotated[list[Inclusion], Field(default=[], max_length=MOST_ENTRIES)]
    """Cells to add, each with storage, workload and fleet in full."""
    exclude: Annotated[list[Selector], Field(default=[], max_length=MOST_ENTRIES)]
    """Cells to leave out; every entry must match at least one."""
    repetitions: Annotated[int, Field(ge=1, le=100)] = 3
    """How often each point is measured, one repetition after the other on the same instances and file system."""
    launches: Annotated[int, Field(ge=1, le=MOST_LAUNCHES, examples=[5])] = 1
    """How often all cells are measured, one block after the other, each with new instances and new file systems in an
    order of its own; from 3 on intervals hold for any launch and not for one."""
    order: Literal["random", "as-written"] = "random"
    """Order of file systems, cells and points: random, so that drift over time hits no storage alone, or as written."""
    seed: Annotated[int | None, Field(ge=0, le=MOST_SEED)] = None
    """Seed of the random order; unless given, each run draws its own from its name, and its plan says which."""
    budget_usd: Annotated[int | float | None, Field(ge=0, le=1e9, examples=[250])] = None
    """US dollars the expected cost may not exceed; cells whose worst case would are skipped. No limit unless given."""
    dry_run: bool = False
    """Only plan: nothing is created."""
    resume: Annotated[
        str | None, StringConstraints(pattern=RUN_PATTERN), Field(examples=["builds-20261120-101500-4f"])
    ] = None
    """An earlier run: cells that it has measured are taken over from it, only the others are measured."""
    compare_with: Annotated[
        str | None,
        StringConstraints(pattern=rf"^(baseline:)?{RUN_PATTERN.removeprefix('^')}"),
        Field(examples=["baseline:nightly"]),
    ] = None
    """An earlier run, or baseline:NAME, that the run is compared with when it has ended: slower, faster or neither."""
    max_concurrent_file_systems: Annotated[int, Field(ge=1, le=40)] = 4
    """File systems that are measured at the same time; cells on one file system never are."""
    emulate: Annotated[
        bool | Annotated[dict[Name, Quirks], Field(min_length=1, max_length=MOST_ENTRIES)], Field(examples=[True])
    ] = False
    """Local runs only: play the storages as provisioned, so that the analysis must find what is known. Never on AWS.
    An object also gives storages, by their `name`, quirks: tails, stalls, noise, credits that run out."""
    objective: Objective | None = None
    """What the result must reach."""
    tags: Annotated[dict[str, str], Field(default={}, examples=[{"CostCenter": "4711"}])]
    """Tags of everything that is created, beside Storage Matrix's own and those of the stack (docs/company.md)."""
    agreed: Agreed | None = None
    """The plan that was agreed to: a run whose own plan differs fails before it creates anything."""
    deadline_hours: Annotated[int | float | None, Field(gt=0, le=MOST_HOURS, examples=[12])] = None
    """Hours after which the run ends and all is deleted; unless given, computed from the cells' deadlines."""
    owner: Annotated[
        str | None,
        StringConstraints(pattern=r"^[A-Za-z0-9 _.:/=+@-]*$", max_length=256),
        Field(examples=["build-team"]),
    ] = None
    """Value of the tag storage-matrix:owner on everything that is created."""
