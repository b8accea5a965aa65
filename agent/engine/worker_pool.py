"""Shared by all engines: workers behind the gate of agent.processes, their clocks, their report.

An engine is run with its plan by `agent.workloads.engines.command`: a fresh interpreter shares no lock with the agent's
heartbeat, and forking it copies almost nothing. It writes reports to standard output: first its mode, then one per
worker. Plan and reports pass between two runs of the same Python, so they use `marshal`: importing json takes 13 of the
30 ms of processor time of an engine's start.

Threads where latency dominates, processes where the processor does: 32 Python threads reach 98 % of the ideal at 10 ms
per create, but less than half of the rate of processes on a local XFS, where the interpreter lock is the bottleneck.
There are as many processes as processors; further workers are threads of these processes.
"""

from __future__ import annotations

import gc
import marshal
import os
import sys
import time

from contract import histogram

# Importing typing takes 5 ms, a sixth of an engine's start; type checkers treat this name as typing's.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable

    # Does all of a worker's operations.
    Loop = Callable[[], "Timed"]
    # Prepares the loop of a worker, in the worker itself and before the gate, from its number and whether it has its
    # own process.
    Prepare = Callable[[int, bool], Loop]

GATE_FD, READY_FD = 3, 4
PILOT_OPERATIONS, PILOT_MIN_OPERATIONS, PILOT_S = 200, 3, 0.1
# Threads share one interpreter lock. If all of them together need less than one processor, none waits for the lock:
# most of this time is the kernel's part of an operation, for which the lock is released.
MAX_THREADED_DEMAND = 1.0

# Linux may prolong a sleep by this time, to wake up less often; the default is 50 us (man 2 PR_SET_TIMERSLACK).
TIMER_SLACK_NS = 1

SECOND_NS = 1_000_000_000
# Shorter waits are not stalls that anybody would notice; of so many longer ones the rest cannot be the longest.
MIN_WAIT_NS, MAX_WAITS = 100_000_000, 200
# An hour by the second is 2 MB for each worker; longer steps do not need this resolution.
MAX_SECONDS = 3_600


class Timed:
    """Times of one worker's operations by the monotonic clock (ns): when each was due, started and ended.

    In a closed loop an operation is due when the one before it has ended, so it starts when it is due.
    """

    def __init__(self) -> None:
        self.start_ns = 0
        self.due: list[int] = []
        self.begun: list[int] = []
        self.ended: list[int] = []
        # Of the operations that a free worker waited for: how long after they were due it woke up and began.
        self.late_ns: list[int] = []

    @classmethod
    def closed(cls, stamps: list[int]) -> Timed:
        """Of a closed loop: the clock before the first operation and after each."""
        timed = cls()
        timed.start_ns, timed.due, timed.ended = stamps[0], stamps[:-1], stamps[1:]
        timed.begun = timed.due
        return timed


def read_plan() -> dict[str, Any]:
    """Return the engine's plan, from standard input."""
    plan: dict[str, Any] = marshal.loads(sys.stdin.buffer.read())  # noqa: S302 the agent's own
    return plan


def work(plan: dict[str, Any], pilot: dict[str, float], prepare: Prepare) -> None:
    """Choose a mode, start `plan["threads"]` workers together at the gate, run their loops, report."""
    workers, mode = plan["threads"], plan["mode"]
    if mode == "auto":
        mode = choose_mode(workers, pilot)
    # The workers allocate only integers; a garbage collection would add a pause that is not the storage's.
    gc.disable()
    if mode == "threads":
        report({"mode": mode, **pilot})
        if not run_threads(range(workers), prepare, lambda: None):
            sys.exit(1)
    else:
        teams = teams_of(workers, len(os.sched_getaffinity(0)))
        report({"mode": mode, "processes": len(teams), **pilot})
        run_processes(teams, prepare)


def teams_of(workers: int, processors: int) -> list[range]:
    """The numbers of the workers that share a process: at most one process for each processor.

    More could not run at once, and between two operations the kernel would change from one's memory to another's: on
    two processors 16 jobs of fio read 4 KiB directly 0.6 to 0.7 times as fast as 16 of its threads. Workers of a
    process want its interpreter lock at once only while they run on two processors.
    """
    sizes = share(workers, min(workers, processors))
    return [range(sum(sizes[:number]), sum(sizes[: number + 1])) for number in range(len(sizes))]


def from_common_folder(directories: list[str]) -> list[str]:
    """Go to the folder that holds all of them; their paths from there.

    The kernel walks a path name by name: eight folders more cost 0.4 us a file, a sixth of a create in memory.
    """
    common = os.path.commonpath(directories)
    os.chdir(common)
    return [os.path.relpath(directory, common) for directory in directories]


def choose_mode(workers: int, pilot: dict[str, float]) -> str:
    """Threads when the storage makes them wait, processes when they would wait for each other."""
    demand = workers * pilot["pilot_cpu_us"] / max(pilot["pilot_wall_us"], 1e-9)
    return "threads" if workers > 1 and demand < MAX_THREADED_DEMAND else "processes"


