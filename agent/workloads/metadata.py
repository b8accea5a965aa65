"""Metadata in phases, as in mdtest and IO500: create, stat, open-read, list, rename, delete.

Each phase is a step, with a start barrier and dropped caches before it. The state after a phase is recorded on the
instance's own disk for the next one: the files of one repetition of one combination of parameters.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.engine import phases
from agent.engine.worker_pool import share
from agent.errors import WorkIncomplete
from agent.machine.workspace import Workspace, count_files, remove
from agent.programs.processes import Armed, Ended
from agent.workloads import engines
from agent.workloads.trial import Outcome, Trial
from contract.sizes import Sizes

if TYPE_CHECKING:
    from agent.job import Job, Step

MAX_CALIBRATED = 10_000
HOW = {
    "create": "open(O_CREAT) + close",
    "stat": "stat",
    "open-read": "open + read + close",
    "list": "getdents of the whole directory",
    "rename": "rename within the directory",
    "delete": "unlink",
}
SYNCS = {"none": "", "end": ", fsync of the directory at the end", "each": " + fsync of what has changed"}
WALLS = {"none": "", "first": ", all end when the first worker is done"}


def calibration(params: dict[str, Any], room: int) -> tuple[dict[str, Any], str] | None:
    """The same phase of enough files for the engine's full speed, each worker's whole share."""
    threads = params["threads"]
    files = min(MAX_CALIBRATED, room // max(1, params["file_bytes"])) // threads * threads
    if not files:
        return None
    shortened = {"files": files, "stonewall": "none", "at_most_s": None, "is_alone": True}
    return {**params, **shortened}, "files_per_s"


def prepare(job: Job, step: Step, workspace: Workspace) -> Trial:
    """Find the files of the phase before, or make them outside of the measured time; start the engine at its gate."""
    params = step.params
    files = Files.of(step, workspace)
    workers = files.workers_of(params["phase"])
    plan = {
        **{name: params[name] for name in ("phase", "file_bytes", "stonewall", "at_most_s", "sync")},
        **{"sizes": params.get("sizes", ""), "prefix": files.prefix, "renamed": files.renamed},
    }
    armed = arm(plan, files.directories[:workers], files.counts, job, step, workspace)

    def read(ended: list[Ended]) -> Outcome:
        done = engines.read_report(ended[0].stdout, threads=workers)
        counts = done_by(ended[0].stdout, workers)
        is_cut = params["stonewall"] != "none" or params["at_most_s"] is not None
        files.after(params["phase"], counts, is_cut=is_cut)
        return outcome(params, done, sum(counts))

    return Trial(armed, workers, read)


def arm(
    plan: dict[str, Any], directories: list[str], counts: list[int], job: Job, step: Step, workspace: Workspace
) -> Armed:  # fmt: skip
    """Start the engine with a phase; it tries its modes in a folder beside the step's, which is gone afterwards."""
    pilot = workspace.target.parent / f"{workspace.target.name}-pilot"
    pilot.mkdir()
    whole = {
        **{"threads": len(directories), "directories": directories, "counts": counts, **plan},
        **{"mode": "auto", "pilot_directory": str(pilot), "emulation": engines.emulation(job, step, workspace)},
    }
    if (job.emulation or {}).get("shared"):
        # Changes on a shared storage already have the latency of durable ones, so the emulation adds no sync to it.
        whole["sync"] = "none"
    armed = engines.arm("phases", whole, workspace.scratch)
    remove(pilot)
    return armed


def done_by(report: Path, workers: int) -> list[int]:
    """Return each worker's reported number of files; read_report has checked that all workers reported."""
    reports = engines.read_reports(report)
    counts = {each["number"]: each[phases.DONE] for each in reports if phases.DONE in each}
    return [counts[number] for number in range(workers)]


def outcome(params: dict[str, Any], done: engines.Report, files: int) -> Outcome:
    """Return rates by file, latencies by operation: a listing is one operation however many files it lists."""
    phase = params["phase"]
    name, rate = phase.replace("-", "_"), files / done.duration_s
    metrics = {
        "files_per_s": rate,
        f"{name}s_per_s": rate,
        "duration_s": done.duration_s,
        **done.latency_metrics(f"{name}_lat"),
    }
    sync = params["sync"] if phase in phases.CHANGES else "none"
    if sync != "end":
        # There the last change waits for all others, which is not a stall.
        metrics["longest_stall_s"] = done.longest_stall_s
    most = f", for at most {params['at_most_s']} s" if params.get("at_most_s") else ""
    how = f"{HOW[phase]}{SYNCS[sync]}{WALLS[params.get('stonewall', 'none')]}{most}"
    tool = done.tool(f"{how}, in {done.who}{engines.describe_rate(params)}") | done.open_loop(params)
    return done.outcome(f"{name}_lat", metrics, {"files": files}, tool, done.warnings(params))


