"""The create engine: open(O_CREAT) and close, as fast as the storage and not the tool allows.

Run as `python -m agent.engine.creates '<plan as JSON>'` behind the gate of agent.processes. A fresh interpreter: it
shares no lock with the agent's heartbeat, and forking it copies almost nothing. It writes JSON lines to standard
output: first how it works, then one per worker.

Threads where latency dominates, processes where the processor does: 32 Python threads reach 98 % of the ideal at 10 ms
per create, but less than half of what processes do on a local XFS, where the interpreter lock is the bottleneck.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import threading
import time
from typing import Any, Callable

from agent.engine import histogram

GATE_FD, READY_FD = 3, 4
CREATE = os.O_CREAT | os.O_WRONLY
PILOT_FILES, PILOT_MIN_FILES, PILOT_S = 200, 3, 0.1
# Threads share one interpreter: while all of them together ask for less than one processor, it does not queue (most of
# what they ask for is the kernel's part of a create, and the interpreter lock is released for that).
MAX_THREADED_DEMAND = 1.0


def main() -> None:
    """Prepare, wait at the gate, create, report."""
    plan = json.loads(sys.argv[1])
    pilot = measure_pilot(plan["pilot_directory"], plan["latency_s"])
    mode = plan["mode"]
    if mode == "auto":
        mode = choose_mode(plan["threads"], pilot)
    # The workers allocate only integers; a collection in the middle would be a pause of ours, not the storage's.
    gc.disable()
    report({"mode": mode, **pilot})
    loop = plain_loop if not plan["latency_s"] else delayed_loop(plan["latency_s"])
    {"threads": run_threads, "processes": run_processes}[mode](plan, loop)


def choose_mode(workers: int, pilot: dict[str, float]) -> str:
    """Threads when the storage makes them wait, processes when they would wait for each other."""
    demand = workers * pilot["pilot_cpu_us"] / max(pilot["pilot_wall_us"], 1e-9)
    return "threads" if workers > 1 and demand < MAX_THREADED_DEMAND else "processes"


def measure_pilot(directory: str, latency_s: float) -> dict[str, float]:
    """Wall and processor time of one create, in a directory beside the measured ones.

    Medians: on a busy machine one wait for a processor would pass for latency of the storage.
    """
    stamps, cpu_stamps = [time.perf_counter()], [time.thread_time()]
    while len(stamps) <= PILOT_MIN_FILES or (len(stamps) <= PILOT_FILES and stamps[-1] - stamps[0] < PILOT_S):
        if latency_s:
            time.sleep(latency_s)
        os.close(os.open(f"{directory}/p{len(stamps)}", CREATE, 0o666))
        stamps.append(time.perf_counter())
        cpu_stamps.append(time.thread_time())
    for number in range(1, len(stamps)):
        os.unlink(f"{directory}/p{number}")  # noqa: PTH108 pathlib would cost the start of the engine 5 ms
    return {"pilot_wall_us": median_step(stamps) * 1e6, "pilot_cpu_us": median_step(cpu_stamps) * 1e6}


def median_step(stamps: list[float]) -> float:
    """The middle of the differences between neighbours."""
    steps = sorted(after - before for before, after in zip(stamps, stamps[1:]))
    return steps[len(steps) // 2]


def share(files: int, workers: int) -> list[int]:
    """How many files each worker creates; the first ones take what does not divide."""
    return [files // workers + (number < files % workers) for number in range(workers)]


def plain_loop(names: list[bytes]) -> list[int]:
    """Create the files; returns the clock (monotonic ns) before the first and after each."""
    now, open_, close, flags = time.monotonic_ns, os.open, os.close, CREATE
    stamps: list[int] = [now()]
    append = stamps.append
    for name in names:
        close(open_(name, flags, 0o666))
        append(now())
    return stamps


def delayed_loop(latency_s: float) -> Callable[[list[bytes]], list[int]]:
    """The same loop over an emulated storage that takes `latency_s` longer for each create."""

    def loop(names: list[bytes]) -> list[int]:
        stamps: list[int] = [time.monotonic_ns()]
        for name in names:
            time.sleep(latency_s)
            os.close(os.open(name, CREATE, 0o666))
            stamps.append(time.monotonic_ns())
        return stamps

    return loop


def run_threads(plan: dict[str, Any], loop: Callable[[list[bytes]], list[int]]) -> None:
    """All workers in this process."""
    stamps: list[list[int]] = [[] for _ in plan["directories"]]

    def work(number: int, files: int) -> None:
        directory = plan["directories"][number]
        names = [f"{directory}/{number}-{n}".encode() for n in range(files)]
        stand_at_the_gate()
        stamps[number] = loop(names)

    shares = share(plan["files"], plan["threads"])
    workers = [threading.Thread(target=work, args=pair) for pair in enumerate(shares)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    if any(len(taken) != files + 1 for taken, files in zip(stamps, shares)):
        sys.exit(1)  # threading has printed the worker's exception
    for taken in stamps:
        report(summarise(taken))


def run_processes(plan: dict[str, Any], loop: Callable[[list[bytes]], list[int]]) -> None:
    """Each worker a fork. They report only when the last one has finished: sorting latencies takes processor time."""
    finished_read, finished_write = os.pipe()
    report_read, report_write = os.pipe()
    children = []
    for number, files in enumerate(share(plan["files"], plan["threads"])):
        child = os.fork()
        if child == 0:
            status = 1
            try:
                os.chdir(plan["directories"][number])
                names = [f"{number}-{n}".encode() for n in range(files)]
                stand_at_the_gate()
                taken = loop(names)
                os.write(finished_write, b".")
                os.close(report_write)
                os.read(report_read, 1)
                report(summarise(taken))
                status = 0
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
        said = os.read(finished_read, len(children))
        if not said:  # somebody ended without finishing
            break
        finished += len(said)
    os.close(report_write)
    statuses = [os.waitpid(child, 0)[1] for child in children]
    sys.exit(1 if any(statuses) else 0)


def stand_at_the_gate() -> None:
    """Say ready; take one newline and go, or end when the agent has gone away."""
    os.write(READY_FD, b".")
    if os.read(GATE_FD, 1) != b"\n":
        os._exit(125)


def summarise(stamps: list[int]) -> dict[str, Any]:
    """One worker's stamps, count and latencies."""
    latencies = [after - before for before, after in zip(stamps, stamps[1:])]
    return {
        "start_ns": stamps[0],
        "end_ns": stamps[-1],
        "files": len(latencies),
        "bins": histogram.from_latencies(latencies),
    }


def report(line: dict[str, Any]) -> None:
    """One line in one write: the output is opened for appending, so workers do not cut into each other's lines."""
    text = json.dumps(line, separators=(",", ":")).encode() + b"\n"
    if os.write(1, text) != len(text):
        raise OSError("the report was cut short: is the disk of the agent's scratch directory full?")


if __name__ == "__main__":
    main()
