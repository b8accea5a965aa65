"""A run's progress, read from its rows in the table. Pure: rows and a time in, words and figures out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from cli.target.documents import ProgressRow
from cli.target.service import Execution
from matrix.terms.documents.parts import CostRange
from matrix.terms.documents.plan import PlanCell, PlanDocument
from matrix.terms.documents.result import PointMetrics
from matrix.terms.figures import sample_count
from matrix.terms.names import canonical, fleet_label, point_labels, primary_metric, shared_and_own, workload_names
from matrix.terms.quantities import quantity, rough_duration
from matrix.terms.sentences import error_text

# While a command stops a run: nothing of it goes on, and its resources are being deleted.
STOPPING = "STOPPING"
ENDED_RUNS = ("SUCCEEDED", "FAILED", "TIMED_OUT", "ABORTED")
ENDED_CELLS = ("measured", "failed", "skipped")
# State of parts that were running when the run ended.
STOPPED = "stopped"
# State of planned cells that had not started when the run ended.
NOT_MEASURED = "not measured"
ENDED_SYSTEMS = ("gone", "failed", "skipped", "kept")
INSTANCE_COUNTS = ("ready", "running", "done", "failed")


@dataclass(frozen=True)
class Measured:
    """Figures of a measured cell: the range of its points' medians (`202 – 833 MB/s`) and their sample count `n`."""

    p50: str
    n: str

    @classmethod
    def of(cls, points: Sequence[PointMetrics]) -> "Measured | None":
        """Summarise the points of a cell by their primary metric; None if no point has a median."""
        named = [judged for point in points if (judged := primary_metric(point))]
        # Points of an open loop have another primary metric than those of a closed one.
        metrics = [metric for name, metric in named if name == named[0][0] and metric.get("p50") is not None]
        if not metrics:
            return None
        unit, values = metrics[0].get("unit", ""), [float(metric["p50"]) for metric in metrics]
        low, high = quantity(min(values), unit if unit == "s" else ""), quantity(max(values), unit)
        span = high if len(metrics) == 1 else f"{low.strip()} – {high}"
        fewest = min(metrics, key=lambda metric: (metric.get("n") or 0) / (metric.get("expected_n") or 1))
        return cls(span, sample_count(fewest))