def measure_pilot(operate: Callable[[int], object]) -> dict[str, float]:
    """Return wall and processor time of one operation, done outside of the measured data.

    Medians: on a busy machine a single wait for a processor would look like latency of the storage.
    """
    stamps, cpu_stamps = [time.perf_counter()], [time.thread_time()]
    while len(stamps) <= PILOT_MIN_OPERATIONS or (len(stamps) <= PILOT_OPERATIONS and stamps[-1] - stamps[0] < PILOT_S):
        operate(len(stamps))
        stamps.append(time.perf_counter())
        cpu_stamps.append(time.thread_time())
    return {"pilot_wall_us": median_step(stamps) * 1e6, "pilot_cpu_us": median_step(cpu_stamps) * 1e6}


def median_step(stamps: list[float]) -> float:
    steps = sorted(after - before for before, after in zip(stamps, stamps[1:]))
    return steps[len(steps) // 2]


def share(operations: int, workers: int) -> list[int]:
    """Return the number of operations of each worker. The first workers take the remainder."""
    return [operations // workers + (number < operations % workers) for number in range(workers)]


def run_threads(team: range, prepare: Prepare, finish: Callable[[], None]) -> bool:
    """Workers of this process; they report when `finish` has returned after the last one. False where one failed."""
    import threading  # here, because a worker that is alone needs none: its import takes milliseconds

    done: list[Timed] = []

    def act(number: int) -> None:
        loop = prepare(number, False)
        stand_at_the_gate()
        done.append(loop())

    threads = [threading.Thread(target=act, args=(number,)) for number in team]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if len(done) < len(team):
        return False  # threading has printed the worker's exception
    finish()
    for timed in done:
        report(summarise(timed))
    return True


def run_processes(teams: list[range], prepare: Prepare) -> None:
    """Each team a fork. They report only when the last one has finished: sorting latencies takes processor time."""
    finished_read, finished_write = os.pipe()
    report_read, report_write = os.pipe()

    def finish() -> None:
        os.write(finished_write, b".")
        # If a finished process kept it open, the end of a failed one would go unnoticed.
        os.close(finished_write)
        os.close(report_write)
        os.read(report_read, 1)

    children = []
    for team in teams:
        child = os.fork()
        if child == 0:
            status = 1
            try:
                status = 0 if run_team(team, prepare, finish) else 1
            except BaseException:
                sys.excepthook(*sys.exc_info())
            finally:
                sys.stderr.flush()
                os._exit(status)
        children.append(child)
    os.close(finished_write)
    os.close(READY_FD)
    finished = 0
    while finished < len(children):
        ends = os.read(finished_read, len(children))
        if not ends:  # somebody ended without finishing
            break
        finished += len(ends)
    os.close(report_write)
    statuses = [os.waitpid(child, 0)[1] for child in children]
    sys.exit(1 if any(statuses) else 0)


def run_team(team: range, prepare: Prepare, finish: Callable[[], None]) -> bool:
    """Run the workers of one process; a single worker needs no thread. Return False if one failed."""
    if len(team) > 1:
        return run_threads(team, prepare, finish)
    loop = prepare(team[0], True)
    stand_at_the_gate()
    timed = loop()
    finish()
    report(summarise(timed))
    return True


def sharpen_timer() -> None:
    """Let this process and the workers that it makes sleep no longer than they ask for; older kernels may refuse."""
    try:
        with open("/proc/self/timerslack_ns", "w") as slack:  # noqa: PTH123 pathlib would cost the start of the engine 5 ms
            slack.write(str(TIMER_SLACK_NS))
    except OSError:
        return


def stand_at_the_gate() -> None:
    """Report ready; take one newline and start, or exit if the agent has ended."""
    os.write(READY_FD, b".")
    if os.read(GATE_FD, 1) != b"\n":
        os._exit(125)


def summarise(timed: Timed) -> dict[str, Any]:
    """Return one worker's times, count and latencies; its long waits; its latencies by the second in which they ended.

    Latencies count from the due time of operations, waits from their start: before that the storage had no request.
    """
    latencies = [ended - due for due, ended in zip(timed.due, timed.ended)]
    waits = [(begun, ended) for begun, ended in zip(timed.begun, timed.ended) if ended - begun >= MIN_WAIT_NS]
    waits.sort(key=lambda wait: wait[0] - wait[1])
    end_ns = timed.ended[-1] if timed.ended else timed.start_ns
    seconds: dict[int, list[int]] = {}
    if (end_ns - timed.start_ns) // SECOND_NS <= MAX_SECONDS:
        for latency, ended in zip(latencies, timed.ended):
            seconds.setdefault((ended - 1) // SECOND_NS, []).append(latency)
    return {
        "start_ns": timed.start_ns,
        "end_ns": end_ns,
        "operations": len(latencies),
        "bins": histogram.from_latencies(latencies),
        "longest_ns": max(latencies, default=0),
        "late": histogram.from_latencies(timed.late_ns),
        "waits": waits[:MAX_WAITS],
        "seconds": {second: histogram.from_latencies(ended) for second, ended in seconds.items()},
    }


def report(line: dict[str, Any]) -> None:
    """Write a report in one call: the output is opened for appending, so reports of workers do not mix."""
    content = marshal.dumps(line)
    if os.write(1, content) != len(content):
        raise OSError("the report was cut short: is the disk of the agent's scratch directory full?")
