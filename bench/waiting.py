"""`python -m bench.waiting [CELLS]`: processor time of the commands that users wait for, in multiples of an import.

Seconds mean nothing alone: they differ between machines, and on one machine with its load. So each round measures
`python -c "import numpy, pydantic"` beside the commands, and a figure is the least of all rounds over the least import.
The plan is of 10,000 cells of eight types of storage. The functions that analyse a run on AWS write the run: 200 cells
of 20 instances and 12 points, unless CELLS gives another number.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
MATRIX = str(Path(sys.executable).with_name("matrix"))
ROUNDS = 3
IMPORT = [sys.executable, "-c", "import numpy, pydantic"]
RUN = "large"
# The most that each may take, in multiples of the import. `report, again` finds the page that the first has drawn.
COMMANDS = {
    "report": ([MATRIX, "report", RUN, "--local"], 8),
    "report, again": ([MATRIX, "report", RUN, "--local"], 8),
    "results": ([MATRIX, "results", RUN, "--local"], 4),
    "compare": ([MATRIX, "compare", RUN, RUN, "--local"], 4),
    "plan": ([MATRIX, "plan", "matrix.json", "--json"], 10),
}
# In a process of its own: the generated cloud sets the environment of a function.
WRITE_RUN = """
import sys
from pathlib import Path
from bench.scale.cases import analyse_run
cloud, work = analyse_run(int(sys.argv[1]))
work()
for key, body in cloud.objects.items():
    if key.startswith("runs/r/"):
        path = Path(sys.argv[2], key.removeprefix("runs/r/"))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(body)
"""


def matrix() -> dict[str, object]:
    """Return a matrix of 25 storages of each of eight types, 10 workloads of two points and 5 fleets."""
    numbers = range(25)
    storages: list[list[dict[str, object]]] = [
        [{"type": "ebs", "volumeType": "gp3", "sizeGiB": 100 + n} for n in numbers],
        [{"type": "efs", "throughputMode": "provisioned", "provisionedThroughputMiBps": 100 + n} for n in numbers],
        [{"type": "fsx-openzfs", "storageCapacityGiB": 1024 + n, "throughputCapacityMBps": 512} for n in numbers],
        [{"type": "fsx-lustre", "storageCapacityGiB": 2400 * (n + 1)} for n in numbers],
        [{"type": "s3-files", "name": f"files-{n}"} for n in numbers],
        [{"type": "mountpoint", "cacheMiB": 1000 + n} for n in numbers],
        [{"type": "nfs", "source": f"10.0.0.{n + 1}:/export"} for n in numbers],
        [{"type": "instance-store", "name": f"disks-{n}"} for n in numbers],
    ]
    reads = {"type": "fio", "rw": "read", "size": "1g", "direct": 1, "ioengine": "psync", "numjobs": [1, 4]}
    return {
        "name": "mixed",
        "storage": [storage for of_type in storages for storage in of_type],
        "workload": [{**reads, "name": f"reads-{kib}k", "bs": f"{kib}k"} for kib in range(64, 704, 64)],
        "fleet": [{"instanceType": "m5d.large", "count": [1, 2, 3, 4, 5]}],
        "repetitions": 3,
    }


def write_run(folder: Path, cells: int) -> None:
    """Write a kept run with this many cells."""
    folder.mkdir(parents=True)
    paths = os.pathsep.join((str(ROOT), str(ROOT / "functions")))
    subprocess.run(
        [sys.executable, "-c", WRITE_RUN, str(cells), str(folder)], env=os.environ | {"PYTHONPATH": paths}, check=True
    )
    execution = {"run": folder.name, "status": "SUCCEEDED", "started_at": 1000.0, "ended_at": 5000.0}
    Path(folder, "execution.json").write_text(json.dumps({**execution, "error": "", "cause": ""}))


def processor_s(command: list[str], folder: Path) -> float:
    """Return user and system time of a command and its children in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> int:
    """Print a line for each command; exit status 1 if one takes more than its goal."""
    parser = argparse.ArgumentParser(prog="python -m bench.waiting", description=__doc__)
    parser.add_argument("cells", nargs="?", type=int, default=200)
    parser.add_argument("--only", choices=COMMANDS, action="append", help="measure only this; may be repeated")
    arguments = parser.parse_args()
    wanted = {name: COMMANDS[name] for name in arguments.only or COMMANDS}
    with tempfile.TemporaryDirectory() as temporary:
        written, folder = Path(temporary, RUN), Path(temporary, "work")
        write_run(written, arguments.cells)
        imports: list[float] = []
        taken: dict[str, list[float]] = {name: [] for name in wanted}
        for _ in range(ROUNDS):
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(written, folder / ".local" / "runs" / RUN)
            Path(folder, "matrix.json").write_text(json.dumps(matrix()))
            for name, (command, _) in wanted.items():
                imports.append(processor_s(IMPORT, folder))
                taken[name].append(processor_s(command, folder))
    unit_s = min(imports)
    print(f"python -c 'import numpy, pydantic': {unit_s:.2f} s of processor time")
    is_missed = False
    for name, (_, most) in wanted.items():
        least_s = min(taken[name])
        is_over = least_s > most * unit_s
        is_missed |= is_over
        print(
            f"{name:<16}{least_s:>6.2f} s{least_s / unit_s:>7.1f} imports   goal {most}{'   MISS' if is_over else ''}"
        )
    return int(is_missed)


if __name__ == "__main__":
    sys.exit(main())
