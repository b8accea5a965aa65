"""Any fio job, with the traps of fio closed: files on the storage, an empty working directory, bins of every job."""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.errors import FiguresContradict, MeasurementTooShort, ToolFailed, ToolMissing, WorkIncomplete
from agent.machine import steady_state
from agent.machine.steady_state import Steadiness
from agent.machine.workspace import Workspace
from agent.programs import tools as tool_box
from agent.programs.processes import Armed, Command, Ended, run
from agent.workloads import neighbours, raw_device
from agent.workloads.trial import ImpatientTrial, Outcome, Trial
from contract import histogram
from contract.fio_job import FioJob, kept_of
from contract.keys import HISTOGRAMS

if TYPE_CHECKING:
    from agent.job import Job, Step

# Name of the measured job in the file that fio gets; fio reports each process by its job's name.
WORK = "work"
# fio's log of its jobs for each second, beside the job file and not on the storage.
LOG_NAME, LOG_PERIOD_MS = "each-second", 1000
# The published jobs ask for group_reporting; it loses the jobs' own bins, and the agent sums up the jobs itself.
DROPPED = frozenset(("group_reporting",))
# fio's `clat` begins after the submission, which blocks with buffered I/O: it had only 1.7 us of the 183 us of a libaio
# read. `lat` is the whole operation, as in our engines, so the two may be merged and charted side by side.
WHOLE_LATENCY = ("lat_percentiles=1", "clat_percentiles=0")
DIRECTIONS = ("read", "write")
# In place of what a verify reads back, which is no figure of the job.
NO_READS = {"runtime": 0, "total_ios": 0, "io_bytes": 0}
MAX_WORDS = 500
# The folder of files whose names a job has: others beside it have the same.
NAMED = "named"
# fio keeps fsync, fdatasync and sync_file_range apart from the writes that they follow, in its section `sync`.
TIMED = (*DIRECTIONS, "sync")
# fio's clock counts milliseconds and it sums up per thread; below a second its rates are fiction.
MIN_RUNTIME_S = 1.0
CALIBRATED_FILE_BYTES = 4 << 20
# A given rate is not a limit of the tool.
NOT_CALIBRATED = re.compile(
    "ramp_time|filesize|io_size|number_ios|loops|direct|buffered|offset.*|rate.*|thinktime.*|io_submit_mode"
)
# Options that let a job wait, or work, between its operations: then its latencies need not add up to its runtime.
PAUSING = re.compile(
    "thinktime.*|rate.*|latency_.*|iodepth_.*|refill_buffers|buffer_compress_percentage|dedupe_percentage"
    "|end_fsync|fsync_on_close|openfiles|create_on_open|fill_device"
)
# fio itself takes 1 to 10 us for an operation, 35 us with 64 jobs for each processor (both seen, version 3.33).
MAX_OVERHEAD_NS = 100_000
MIN_EXPLAINED = 1 / 2
# A bin's middle is up to 0.78 % from its values.
BIN_TOLERANCE = 1.02
# With fewer operations, filling and draining the queue take too much of the time to expect a full queue.
MIN_FILLS = 100
# fio 3.33: of 220 jobs in offload mode one never started, because its worker missed the start signal.
STALLED_S = 30.0
STALLS = (
    "fio's offload mode sometimes waits for itself for ever (fio pull requests 1061 and 2058); leave io_submit_mode "
    "out, or write ratePerSecondPerInstance in a read or touch workload"
)


def tools(params: dict[str, Any]) -> set[str]:
    del params
    return {"fio"}


def calibration(params: dict[str, Any], room: int) -> tuple[dict[str, Any], str] | None:
    """The same job for a second on small files; not past the page cache, which memory below it would not have."""
    options, job = params["options"], FioJob(params["options"])
    size = max(CALIBRATED_FILE_BYTES, *map(int, job.blocks))
    if size * job.jobs * job.files > room:
        return None
    kept = {name: value for name, value in options.items() if not NOT_CALIBRATED.fullmatch(name)}
    small = {"size": size * job.files, "runtime": int(MIN_RUNTIME_S), "time_based": 1, "direct": 0}
    # In its memory an instance has no neighbours.
    alone = {name: value for name, value in params.items() if name != "data"}
    return {**alone, "options": {**kept, **small}}, "iops"


