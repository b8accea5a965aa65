"""plan.json: every cell in the order of its execution, with what it does, how long it takes and what it costs."""

from typing import Any, NotRequired

from typing_extensions import TypedDict

from matrix.terms.documents.parts import (
    Attempt,
    CostRange,
    Emulation,
    Fleet,
    MachineRates,
    Part,
    Point,
    Provisions,
    Source,
    Step,
    Volume,
)


class PlanWarning(TypedDict):
    """What may be wrong with a matrix that is planned all the same."""

    path: str
    """Where in the matrix."""
    value: Any
    """What stands there."""
    message: str
    """Why that may be wrong, and what to do."""


class PlanCell(TypedDict):
    """One cell: what is launched, what it runs, and until when."""

    id: str
    file_system: str
    """Id of the file system that it is measured on."""
    launch: NotRequired[int]
    """Which of several launches it is, counted from 1."""
    joined: NotRequired[str]
    """Id of the cell in which the results of its launches are joined."""
    storage: Part
    workload: Part
    fleet: Fleet
    image: NotRequired[str]
    """Id of the image that its instances boot; before images could be chosen there was one for all."""
    points: list[Point]
    steps: list[Step]
    """Every point in every repetition, in the order of execution."""
    expected_s: float
    ready_within_s: float
    """Seconds after the launch in which all instances must stand at the first barrier."""
    deadline_s: float
    """Whole seconds after the launch when it is given up."""
    root_volume_gib: int
    """Size of each instance's root volume."""
    work_volume: NotRequired[Volume]
    """Of each instance, for what it does beside the storage: a build, files to copy from."""
    poll_s: int
    """How often Poll fleet looks."""
    cost_usd: CostRange
    reserve_usd: float
    """What must be free in the budget before it begins: its worst case, its share of the file system included."""
    metered_usd: NotRequired[CostRange]
    """The part that is billed by use and not by the hour."""
    rates_usd: NotRequired[MachineRates]
    emulation: NotRequired[Emulation]
    taken_from: NotRequired[Source]
    """The earlier cell whose result it has; then it is not measured."""
    attempts: NotRequired[list[Attempt]]


class Populate(TypedDict):
    """How the cache on a file system is filled."""

    cell: str
    """Whose instance type fills it."""
    workload: Part


class HourRate(TypedDict):
    """US dollars per hour of what the cells of one storage share: of all its file systems together."""

    hour: float


class PlanFileSystem(TypedDict):
    """What the cells of one storage share."""

    id: str
    launch: NotRequired[int]
    """Which of several launches it is for; a launch begins when the one before has ended."""
    storage: Part
    cells: list[str]
    """Ids of its cells in the order of execution; none where an earlier run has measured all of them."""
    populate: Populate | None
    expected_s: float
    cost_usd: CostRange
    reserve_usd: float
    """The worst case of creating, populating and deleting it."""
    rates_usd: NotRequired[HourRate]


class PlanImage(TypedDict):
    """A machine image that cells boot."""

    id: str
    bake: bool
    """Whether it is baked, at most once; else each instance installs what it lacks."""
    recipe: Provisions
    """What is put on it."""
    provisions: Provisions
    """What the matrix asks for on every instance."""
    base_parameter: str
    """Public parameter that names the newest image of the operating system."""
    ami: NotRequired[str]
    """Id of the user's own image that instances boot in place of that one, as Plan matrix has found it."""
    root_device: str
    builder: str
    """Instance type of the one that bakes it."""
    expected_s: float
    deadline_s: float
    poll_s: int
    cost_usd: CostRange
    reserve_usd: float
    rates_usd: MachineRates
    kept_usd_month: CostRange
    """What its snapshot costs a month as long as it is kept."""


class PlanTotals(TypedDict):
    """Sums over a plan."""

    cells: int
    taken_over: NotRequired[int]
    """How many of them an earlier run has measured."""
    points: int
    steps: int
    instances: int
    instance_hours: float
    expected_s: float
    deadline_s: int
    """Seconds after the run's start when it is ended."""
    cost_usd: CostRange


class PlanDocument(TypedDict):
    """A plan: every cell in the order of its execution, with what it does, how long it takes and what it costs.

    `matrix plan --json` prints one without the facts of a run, which begin with `run`.
    """

    schema: int
    name: str
    seed: int
    """Decides the order of cells and steps."""
    emulated: NotRequired[bool]
    """There where the storages are only played."""
    cells: list[PlanCell]
    file_systems: list[PlanFileSystem]
    images: NotRequired[list[PlanImage]]
    totals: PlanTotals
    assumptions: list[str]
    warnings: list[PlanWarning]
    run: NotRequired[str]
    """Name of the run, which is that of its execution."""
    execution_arn: NotRequired[str]
    created_at: NotRequired[float]
    """Epoch seconds."""
    deadline_at: NotRequired[float]
    """Epoch seconds when the run is ended."""
    owner: NotRequired[str]
    tags: NotRequired[dict[str, str]]
    """Tags of everything that is created, of the matrix and of the stack, beside Storage Matrix's own."""
    budget_usd: NotRequired[float | None]
    region: NotRequired[str]
    objective: NotRequired[Part | None]
    """The matrix's objective."""
    compare_with: NotRequired[str]
    """The matrix's compareWith, where it has one."""
    environment: NotRequired[str]
    """aws, local, local-vm or emulated: of what the figures are."""
    agent_key: NotRequired[str]
    """Key of the agent's program in the bucket."""