@dataclass(frozen=True)
class CellProgress:
    id: str
    file_system: str
    state: str = "planned"
    started_at: float | None = None
    finished_at: float | None = None
    metered_usd: CostRange | None = None  # billed by use, once it has ended
    expected_s: float = 0.0
    step: int | None = None  # 0-based; the number of steps when all are done
    share: float = 0.0  # of the running step, from 0 to 1
    live: str = ""  # its traffic or its last result, in words: `210 MB/s now`
    steps: int | None = None
    point: str = ""
    instances: dict[str, int] = field(default_factory=dict)
    error: str = ""
    measured: Measured | None = None
    fleet: str = ""  # workload and fleet in words
    labels: Mapping[str, str] = field(default_factory=dict)  # of test points, by their ids
    points: Sequence[str] = ()  # the test point of each step, if the plan is known
    measuring_since: float | None = None  # when its first step began, if its heartbeats have been read

    @property
    def has_ended(self) -> bool:
        """Return whether the cell is in a final state."""
        return self.state in ENDED_CELLS

    def elapsed_s(self, now: float) -> float | None:
        """Seconds since the cell started, or that it took; None before it starts."""
        if self.started_at is None:
            return None
        return max(0.0, (self.finished_at or now) - self.started_at)

    def fraction(self, now: float) -> float:
        """The share that is done, by steps or by time, whichever is more; at most 95 % before the cell has ended."""
        if self.has_ended:
            return 1.0
        elapsed = self.elapsed_s(now)
        if elapsed and self.measuring_since is not None and self.step and self.steps:
            # The start takes its time, too: all that is left are steps, which take as long as those before.
            step_s = (now - self.measuring_since) / (self.step + self.share)
            return min(0.95, elapsed / (elapsed + step_s * max(0.0, self.steps - self.step - self.share)))
        by_time = elapsed / self.expected_s if elapsed and self.expected_s else 0.0
        by_steps = (self.step + self.share) / self.steps if self.step is not None and self.steps else 0.0
        return min(0.95, max(by_time, by_steps))

    def describe_state(self) -> str:
        """Write what the cell does: `step 2 of 6, threads 4`, `starting, 1 of 3 ready`; else its state."""
        if self.state == "waiting":
            return f"starting, {self.instances.get('ready', 0)} of {self.instances.get('expected') or 0} ready"
        step = self.describe_step()
        return f"step {step}" if self.state == "running" and " of " in step else self.state

    def describe_step(self) -> str:
        """Write the current step and its test point: `2 of 6, threads 4`."""
        if self.step is None or not self.steps or self.state in ("planned", "launching"):
            return f"{self.steps} step{'s' if self.steps > 1 else ''}" if self.steps else ""
        if self.has_ended or self.step >= self.steps:
            return f"{min(self.step, self.steps)} of {self.steps}"
        # The plan knows it for a step that the row does not have yet.
        point = self.points[self.step] if self.step < len(self.points) else self.point
        label = self.labels.get(point, point) if len(self.labels) != 1 else ""
        return ", ".join(filter(None, [f"{self.step + 1} of {self.steps}", label]))

    def describe_points(self) -> str:
        """Write how many of several test points have values: `3 of 4 points`; empty while none has."""
        begun = len(set(self.points[: self.step or 0]))
        return f"{begun} of {len(self.labels)} points" if begun and len(self.labels) > 1 else ""

    def describe_instance(self) -> str:
        """Write how many instances are in which state: `4: 3 ready, 1 running`."""
        counts = [f"{self.instances[name]} {name}" for name in INSTANCE_COUNTS if self.instances.get(name)]
        expected = self.instances.get("expected")
        if not expected:
            return ""
        return f"{expected}: {', '.join(counts)}" if counts else str(expected)


@dataclass(frozen=True)
class FileSystemProgress:
    id: str
    state: str
    since: float | None = None
    error: str = ""


@dataclass(frozen=True)
class RunProgress:
    """The whole run at one moment."""

    execution: Execution
    cells: tuple[CellProgress, ...] = ()
    file_systems: tuple[FileSystemProgress, ...] = ()
    expected_s: float = 0.0
    took_s: float | None = None  # from its plan to its summary, as in its report
    cost: str = ""  # cost so far, in words; empty if unknown
    names: Mapping[str, str] = field(default_factory=dict)  # of storages, by their file systems' ids
    mark: str = ""  # behind the name of a cell that stands alone: `(emulated, not AWS)`

    def name_of(self, cell: CellProgress) -> str:
        """Name a cell in words: `EBS gp3, dd, 3 × m6i.xlarge`; by its id without a plan."""
        storage = self.names.get(cell.file_system)
        if not storage or not cell.fleet:
            return f"cell {cell.id}"
        return f"{' '.join(filter(None, [storage, self.mark]))}, {cell.fleet}"

    def name_of_storage(self, system: str) -> str:
        """Name a storage in words, by the id of its file system; by that id without a plan."""
        return self.names.get(system, system)

    def count(self, state: str) -> int:
        """Return the number of cells in a state."""
        return sum(cell.state == state for cell in self.cells)

    def counts(self) -> str:
        """Write how many cells have ended, and how: `3 of 4 cells measured, 1 failed`."""
        ends = [f", {self.count(state)} {state}" for state in ("failed", "skipped") if self.count(state)]
        return f"{self.count('measured')} of {len(self.cells)} cells measured{''.join(ends)}"

    def fraction(self, now: float) -> float:
        """Return the completed share of the run, from 0 to 1: the mean over its cells, weighted by expected time."""
        weights = [max(cell.expected_s, 1.0) for cell in self.cells]
        # A cell that was under way when the run ended counts as not done.
        shares = [cell.fraction(now) if self.execution.is_running else float(cell.has_ended) for cell in self.cells]
        done = sum(weight * share for weight, share in zip(weights, shares, strict=True))
        return done / sum(weights) if weights else 0.0

    def left_s(self, now: float) -> float | None:
        """Seconds that are left if the rest takes as long as all until now did; None before a step has ended."""
        if not self.execution.is_running or not any(cell.has_ended or cell.step for cell in self.cells):
            return None
        # Cells that were taken over from an earlier run took no time.
        own = [cell for cell in self.cells if cell.started_at is not None or not cell.has_ended]
        done = replace(self, cells=tuple(own)).fraction(now)
        begun = min((cell.started_at for cell in own if cell.started_at is not None), default=self.execution.started_at)
        # After all cells have ended, deletion and analysis remain; the cells do not predict their time.
        return max(0.0, now - begun) * (1 - done) / done if 0 < done < 1 else None

    def elapsed_s(self, now: float) -> float:
        """Seconds since the run started, or that it took: by its summary, if it has one."""
        if self.took_s is not None and not self.execution.is_running:
            return self.took_s
        return max(0.0, (self.execution.ended_at or now) - self.execution.started_at)