def check(points: list[dict[str, Any]]) -> None:
    """Let fio parse the jobs of all points. Raises ToolFailed with its own words."""
    fio = tool_box.find("fio") or "fio"
    sections = [each for params in points for each in _sections(params).values()]
    for engine in {str(each.get("ioengine", "psync")) for each in sections}:
        check_engine(fio, engine)
    if said := refused(fio, sections):
        raise ToolFailed(f"fio refuses a job: {said}")


def refused(fio: str, sections: list[dict[str, Any]]) -> str:
    """Return what a fio says of jobs that it does not take; empty if it takes them."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        job_file = place / "jobs.fio"
        # Processes of all sections together would be more than fio has.
        single = [{name: value for name, value in each.items() if name != "numjobs"} for each in sections]
        job_file.write_text(render(single, [place] * len(single), place))
        ended = subprocess.run(  # noqa: S603
            [fio, "--parse-only", str(job_file)], cwd=place, capture_output=True, text=True, check=False
        )
    return "; ".join((ended.stderr or "it said nothing").splitlines())[:MAX_WORDS] if ended.returncode else ""


def _sections(params: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the options of a point's own job and of those that run beside it."""
    return {WORK: params["options"], **(params.get("beside") or {})}


def prepare(job: Job, step: Step, workspace: Workspace) -> Trial:
    """Write the job file, create the files to read unless a step before has left them (not timed), and arm fio.

    Sections `beside` the point's own run with it: their bytes are work of the sample, their rates and latencies are not
    its figures.
    """
    options = step.params["options"]
    sections = _sections(step.params)
    jobs = [FioJob(each, 0.0 if step.params.get("device") else None) for each in sections.values()]
    fio_job, processes = jobs[0], sum(each.jobs for each in jobs)
    device = raw_device.of_step(job, step, workspace, writes=any(each.writes for each in jobs))
    fio = tool_box.find("fio") or "fio"
    scratch = workspace.scratch / "fio"
    scratch.mkdir()
    job_file, result = workspace.scratch / "job.fio", workspace.scratch / "fio.json"
    if device:
        if not job.mount.get("is_filled"):
            _fill(fio, [*sections.values()], device, workspace)
        places = [device] * len(jobs)
    else:
        sharing = job.instances if "data" in step.params else None
        places = _folders(fio, [*sections.values()], workspace, sharing)
    job_file.write_text(render([*sections.values()], places, scratch, is_device=device is not None))
    argv = [fio, "--output-format=json+", f"--output={result}", str(job_file)]
    armed = Armed([Command(argv, scratch)], workspace.scratch)
    tool = {
        "name": "fio",
        "version": tool_box.recorded_version("fio"),
        "command": " --name=".join(
            " ".join([name, *(f"--{line}" for line in option_lines(each))])
            for name, each in {"fio": options, **(step.params.get("beside") or {})}.items()
        ),
    }

    def read(ended: list[Ended]) -> Outcome:
        text = result.read_text(errors="replace")
        document = parse(text, ended[0])
        _verify(document, jobs, [] if device else places)
        own = {**document, "jobs": [each for each in document["jobs"] if each["jobname"] == WORK]}
        read_back_ms = 0
        if fio_job.verifies:
            read_back_ms = max(each["read"]["runtime"] for each in own["jobs"])
            own["jobs"] = [{**each, "read": NO_READS} for each in own["jobs"]]
        refuse_contradictions(own, options, (os.cpu_count() or 1) * fio_job.jobs / processes)
        moved = {d: _sum(document, d, "io_bytes") for d in DIRECTIONS}
        last_lines = ended[0].tail()
        return Outcome(
            metrics(own, queued=fio_job.is_queued),
            work(document),
            tool,
            raw(own, text, queued=fio_job.is_queued),
            warnings=[
                *([f"fio: {last_lines}"] if last_lines else []),
                *([raw_device.PLAYED] if device and not workspace.device else []),
                *warnings(own, options),
            ],
            # Buffered or not: data from the page cache do not show the storage's speed, and the warning reports that.
            reached={direction: amount for direction, amount in moved.items() if amount},
            worked_ns=worked_ns(own, armed, read_back_ms),
            steadiness=steadiness(own, options, log_rates(scratch / f"{LOG_NAME}_iops.log", own)),
        )

    at_most_s = [longest_s(each) for each in sections.values()]
    if None in at_most_s:
        return Trial(armed, processes, read)
    return ImpatientTrial(armed, processes, read, max(filter(None, at_most_s)), STALLS)