@dataclass(frozen=True)
class Files:
    """The files of one repetition of one combination of parameters, as the last phase has left them."""

    root: str  # in which all directories are
    directories: list[str]  # of each worker
    prefix: str  # of all names of this instance
    counts: list[int]  # of each worker, the first ones of its names
    renamed: list[int]  # number of these that have their second name
    is_shared: bool  # whether all workers share the directory, here and on other instances
    note: str  # path of this record for the next phase

    @classmethod
    def of(cls, step: Step, workspace: Workspace) -> Files:
        """The files that the step works with: to be created, or as they are."""
        params = step.params
        series = hashlib.sha256(
            json.dumps([step.repetition, {**params, "phase": None}], sort_keys=True).encode()
        ).hexdigest()[:12]
        note = workspace.data / f"metadata-{series}.json"
        if params["phase"] != "create" and note.exists():
            return cls(**json.loads(note.read_text()))
        files = cls.empty(workspace, params, f"metadata-{series}", str(note))
        if params["phase"] != "create":
            # A ceiling is measured phase by phase.
            files.make(Sizes(params["file_bytes"], params.get("sizes", "")))
        return files

    @classmethod
    def empty(cls, workspace: Workspace, params: dict[str, Any], series: str, note: str) -> Files:
        """Make the directories outside of the measured time. `counts`: files to create."""
        threads, instance = params["threads"], workspace.target.parent
        is_shared = params["directories"] == "fleet"
        # Beside the folders of all instances; if each has its own storage, no other instance uses this one.
        root = (instance.parent if is_shared and not params.get("is_alone") else instance) / series
        folders = [root] * threads if is_shared else [root / str(number) for number in range(threads)]
        for folder in folders:
            folder.mkdir(parents=True, exist_ok=True)
        prefix = f"{instance.name}-" if is_shared else ""
        directories = [str(folder) for folder in folders]
        return cls(str(root), directories, prefix, share(params["files"], threads), [0] * threads, is_shared, note)

    def workers_of(self, phase: str) -> int:
        """One worker lists a directory that all share, on each instance."""
        return 1 if phase == "list" and self.is_shared else len(self.directories)

    def names(self, number: int) -> list[str]:
        prefix = f"{self.directories[number]}/{self.prefix}{number}-"
        return [name.decode() for name in phases.names_of(prefix, self.counts[number], self.renamed[number])]

    def make(self, sizes: Sizes) -> None:
        """Create all files, without measuring it."""
        content, workers = os.urandom(sizes.largest), len(self.directories)
        for number, count in enumerate(self.counts):
            create = phases.creating(content, is_stored=False, sizes=phases.sizes_of(sizes, number, workers, count))
            for name in self.names(number):
                create(name.encode())

    def after(self, phase: str, counts: list[int], *, is_cut: bool) -> None:
        """Check a phase and note its remaining files. Raises WorkIncomplete if files are missing or left over."""
        wanted = sum(self.counts)
        if phase == "list":
            if sum(counts) < wanted or (not self.is_shared and sum(counts) > wanted):
                raise WorkIncomplete(f"{sum(counts)} files were listed, and {wanted} were created")
            return
        if sum(counts) != wanted and not is_cut:
            raise WorkIncomplete(f"{phase} of {sum(counts)} files, there are {wanted}")
        if phase == "create":
            self._check_created(counts)
            self._keep(replace(self, counts=counts))
        elif phase == "rename":
            self._keep(replace(self, renamed=counts))
        elif phase == "delete":
            self._end(counts, is_cut=is_cut)

    def _check_created(self, counts: list[int]) -> None:
        # Counting the fleet's directory would disturb the instances that still create; deleting finds each file.
        if self.is_shared:
            return
        there = [count_files(Path(folder)) for folder in self.directories]
        if there != counts:
            raise WorkIncomplete(f"{sum(there)} of {sum(counts)} files are there after the engine said it was done")

    def _keep(self, files: Files) -> None:
        Path(self.note).write_text(json.dumps(asdict(files)))

    def _end(self, counts: list[int], *, is_cut: bool) -> None:
        """Remove the directories, with files that a stonewall has left in them."""
        Path(self.note).unlink(missing_ok=True)
        for number, count in enumerate(counts if is_cut else []):
            for name in self.names(number)[count:]:
                Path(name).unlink()
        if self.is_shared:
            # The last instance that is done finds it empty.
            with contextlib.suppress(OSError):
                Path(self.root).rmdir()
            return
        # Mountpoint removes a directory with its last file.
        left = sum(count_files(Path(folder)) for folder in self.directories if Path(folder).is_dir())
        remove(Path(self.root))
        if left:
            raise WorkIncomplete(f"{left} files are still there after all were deleted")