def read(
    rows: list[ProgressRow],
    plan: PlanDocument | None,
    execution: Execution,
    measured: Mapping[str, Measured | None] | None = None,
) -> RunProgress:
    """Read a run's progress from its rows; the plan gives the order, and the cells that have no row yet.

    `measured` holds the figures of cells already read, by cell id.
    """
    workloads = workload_names(cell["workload"] for cell in plan["cells"]) if plan else {}
    planned = (
        {cell["id"]: _planned_cell(cell, workloads[canonical(cell["workload"])]) for cell in plan["cells"]}
        if plan
        else {}
    )
    cells = {row["cell"]: _cell(row, planned.get(row["cell"])) for row in rows if row["SK"].startswith("CELL#")}
    cells = {name: replace(cell, measured=(measured or {}).get(name)) for name, cell in cells.items()}
    order = list(planned) + [name for name in cells if name not in planned]
    systems = [_file_system(row) for row in rows if row["SK"].startswith("FS#")]
    unplanned: ProgressRow = {"SK": "PLAN"}
    whole = next((row for row in rows if row["SK"] == "PLAN"), unplanned)
    expected = whole.get("expected_s") or (plan["totals"]["expected_s"] if plan else 0.0)
    began, ended = whole.get("started_at"), whole.get("finished_at")
    now = RunProgress(
        execution,
        tuple(cells.get(name) or planned[name] for name in order),
        tuple(systems),
        float(expected),
        ended - began if began is not None and ended is not None else None,
    )
    return _at_its_end(now) if execution.status in ENDED_RUNS else now


def stopping(now: RunProgress) -> RunProgress:
    """Return a run that is being stopped: what was under way will not end any more."""
    return _at_its_end(replace(now, execution=replace(now.execution, status=STOPPING)))


def _at_its_end(now: RunProgress) -> RunProgress:
    """Return a run that has ended, with final states for parts whose rows stopped changing early."""
    ended_at = now.execution.ended_at
    return replace(
        now,
        cells=tuple(_ended_cell(cell, ended_at) for cell in now.cells),
        file_systems=tuple(
            system if system.state in ENDED_SYSTEMS else replace(system, state=_end_of(system.state))
            for system in now.file_systems
        ),
    )


def _ended_cell(cell: CellProgress, ended_at: float | None) -> CellProgress:
    if cell.has_ended:
        return cell
    state = _end_of(cell.state)
    return replace(cell, state=state, finished_at=None if state == NOT_MEASURED else cell.finished_at or ended_at)


def _end_of(state: str) -> str:
    return NOT_MEASURED if state == "planned" else STOPPED


def _telling(labels: Mapping[str, str]) -> dict[str, str]:
    """Return the labels of a cell's test points without what all of them share."""
    _, telling = shared_and_own(labels.values())
    return {point: telling[label] for point, label in labels.items()}