def _fill(fio: str, sections: list[dict[str, Any]], device: Path, workspace: Workspace) -> None:
    """Write what jobs will read of a device, once, because it need not read blocks that were never written."""
    for options in sections:
        kept = FioJob(options, 0.0).kept
        filled = workspace.data / f"filled-{kept}"
        if kept and not filled.exists():
            filling = {**raw_device.filling(options), "direct": int(workspace.device is not None)}
            _run_before(fio, [], filling, device, workspace)
            filled.touch()


def _folders(fio: str, sections: list[dict[str, Any]], workspace: Workspace, sharing: int | None) -> list[Path]:
    """Return the folder of each job's files, which are in it if they must be there before the fleet's start.

    Otherwise fio would write them after it, and instances would begin at different times. Files that nobody writes stay
    for the next step: in the instance's own folder, or in one of all instances that are `sharing` them.
    """
    jobs = [FioJob(options) for options in sections]
    kept = kept_of(jobs)
    names = [kept[number] or (NAMED if job.is_named else str(number)) for number, job in enumerate(jobs)]
    folders = {}
    for name in dict.fromkeys(names):
        inside = [(options, job) for options, job, its in zip(sections, jobs, names) if its == name]

        def lay_out(folder: Path, inside: list[tuple[dict[str, Any], FioJob]] = inside) -> None:
            folder.mkdir(parents=True, exist_ok=True)
            for options, job in inside:
                if job.is_laid_out:
                    _run_before(fio, ["--create_only=1"], options, folder, workspace)

        if sharing:
            laid_out = sum(job.laid_out_bytes for _, job in inside)
            folders[name] = neighbours.shared_data(workspace, name, sharing, lay_out, laid_out)
        else:
            folders[name] = workspace.target.parent / name if name in kept else workspace.target / name
            # fio leaves files that are there as they are.
            lay_out(folders[name])
    return [folders[name] for name in names]


def _run_before(fio: str, arguments: list[str], options: dict[str, Any], place: Path, workspace: Workspace) -> None:
    job_file = workspace.scratch / "before.fio"
    job_file.write_text(render([options], [place], workspace.scratch, is_device=not place.is_dir()))
    run(Command([fio, *arguments, str(job_file)], workspace.scratch), workspace.scratch / "layout")


def longest_s(options: dict[str, Any]) -> float | None:
    """After how many seconds a job in fio's offload mode has stalled; None of a job that cannot, or has no runtime."""
    job = FioJob(options)
    if not (job.is_open_loop and job.is_on("time_based") and job.seconds("runtime")):
        return None
    return 2 * (job.delay_s + job.seconds("ramp_time") + job.seconds("runtime")) + STALLED_S


def check_engine(fio: str, engine: str) -> None:
    """A distribution's fio lacks some engines; which ones it has, only it knows."""
    wanted = engine.split(":", maxsplit=1)[0]
    listed = subprocess.run([fio, "--enghelp"], capture_output=True, text=True, check=False)  # noqa: S603
    if listed.returncode != 0:
        last_lines = " ".join(listed.stderr.split()) or "it said nothing"
        raise ToolFailed(f"'{fio} --enghelp' ended with status {listed.returncode}: {last_lines[-300:]}")
    available = listed.stdout.split("\n", 1)[-1].split()
    if wanted != "external" and wanted not in available:
        raise ToolMissing(
            f"fio has no ioengine '{wanted}' here; it has {', '.join(available)}. Choose one of them, or install a "
            "package of fio that has it (Amazon Linux: fio-engine-libaio; on Debian and Ubuntu some are in fio's "
            "recommended libraries)"
        )


def render(sections: list[dict[str, Any]], places: list[Path], logs: Path, *, is_device: bool = False) -> str:
    """Return a job file: fio treats a job name that matches a directory as a file, so the agent sets names and places.

    The rate of the first section is logged. `places` are the folders of their files, or a device.
    """
    log = [f"write_iops_log={logs / LOG_NAME}", f"log_avg_msec={LOG_PERIOD_MS}", "per_job_logs=0"]
    lines: list[str] = []
    for number, (options, place) in enumerate(zip(sections, places)):
        name = WORK if number == 0 else f"beside{number}"
        # fio splits names at colons.
        path = str(place).replace(":", "\\:")
        where = [f"filename={path}"] if is_device else [f"directory={path}"]
        if not (is_device or FioJob(options).is_named):
            where += ["filename_format=$jobnum.$filenum"]
        lines += [f"[{name}]", *option_lines(options), *WHOLE_LATENCY, *where, *log, ""]
        log = []
    return "\n".join(lines)


