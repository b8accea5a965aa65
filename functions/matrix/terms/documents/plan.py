"""plan.json: every cell in the order of execution, with its steps, duration and cost."""

from collections.abc import Sequence
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
    """A possible mistake in a matrix that is planned anyway."""

    path: str
    """Where in the matrix."""
    value: Any
    """The value."""
    message: str
    """The reason, and a fix."""
    weight: str
    """What it puts at risk: unfair (a comparison), no-verdict, money or note; the plan lists them in this order."""
    code: NotRequired[str]
    """Name of the violated rule, such as `creates-are-alike`."""


class EarlierWarning(TypedDict):
    """A warning of a run before warnings had a weight."""

    path: str
    value: Any
    message: str
    code: NotRequired[str]


class PlanCell(TypedDict):
    """One cell: storage, workload, fleet, steps, deadline and cost."""

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
    """Extra volume of each instance for data outside of the storage, such as a build or files to copy."""
    poll_s: int
    """How often Poll fleet looks."""
    cost_usd: CostRange
    reserve_usd: float
    """US dollars to reserve in the budget before it starts: its worst case, with its share of the file system."""
    metered_usd: NotRequired[CostRange]
    """The part that is billed by use and not by the hour."""
    by_use: NotRequired[list["PlanUse"]]
    """The part of that for bytes and requests that its storage meters; absent where it meters none."""
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
    """US dollars per hour of the file systems that the cells of one storage share, in total."""

    hour: float


class PlanUse(TypedDict):
    """What a storage charges a cell by bytes or requests, of one price of the book."""

    charge: str
    """Name of the price in prices.json."""
    unit: str
    """Unit of the price, such as GiB read."""
    amount: float
    """Expected number of units."""
    unit_usd: CostRange
    """US dollars for one unit."""
    cost_usd: CostRange


class PlanFileSystem(TypedDict):
    """The file system of the cells of one storage."""

    id: str
    launch: NotRequired[int]
    """Which of several launches it is for; a launch begins when the one before has ended."""
    storage: Part
    cells: list[str]
    """Ids of its cells in the order of execution; none where an earlier run has measured all of them."""
    populate: Populate | None
    expected_s: float
    cost_usd: CostRange
    """Of its hours, of the bytes and requests of its cells, and of filling its cache."""
    assumed_bytes_per_s: NotRequired[float]
    """There where its cells' `by_use` rests on an assumption: bytes per second, each way, of each instance."""
    reserve_usd: float
    """The worst case of creating, populating and deleting it."""
    rates_usd: NotRequired[HourRate]


class PlanImage(TypedDict):
    """A machine image that cells boot."""

    id: str
    bake: bool
    """Whether it is baked once. If false, each instance installs the software."""
    recipe: Provisions
    """Software to install on it."""
    provisions: Provisions
    """Software that the matrix requests for every instance."""
    base_parameter: str
    """Public parameter that names the newest image of the operating system."""
    ami: NotRequired[str]
    """Id of the user's own image that instances boot in place of that one, as Plan matrix has found it."""
    root_device: str
    builder: str
    """Instance type that bakes it."""
    expected_s: float
    deadline_s: float
    cost_usd: CostRange
    reserve_usd: float
    rates_usd: MachineRates
    kept_usd_month: CostRange
    """US dollars per month for its snapshot while it is kept."""


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
    """A plan: every cell in the order of execution, with its steps, duration and cost.

    `matrix plan --json` prints it without the keys from `run` on.
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
    warnings: Sequence[PlanWarning | EarlierWarning]
    doubtful_prices: NotRequired[list[str]]
    """Names of prices, and instance types, that AWS's price list may correct."""
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
    """Environment of the figures: aws, local, local-vm or emulated."""
    recycle_bin_days: NotRequired[dict[str, int | None]]
    """Days for which the Recycle Bin keeps what the run deletes, by kind (`volume`, `ebs-snapshot`); None: its
    rules could not be asked for."""
    agent_key: NotRequired[str]
    """Key of the agent's program in the bucket."""
