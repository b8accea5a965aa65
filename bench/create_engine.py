"""The agent's create engine beside a C loop, interleaved: `python bench/create_engine.py DIRECTORY`.

Both do open(O_CREAT) + close on relative names in directories of their own, one process (or what the engine chooses)
per worker, rate = files / (last end - first start). Ratios travel between machines, absolute figures do not.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from agent.workloads import engines, touch
from agent.workspace import remove

C_LOOP = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static long long now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}
int main(int argc, char **argv) {
    int files = atoi(argv[1]), workers = argc - 2, gate[2], ready[2];
    long long *stamps = mmap(0, workers * 16, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    char byte = '\n', name[64];
    if (pipe(gate) || pipe(ready)) return 1;
    for (int w = 0; w < workers; w++)
        if (!fork()) {
            int share = files / workers + (w < files % workers);
            if (chdir(argv[2 + w]) || write(ready[1], &byte, 1) != 1 || read(gate[0], &byte, 1) != 1) _exit(1);
            stamps[2 * w] = now();
            for (int i = 0; i < share; i++) {
                snprintf(name, sizeof name, "%d-%d", w, i);
                int fd = open(name, O_CREAT | O_WRONLY | O_CLOEXEC, 0666);
                if (fd < 0) _exit(1);
                close(fd);
            }
            stamps[2 * w + 1] = now();
            _exit(0);
        }
    for (int w = 0; w < workers; w++) if (read(ready[0], &byte, 1) != 1) return 1;
    for (int w = 0; w < workers; w++) if (write(gate[1], &byte, 1) != 1) return 1;
    int status, bad = 0;
    while (wait(&status) > 0) bad |= status;
    long long first = stamps[0], last = 0;
    for (int w = 0; w < workers; w++) {
        if (stamps[2 * w] < first) first = stamps[2 * w];
        if (stamps[2 * w + 1] > last) last = stamps[2 * w + 1];
    }
    printf("%f\n", files / ((last - first) / 1e9));
    return bad != 0;
}
"""


def main() -> None:
    """Print one JSON line per number of workers."""
    arguments = parse_arguments()
    if shutil.which("cc") is None:
        sys.exit("cc is not installed: there is no C loop to compare with (apt-get install gcc)")
    with tempfile.TemporaryDirectory(prefix="create-engine-", dir=arguments.directory) as folder:
        root = Path(folder)
        program = compile_c(root)
        for workers in arguments.workers:
            print(json.dumps(compare(root, program, workers, arguments)), flush=True)


def parse_arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 4])
    parser.add_argument("--files", type=int, default=40_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--shared", action="store_true", help="one directory instead of one per worker")
    parser.add_argument("--latency-ms", type=float, default=0, help="emulate a slow storage; compared with the ideal")
    return parser.parse_args()


def compile_c(root: Path) -> Path:
    """Build the C loop."""
    source = root / "loop.c"
    source.write_text(C_LOOP)
    subprocess.run(["cc", "-O2", "-o", str(root / "loop"), str(source)], check=True)
    return root / "loop"


def compare(root: Path, program: Path, workers: int, arguments: argparse.Namespace) -> dict[str, object]:
    """Medians of interleaved rounds; which one goes first alternates."""
    rates: dict[str, list[float]] = {"engine": [], "c": []}
    mode = ""
    for number in range(arguments.rounds):
        order = ("engine", "c") if number % 2 else ("c", "engine")
        for who in order:
            directories = make_directories(root, workers, arguments.shared)
            if who == "engine":
                rate, mode = run_engine(root, directories, arguments)
                rates[who].append(rate)
            elif arguments.latency_ms:
                rates[who].append(workers / (arguments.latency_ms / 1000))
            else:
                command = [str(program), str(arguments.files), *directories]
                rates[who].append(float(subprocess.run(command, check=True, capture_output=True).stdout))
            remove(root / "work")
    ratios = [engine / c for engine, c in zip(rates["engine"], rates["c"], strict=True)]
    return {
        "workers": workers,
        "mode": mode,
        "files": arguments.files,
        "engine_files_per_s": round(statistics.median(rates["engine"])),
        "ideal_files_per_s" if arguments.latency_ms else "c_files_per_s": round(statistics.median(rates["c"])),
        # What other programs on the machine take away hits one or the other; the best rounds were disturbed least.
        "ratio_of_best": round(max(rates["engine"]) / max(rates["c"]), 3),
        "ratio_median": round(statistics.median(ratios), 3),
        "ratio_least": round(min(ratios), 3),
        "ratio_most": round(max(ratios), 3),
    }


def make_directories(root: Path, workers: int, is_shared: bool) -> list[str]:
    """Fresh ones for a round."""
    directories = [root / "work" / ("all" if is_shared else str(n)) for n in range(workers)]
    for directory in directories:
        directory.mkdir(parents=True, exist_ok=True)
    return [str(directory) for directory in directories]


def run_engine(root: Path, directories: list[str], arguments: argparse.Namespace) -> tuple[float, str]:
    """One round of the engine, as a touch point starts it."""
    pilot, scratch = root / "work" / "pilot", root / "scratch"
    pilot.mkdir()
    scratch.mkdir(exist_ok=True)
    plan = {
        "files": arguments.files,
        "threads": len(directories),
        "directories": directories,
        "pilot_directory": str(pilot),
        "mode": "auto",
        "emulation": slow_storage(root, arguments.latency_ms / 1000) if arguments.latency_ms else None,
    }
    armed = engines.arm("creates", plan, scratch)
    armed.release()
    [ended] = armed.wait()
    outcome = touch.read_engine(ended.stdout, plan)
    return outcome.metrics["files_per_s"], outcome.tool["mode"]


def slow_storage(root: Path, create_s: float) -> dict[str, object]:
    """One that answers each create after so long, however many ask; what the timer adds is the engine's loss."""
    return {"path": str(root / "bucket"), "create_s": create_s, "create_operations": 0, "catch_up_s": 0}


if __name__ == "__main__":
    main()