def _planned_cell(cell: PlanCell, workload: str) -> CellProgress:
    return CellProgress(
        cell["id"],
        cell["file_system"],
        expected_s=cell["expected_s"],
        steps=len(cell["steps"]),
        instances={"expected": int(cell["fleet"]["count"])},
        fleet=f"{workload}, {fleet_label(cell['fleet'])}",
        labels=_telling(point_labels(cell["points"])),
        points=[step["point"] for step in cell["steps"]],
    )


def _cell(row: ProgressRow, planned: CellProgress | None) -> CellProgress:
    return CellProgress(
        id=row["cell"],
        file_system=row.get("file_system", ""),
        state=row.get("state", "planned"),
        started_at=row.get("started_at"),
        finished_at=row.get("finished_at"),
        metered_usd=row.get("metered_usd"),
        expected_s=float(row.get("expected_s") or (planned.expected_s if planned else 0)),
        step=row.get("step"),
        steps=row.get("steps") or (planned.steps if planned else None),
        point=row.get("point") or "",
        instances=row.get("instances") or (planned.instances if planned else {}),
        error=error_text(row.get("error")),
        fleet=planned.fleet if planned else "",
        labels=planned.labels if planned else {},
        points=planned.points if planned else (),
    )


def _file_system(row: ProgressRow) -> FileSystemProgress:
    return FileSystemProgress(row["file_system"], row.get("state", ""), row.get("since"), error_text(row.get("error")))


def describe_time(now: RunProgress, at: float) -> str:
    """Format elapsed and remaining time: `2m 05s, about 3m 10s left`; see `left_s`."""
    words = rough_duration(now.elapsed_s(at))
    if now.cells and now.execution.is_running and all(cell.has_ended for cell in now.cells):
        return f"{words}, deleting and analysing"
    left = now.left_s(at)
    return words if left is None else f"{words}, about {rough_duration(left)} left"


def changes(before: RunProgress | None, after: RunProgress) -> list[str]:
    """Return the changes between two polls, one line each."""
    old: dict[str, CellProgress | FileSystemProgress] = {}
    if before:
        old = {f"fs {system.id}": system for system in before.file_systems} | {cell.id: cell for cell in before.cells}
    lines = [
        _join(f"storage {after.name_of_storage(system.id)}: {system.state}", system.error)
        for system in after.file_systems
        if _signature(old.get(f"fs {system.id}")) != _signature(system)
    ]
    lines += [
        _cell_line(after, cell)
        for cell in after.cells
        if cell.state != "planned" and _signature(old.get(cell.id)) != _signature(cell)
    ]
    return lines


def endings(before: RunProgress | None, after: RunProgress) -> list[str]:
    """Return a line for each cell that has ended since, and for each file system that has failed."""
    old = {cell.id for cell in before.cells if cell.has_ended} if before else set()
    failed = {system.id for system in before.file_systems if system.error} if before else set()
    return [
        _join(f"storage {after.name_of_storage(system.id)}: {system.state}", system.error)
        for system in after.file_systems
        if system.error and system.id not in failed
    ] + [_cell_line(after, cell) for cell in after.cells if cell.has_ended and cell.id not in old]


def _signature(part: CellProgress | FileSystemProgress | None) -> tuple[object, ...]:
    """Return the fields whose change deserves a new line; a single instance that becomes ready does not."""
    if isinstance(part, CellProgress):
        return part.state, part.step, part.error, part.instances.get("failed")
    return (part.state, part.error) if part else ()


def _cell_line(now: RunProgress, cell: CellProgress) -> str:
    # The logs of a failed cell are asked for by its id.
    name = f"cell {cell.id}" if cell.error else now.name_of(cell)
    if cell.measured:
        return _join(f"{name}: {cell.state}, P50 {cell.measured.p50}, n {cell.measured.n} of each point", cell.error)
    instances = cell.describe_instance()
    words = cell.state if cell.describe_state().startswith(cell.state) else f"{cell.state}, {cell.describe_state()}"
    if cell.error.startswith(f"{cell.state}: "):
        words = ""
    return _join(f"{name}: {words}", f"instances {instances}" if instances else "", cell.error)


def _join(*words: str) -> str:
    return "; ".join(word for word in words if word)
