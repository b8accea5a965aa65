"""`python -m bench.scale [FUNCTION ...]`: processor time and memory of each function, as shares of Lambda's limits.

Each case is a separate process. Lambda gives one vCPU per 1,769 MB of memory, so processor time counts for more if a
function has less; a request counts as the time of AWS's response. The output is the share of a third of Timeout, and of
MemorySize: at 100 % a function is at its limit.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "functions")]


def measure(function: str, size: int) -> dict[str, Any]:
    """Run one case in this process; return processor time (s), requests by operation and peak memory (MB)."""
    from bench.scale.cases import CASES

    cloud, work = CASES[function][0](size)
    began, cloud.spent_s = time.process_time(), 0.0
    cloud.requests.clear()
    work()
    spent_s = time.process_time() - began - cloud.spent_s
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"cpu_s": spent_s, "requests": dict(cloud.requests), "peak_mb": peak_mb}


def main() -> int:
    """Print a line for each function and size; exit status 1 if a function needs more than its limit."""
    from bench.scale.cases import CASES
    from bench.scale.limits import limits, share_of_time

    parser = argparse.ArgumentParser(prog="python -m bench.scale", description=__doc__)
    parser.add_argument("functions", nargs="*", help=", ".join(CASES))
    parser.add_argument("--one", nargs=2, metavar=("FUNCTION", "SIZE"), help="measure one case and print its figures")
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(measure(arguments.one[0], int(arguments.one[1]))))
        return 0
    of, most = limits(), 0.0
    for function in arguments.functions or CASES:
        _, unit, sizes = CASES[function]
        for size in sizes:
            command = [sys.executable, "-m", "bench.scale", "--one", function, str(size)]
            output = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout
            figures = json.loads(output.splitlines()[-1])
            of_time = share_of_time(figures["cpu_s"], figures["requests"], of[function])
            of_memory = figures["peak_mb"] / of[function]["MemorySize"]
            most = max(most, of_time, of_memory)
            print(
                f"{function:<14}{size:>8,} {unit:<10}{figures['cpu_s']:>7.1f} s of processor time, "
                f"{of_time:.0%} of the time, {of_memory:.0%} of the memory",
                flush=True,
            )
    return int(most > 1)


if __name__ == "__main__":
    sys.exit(main())
