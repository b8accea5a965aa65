"""What the browser is sent: one document for each look, with all that its page shows."""

from typing import Literal, NotRequired

from typing_extensions import TypedDict

CellState = Literal["planned", "waiting", "launching", "running", "analysing", "measured", "failed", "skipped"]


class Column(TypedDict):
    """A column of the matrix: one point of a workload, on fleets of one kind."""

    key: str
    workload: str
    fleet: str
    point: str
    """What sets its point apart from others of the workload."""
    label: str
    """All of its parameters."""
    metric: str
    """What its figures are, with their percentile; empty before the first."""


class Figure(TypedDict):
    """What was measured of one point."""

    column: str
    """Key of its column."""
    words: str
    n: int | None
    ratio: float | None
    """How many times worse than the best so far of its column; None where it stands alone."""
    level: int
    """From 0, close to the best, to 6."""
    is_best: bool
    is_open: bool
    """Whether chance may be the whole difference to the best: nobody can tell."""


class MatrixCell(TypedDict):
    """A cell of the matrix."""

    id: str
    file_system: str
    columns: list[str]
    """Keys of its points' columns, in their order."""
    state: str
    words: str
    """What it does, for people: `step 3 of 12 · 50 running`."""
    live: str
    """What it moves now, and its last figure: `210 MB/s now; last 1,240 files/s`. Empty where nobody knows."""
    fraction: float
    """How much of it is done, from 0 to 1."""
    error: str
    cost: str
    figures: list[Figure]


class MatrixRow(TypedDict):
    """A storage."""

    file_system: str
    label: str
    note: str
    state: str
    """Of its file system."""
    error: str
    cells: list[MatrixCell]


class Matrix(TypedDict):
    """Storages down, points of workloads on fleets across."""

    columns: list[Column]
    rows: list[MatrixRow]


class StopView(TypedDict):
    """How far a stop that was asked for here has got."""

    state: Literal["no", "stopping", "stopped", "failed"]
    lines: list[str]


class Header(TypedDict):
    """What stands above all views."""

    run: str
    environment: str
    status: str
    problem: str
    """Why the run ended, where it did not succeed."""
    cells: int
    counts: dict[str, int]
    """Cells by state."""
    fraction: float
    elapsed: str
    left: str
    """Time left, in words; empty where nobody can say."""
    place: str
    """What its figures are not: empty on AWS, where they are what they say."""
    spent: str
    """Cost so far, from what is certain to the most that it can be; at the end the receipt's. Empty before the plan."""
    expected: str
    """What the whole run is expected to cost."""
    budget: str
    receipt: str
    ended_at: float | None
    """When it ended (epoch s): all clocks stand then."""
    resume: str
    """The command that measures the rest; empty where there is none, and while it goes on."""
    links: list["Link"]
    report: str
    """Address of the report, once there is one."""
    stop: StopView


class Link(TypedDict):
    """An address of the AWS console."""

    words: str
    address: str


class GraphState(TypedDict):
    """What a state of the graph has done, in the iteration that is shown."""

    status: Literal["running", "retrying", "done", "caught", "failed", "stopped"]
    entered: int
    retries: int
    caught: int
    last_at: float
    total_s: float


class TakenEdge(TypedDict):
    """An edge of the graph that was taken."""

    source: str
    target: str
    caught: bool
    times: int


class Graph(TypedDict):
    """The graph's states in the file system and cell that are shown."""

    states: dict[str, GraphState]
    edges: list[TakenEdge]
    maps: dict[str, str]
    """What each Map's box is titled with: which of its items is shown, of how many."""
    reading: str
    """Where a long history is still being read: how far."""


class ProblemView(TypedDict):
    """An error with its cause."""

    error: str
    cause: str
    at: float


class VisitView(TypedDict):
    """One turn of a state."""

    entered_at: float
    exited_at: float | None
    attempts: int
    input: str
    output: str
    assigned: dict[str, str]
    """Variables that it set, as JSON."""
    failed: ProblemView | None
    retried: list[ProblemView]


class StateView(TypedDict):
    """A state of the graph, in one place of it."""

    name: str
    kind: str
    comment: str
    where: str
    """File system and cell that it ran for."""
    arn: str
    """Of the execution it is in."""
    address: str
    """Where the AWS console shows that; empty locally."""
    function: str
    summary: GraphState | None
    visits: list[VisitView]
    """The last ones, the newest first."""


class FleetStep(TypedDict):
    """A step of a cell, over all of its instances."""

    label: str
    """Its point and repetition."""
    done: int
    """Instances that have finished it."""
    least: float | None
    median: float | None
    most: float | None
    words: str
    """Its median with the unit."""


class Square(TypedDict):
    """An instance of a fleet."""

    id: str
    state: Literal["booting", "preparing", "at the gate", "running", "done", "failed", "silent", "gone"]
    since_s: float | None
    """Age of its last sign of life; None once nothing goes on."""
    skew_s: float | None
    """How much later than the fleet's start it began its last finished step."""
    has_log: bool
    values: list[float | None]
    """What it measured in each step, as far as it has come."""


class StepMark(TypedDict):
    """Where a step begins in a curve."""

    at: float
    """Epoch seconds."""
    label: str


class Rates(TypedDict):
    """What the storage moved in each second, over all instances whose heartbeats were read."""

    of: str
    """Where it is counted: disk or network."""
    first: int
    """The first second (epoch)."""
    read: list[float]
    """Bytes per second."""
    written: list[float]
    operations: list[float]
    """Per second."""
    steps: list[StepMark]
    instances: int
    """Whose sum it is."""


class Fleet(TypedDict):
    """The instances of a cell."""

    cell: str
    expected: int
    launched_at: float | None
    counts: dict[str, int]
    instances: list[Square]
    step: int | None
    """The step that runs, from 0; None before the first."""
    share: float
    """How much of it is done, from 0 to 1."""
    steps: list[FleetStep]
    metric: str
    unit: str
    higher_is_better: bool
    rates: Rates | None
    """None where no kernel counts for this storage, or before the first heartbeat that says so."""
    note: str
    """What is not shown, and why."""
    is_final: bool
    """Whether nothing of it goes on."""


class Selection(TypedDict):
    """What is shown: as asked for, or what goes on."""

    file_system: str
    cell: str
    state: str


class ViewDocument(TypedDict):
    """One look at a run."""

    as_of: float
    now: float
    """The server's clock, which the browser's may differ from."""
    look_again_s: float
    trouble: str
    """Why it is older than it should be."""
    header: Header
    matrix: Matrix
    selection: Selection
    graph: NotRequired[Graph]
    state: NotRequired[StateView]
    fleet: NotRequired[Fleet]