def option_lines(options: dict[str, Any]) -> list[str]:
    """Options as fio reads them: true and false as 1 and 0, null as left out."""
    kept = {name: value for name, value in options.items() if value is not None and name not in DROPPED}
    return [f"{name}={int(value) if isinstance(value, bool) else value}" for name, value in kept.items()]


def parse(text: str, ended: Ended) -> dict[str, Any]:
    """Return fio's document, which may follow warnings. A job with an error is a failure."""
    try:
        document: dict[str, Any] = json.loads(text[text.index("{") :])
    except ValueError as err:
        raise ToolFailed(f"fio left no JSON: {ended.tail()}") from err
    for number, job in enumerate(document["jobs"]):
        # With continue_on_error it goes on after errors, which its figures would have.
        if error := job.get("error") or job.get("total_err"):
            raise ToolFailed(f"job {number} of fio ended with error {error}: {ended.tail()}")
    return document


def metrics(document: dict[str, Any], *, queued: bool = False) -> dict[str, float]:
    """Return rates as in fio's own group report (all I/O over the longest runtime), percentiles from the merged bins.

    `queued` leaves out latencies of a whole queue (`FioJob.is_queued`).
    """
    duration_s = _longest_runtime_ms(document) / 1000
    if duration_s < MIN_RUNTIME_S:
        raise MeasurementTooShort(
            f"fio ran for {duration_s:g} s, and below {MIN_RUNTIME_S:g} s its rates mean nothing; "
            "use a larger size, or time_based with a runtime"
        )
    figures = {"duration_s": duration_s, "iops": 0.0, "mb_per_s": 0.0}
    for direction in DIRECTIONS:
        runtime_s = max(job[direction]["runtime"] for job in document["jobs"]) / 1000
        if not runtime_s:
            continue
        iops = _sum(document, direction, "total_ios") / runtime_s
        bytes_per_s = _sum(document, direction, "io_bytes") / runtime_s
        figures["iops"] += iops
        figures["mb_per_s"] += bytes_per_s / 1e6
        figures[f"{direction}_iops"] = iops
        figures[f"{direction}_mib_per_s"] = bytes_per_s / 2**20
    for name, (bins, longest_ns) in latencies(document, queued=queued).items():
        figures |= histogram.latency_metrics(name, bins, longest_ns)
    return figures


def latencies(document: dict[str, Any], *, queued: bool = False) -> dict[str, tuple[dict[int, int], int]]:
    """Return bins and the longest latency (ns) of each kind of operation that fio timed; `queued` as of `metrics`."""
    found = {kind: merged_bins(document, kind) for kind in _timed(queued=queued)}
    return {
        f"{kind}_lat": (bins, max(int(job.get(kind, {}).get("lat_ns", {}).get("max", 0)) for job in document["jobs"]))
        for kind, bins in found.items()
        if bins
    }


def worked_ns(document: dict[str, Any], armed: Armed, read_back_ms: int = 0) -> tuple[int, int] | None:
    """Return start and end (monotonic ns) of the time that fio's rates cover: without its start, its ramp and its end.

    fio dates its report 20 to 26 ms after its last job has ended (seen with 3 to 12 jobs, version 3.33); the position
    is only known this well, the length is exact. None if fio gives no date. A verify reads back after that time.
    """
    if "timestamp_ms" not in document:
        return None
    lasted_ns = _longest_runtime_ms(document) * 1_000_000
    # A date from before a step of the wall clock is beyond the time of the programs.
    dated_ns = armed.monotonic_ns((document["timestamp_ms"] - read_back_ms) / 1000)
    end_ns = min(max(dated_ns, armed.released_ns + lasted_ns), armed.ended_ns)
    return end_ns - lasted_ns, end_ns


def merged_bins(document: dict[str, Any], kind: str) -> dict[int, int]:
    """Whole latencies (submission and completion) of all jobs' reads, writes or syncs in one histogram (ns)."""
    return histogram.merge(_bins(job, kind) for job in document["jobs"])


