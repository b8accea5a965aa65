"""The documents that the browser receives: one for each request, with all data of its page."""

from typing import Literal, NotRequired, TypeAlias

from typing_extensions import TypedDict

from cli.follow.heartbeats import Rates


class Column(TypedDict):
    """A column of the matrix: one point of a workload, on fleets of one kind."""

    key: str
    workload: str
    fleet: str
    point: str
    """The parameters that tell its point from other points of the workload."""
    label: str
    """All of its parameters."""
    metric: str
    """Metric of its figures, with the percentile. Empty before the first figure."""


class Figure(TypedDict):
    """The result of one point."""

    column: str
    """Key of its column."""
    words: str
    n: int | None
    times: str
    """How far it is from the best result of its column so far: `×1.48`. Empty: the only result."""
    level: int
    """From 0, close to the best, to 6."""
    is_best: bool
    is_open: bool
    """Whether the difference to the best is not significant."""


class MatrixCell(TypedDict):
    id: str
    name: str
    """Storage, workload and fleet in words."""
    file_system: str
    columns: list[str]
    """Keys of its points' columns, in their order."""
    state: str
    words: str
    """Its current activity, such as `step 3 of 12 · 50 running`."""
    live: str
    """Current traffic and last figure, such as `210 MB/s now; last 1,240 files/s`. Empty: unknown."""
    fraction: float
    """Share that is done, from 0 to 1."""
    error: str
    cost: str
    figures: list[Figure]
    so_far: dict[str, str]
    """While it is measured: the median of each point's samples that have been uploaded, by its column."""
    at: str
    """Key of the column whose point is being measured, or was measured last. Empty before the first step."""


class MatrixRow(TypedDict):
    """A storage."""

    file_system: str
    label: str
    note: str
    state: str
    """State of its file system."""
    error: str
    cells: list[MatrixCell]


class Matrix(TypedDict):
    """Storages down, points of workloads on fleets across."""

    columns: list[Column]
    rows: list[MatrixRow]


Stopping: TypeAlias = Literal["no", "stopping", "stopped", "failed"]


class StopView(TypedDict):
    """State of a stop that was requested on the page."""

    state: Stopping
    lines: list[str]


class Header(TypedDict):
    """The header above all views."""

    run: str
    environment: str
    status: str
    problem: str
    """Reason why the run did not succeed."""
    cells: int
    counts: dict[str, int]
    """Cells by state."""
    fraction: float
    elapsed: str
    left: str
    """Remaining time in words. Empty: unknown."""
    place: str
    """Warning that its figures are not from AWS, for example those of a local run. Empty on AWS."""
    spent: str
    """Cost so far: a range from certain to highest possible; at the end the receipt's. Empty before the plan."""
    expected: str
    """Expected cost of the whole run."""
    budget: str
    receipt: str
    ended_at: float | None
    """End of the run in epoch seconds, at which all clocks stop."""
    resume: str
    """Command that measures the missing cells. Empty if there are none, and while the run goes on."""
    links: list["Link"]
    report: str
    """Address of the report, if it exists."""
    stop: StopView


class Link(TypedDict):
    """An address of the AWS console."""

    words: str
    address: str


StateStatus: TypeAlias = Literal["running", "retrying", "done", "caught", "failed", "stopped"]


class GraphState(TypedDict):
    """Activity of a state of the graph in the shown iteration."""

    status: StateStatus
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
    """Title of each Map's box: the shown item and the number of items."""
    reading: str
    """Progress of reading a long history. Empty: read."""


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
    """A state of the graph in one execution."""

    name: str
    kind: str
    comment: str
    where: str
    """The file system and the cell of this state."""
    arn: str
    """ARN of its execution."""
    address: str
    """Its address in the AWS console; empty locally."""
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


InstanceState: TypeAlias = Literal["booting", "preparing", "at the gate", "running", "done", "failed", "silent", "gone"]


class InstanceTile(TypedDict):
    """An instance of a fleet."""

    id: str
    state: InstanceState
    since_s: float | None
    """Seconds since its last sign of life. None: it has ended."""
    skew_s: float | None
    """Seconds after the fleet's start at which it began its last finished step."""
    values: list[float | None]
    """Its result of each finished step."""


class Fleet(TypedDict):
    """The instances of a cell."""

    cell: str
    expected: int
    counts: dict[str, int]
    instances: list[InstanceTile]
    step: int | None
    """The step that runs, from 0; None before the first."""
    share: float
    """Completed share, from 0 to 1."""
    steps: list[FleetStep]
    metric: str
    unit: str
    higher_is_better: bool
    rates: Rates | None
    """None if no kernel counts this storage's traffic, or before the first heartbeat with rates."""
    traffic: str
    """What its running instances move, such as `210 MB/s now`. Empty: unknown."""
    note: str
    """Data that is not shown, with the reason."""
    is_final: bool
    """Whether all instances have ended."""


class Selection(TypedDict):
    """The shown file system, cell and state: as requested, else the current ones."""

    file_system: str
    cell: str
    state: str


class ViewDocument(TypedDict):
    """The state of a run for one page."""

    as_of: float
    now: float
    """The server's clock; the browser's clock may differ."""
    poll_again_s: float
    trouble: str
    """Reason why it is older than expected. Empty: it is not."""
    header: Header
    matrix: Matrix
    selection: Selection
    graph: NotRequired[Graph]
    state: NotRequired[StateView]
    fleet: NotRequired[Fleet]