def refuse_contradictions(document: dict[str, Any], options: dict[str, Any], processors: float) -> None:
    """Compare each job's latencies with its rate by Little's law: operations in flight = rate * latency.

    A job cannot have more operations in flight than its depth, nor can a job without pauses spend most of its time with
    none. Otherwise rate and latency cannot both be true, and it is unknown which is wrong. Syncs count only as an
    explanation: fio times those of asynchronous engines beside the writes that wait for them.

    Raises FiguresContradict with the job, both figures and their possible values.
    """
    requested = FioJob(options)
    depth = requested.depth
    is_steady = not any(PAUSING.fullmatch(name) for name, value in options.items() if value)
    crowding = max(1.0, requested.jobs / processors)
    for number, job in enumerate(document["jobs"]):
        runtime_ns = max(job[direction]["runtime"] for direction in DIRECTIONS) * 1e6
        moving = histogram.merge(_bins(job, direction) for direction in DIRECTIONS)
        operations = sum(moving.values())
        if not (operations and runtime_ns):
            continue
        moving_ns = sum(_timed_ns(job, direction) for direction in DIRECTIONS)
        syncing_ns = _timed_ns(job, "sync")
        longest_ns = max(*moving, *(job[direction].get("lat_ns", {}).get("max", 0) for direction in DIRECTIONS))
        # Operations in flight at the start of the clock count whole: one slowest operation for each place in the queue.
        # Offloaded requests are timed from when they are due, so any number may wait (fio's
        # poisson-rate-submission.fio).
        most_ns = math.inf if requested.is_open_loop else depth * (runtime_ns + longest_ns) * BIN_TOLERANCE
        expected = depth if operations >= MIN_FILLS * depth else 1
        explained_ns = (moving_ns + syncing_ns) / expected
        unexplained_ns = (runtime_ns - explained_ns) / operations
        is_idle = explained_ns < MIN_EXPLAINED * runtime_ns and unexplained_ns > MAX_OVERHEAD_NS * crowding
        if moving_ns <= most_ns and not (is_steady and is_idle):
            continue
        timed_ns = moving_ns + syncing_ns
        raise FiguresContradict(
            f"job {number} of fio: {operations / runtime_ns * 1e9:,.0f} operations/s of "
            f"{timed_ns / operations / 1000:,.1f} us each mean {timed_ns / runtime_ns:.3g} in flight (Little's law), "
            f"but the job keeps {depth} in flight: one of fio's two figures is wrong. Use another ioengine or "
            "version of fio, and report the job"
        )


def _timed(*, queued: bool) -> tuple[str, ...]:
    return tuple(kind for kind in TIMED if not (queued and kind in DIRECTIONS))


def warnings(document: dict[str, Any], options: dict[str, Any]) -> list[str]:
    """Return warnings for readers of the figures: where a write ended, whether the job got as steady as requested."""
    sentences, requested = [], FioJob(options)
    if requested.is_queued:
        sentences.append(
            "read_lat and write_lat are not available: libaio submits buffered I/O one by one, so fio's latencies are "
            f"those of a queue of {requested.depth}, not of an operation; write direct 1, or iodepth 1"
        )
    if merged_bins(document, "sync") and not (requested.is_direct or requested.is_on("sync")):
        sentences.append("write_lat ends in the page cache; how long until the data was on the storage is in sync_lat")
    for number, job in enumerate(document["jobs"]):
        steadiness = job.get("steadystate")
        if steadiness and not steadiness.get("attained"):
            sentences.append(f"job {number} of fio did not become as steady as asked for (ss={steadiness.get('ss')})")
    return sentences


def steadiness(document: dict[str, Any], options: dict[str, Any], rates: list[float]) -> Steadiness | None:
    """Return the steadiness of the job: by fio's own rule (`ss`) if the job has one, else by ours over each second.

    None for a given rate, and without fio's log.
    """
    judged = [job["steadystate"] for job in document["jobs"] if job.get("steadystate")]
    if judged:
        runtime_s = _longest_runtime_ms(document) / 1000
        if not all(of_job.get("attained") for of_job in judged):
            return Steadiness(round(runtime_s), steady_state.NOT_STEADY)
        steady_iops = sum(of_job["data"]["iops_mean"] for of_job in judged)
        from_s = max(0.0, runtime_s - max(of_job["duration"] for of_job in judged))
        return Steadiness(round(runtime_s), steady_state.STEADY, from_s, steady_iops / metrics(document)["iops"])
    return steady_state.find(rates) if rates and FioJob(options).given_per_s is None else None


def log_rates(log: Path, document: dict[str, Any]) -> list[float]:
    """Return operations per second in each second in which all jobs ran, both directions, from fio's log of averages.

    A line is a time (ms, the end of the second), the second's mean, and the direction; each job has its own lines. A
    second in which a job did nothing has no line, and perhaps its last one neither (seen with 2 jobs, 3.33).
    """
    if not log.exists():
        return []
    means: dict[int, list[int]] = {}
    for line in log.read_text().splitlines():
        at_ms, mean = line.split(",")[:2]
        means.setdefault(round(int(at_ms) / LOG_PERIOD_MS), []).append(int(mean))
    runtimes_ms = [max(job[direction]["runtime"] for direction in DIRECTIONS) for job in document["jobs"]]
    last = min(runtimes_ms) // LOG_PERIOD_MS
    if len(means.get(last, [])) < max(map(len, means.values()), default=0):
        last -= 1
    return [float(sum(means.get(second, []))) for second in range(1, last + 1)]


def work(document: dict[str, Any]) -> dict[str, float]:
    return {f"{d}_bytes": _sum(document, d, "io_bytes") for d in DIRECTIONS if _sum(document, d, "io_bytes")}


def raw(document: dict[str, Any], text: str, *, queued: bool = False) -> dict[str, bytes]:
    """fio's output as it was, and the merged histograms in the form that all workloads share.

    `queued` as of `metrics`.
    """
    timed = latencies(document, queued=queued)
    histograms = {name: histogram.entry(*kept) for name, kept in timed.items()}
    merged = {"schema": 1, "unit": "ns", "histograms": histograms}
    return {"fio.json": text.encode(), HISTOGRAMS: json.dumps(merged).encode()}


def _verify(document: dict[str, Any], requested: list[FioJob], folders: list[Path]) -> None:
    """Check that fio timed all reported bytes, in its own files, one set per job; a device has no folders."""
    if folders and not any(job.is_on("unlink_each_loop") for job in requested):
        _verify_files(document, requested, [path for folder in dict.fromkeys(folders) for path in folder.iterdir()])
    for direction in DIRECTIONS:
        moved = _sum(document, direction, "io_bytes")
        counted = sum(sum(_bins(job, direction).values()) for job in document["jobs"])
        if moved and not counted:
            raise WorkIncomplete(f"fio says it moved {moved} bytes ({direction}) but has no latency of any operation")


def _verify_files(document: dict[str, Any], requested: list[FioJob], files: list[Path]) -> None:
    expected = sum(job.jobs * job.files for job in requested)
    are_known = not any(job.is_named for job in requested)
    if (are_known and len(files) != expected) or not all(path.stat().st_size for path in files):
        sizes = sorted(path.stat().st_size for path in files)
        raise WorkIncomplete(
            f"fio left {len(files)} files of {sizes[:3]} bytes and more, {expected} non-empty ones expected"
        )
    # Without wrapping around (time_based, loops, io_size), fio cannot write more than its files contain.
    wraps = any(job.is_on("time_based", "loops", "io_size") or job.is_shared for job in requested)
    moved, stored = _sum(document, "write", "io_bytes"), sum(path.stat().st_size for path in files)
    if not wraps and moved > stored:
        raise WorkIncomplete(f"fio says it wrote {moved} bytes, its files hold {stored}")


def _bins(job: dict[str, Any], kind: str) -> dict[int, int]:
    """Return a job's bins, corrected for values beyond fio's last bin if fio's mean shows them."""
    timed = job.get(kind, {}).get("lat_ns", {})
    bins = {int(value): count for value, count in timed.get("bins", {}).items()}
    return histogram.repaired(bins, timed.get("max", 0), timed.get("mean", 0.0) * sum(bins.values()))


def _timed_ns(job: dict[str, Any], kind: str) -> float:
    """Return the sum of a job's latencies: from fio's own mean if its bins cut values off, else from the bins."""
    bins, mean_ns = _bins(job, kind), job.get(kind, {}).get("lat_ns", {}).get("mean")
    by_bins = float(sum(value * count for value, count in bins.items()))
    is_cut = histogram.FIO_LAST_VALUE_NS in bins and mean_ns is not None
    return float(mean_ns) * sum(bins.values()) if is_cut else by_bins


def _longest_runtime_ms(document: dict[str, Any]) -> int:
    return max((job[direction]["runtime"] for job in document["jobs"] for direction in DIRECTIONS), default=0)


def _sum(document: dict[str, Any], direction: str, field: str) -> float:
    return float(sum(job[direction][field] for job in document["jobs"]))
