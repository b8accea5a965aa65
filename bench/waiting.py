"""`python -m bench.waiting [CELLS]`: processor seconds that users wait for: a plan, commands on a run, its report.

The plans are of 10,000 cells with 6 steps each, of EBS and of eight types of storage. The real Analyse run generates
the run: 200 cells of 20 instances and 12 points, unless CELLS gives another number, and a small one of 10. Each figure
is the least of three processes. Opening the report is measured in Chromium until the whole page is drawn, if playwright
and a browser are installed; a busy machine takes longer.
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
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "functions")]

MATRIX = Path(sys.executable).with_name("matrix")
ROUNDS = 3
SMALL = 10
# Writes a run with this many cells below a folder, in a separate process: the generated cloud sets its environment.
WRITE = """
import json, sys
from pathlib import Path
from bench.scale.cases import analyse_run
cloud, work = analyse_run(int(sys.argv[1]))
work()
for key, body in cloud.objects.items():
    if key.startswith("runs/r/"):
        path = Path(sys.argv[2], key.removeprefix("runs/r/"))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(body)
execution = {"run": Path(sys.argv[2]).name, "status": "SUCCEEDED", "started_at": 1000.0, "ended_at": 5000.0}
Path(sys.argv[2], "execution.json").write_text(json.dumps({**execution, "error": "", "cause": ""}))
"""


def large_matrix() -> dict[str, object]:
    """Return a matrix of 200 storages, 10 workloads of two points and 5 fleets, with 3 repetitions."""
    return {
        "name": "large",
        "storage": [{"type": "ebs", "volumeType": "gp3", "sizeGiB": 100, "iops": 3000 + n} for n in range(200)],
        "workload": [{"type": "touch", "tool": "engine", "files": 1024 * n, "threads": [1, 4]} for n in range(1, 11)],
        "fleet": [
            {"instanceType": f"{family}.{size}", "count": 1}
            for family, size in (
                ("m6i", "large"),
                ("m6i", "xlarge"),
                ("c6i", "large"),
                ("c6i", "xlarge"),
                ("r6i", "large"),
            )
        ],
        "repetitions": 3,
    }


def mixed_matrix() -> dict[str, object]:
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


def spent_s(command: list[str], folder: Path) -> float:
    """Return the least processor time of a command in several rounds."""
    spent = []
    for _ in range(ROUNDS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(spent)


def commands(folder: Path, run: str) -> Iterator[tuple[str, float, str]]:
    """Yield name, processor seconds and target of each command."""
    yield "--version", spent_s([str(MATRIX), "--version"], folder), "< 0.3 s"
    yield f"results {run}", spent_s([str(MATRIX), "results", run, "--local"], folder), "< 1 s"
    yield f"report {run}", spent_s([str(MATRIX), "report", run, "--local"], folder), "< 1 s"
    yield f"compare {run} {run}", spent_s([str(MATRIX), "compare", run, run, "--local"], folder), "< 1 s"


def opened_s(report: Path) -> float | None:
    """Return the seconds until a browser has drawn a report; None if there is no browser."""
    browser = next(
        (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), ""
    )
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return None
    if not browser:
        return None
    with sync_playwright() as playwright:
        options = ["--no-sandbox", "--disable-dev-shm-usage"]
        chromium = playwright.chromium.launch(executable_path=browser, args=options, timeout=120_000)
        page = chromium.new_page()
        took = []
        for _ in range(ROUNDS):
            began = time.monotonic()
            page.goto(report.as_uri(), wait_until="load")
            took.append(time.monotonic() - began)
        chromium.close()
    return min(took)


def main() -> int:
    """Print a line for each figure."""
    parser = argparse.ArgumentParser(prog="python -m bench.waiting", description=__doc__)
    parser.add_argument("cells", nargs="?", type=int, default=200)
    cells = parser.parse_args().cells
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for name, matrix, wanted_s in (("EBS", large_matrix(), 2), ("8 storages", mixed_matrix(), 2.5)):
            Path(folder, "large.json").write_text(json.dumps(matrix))
            planned_s = spent_s([str(MATRIX), "plan", "large.json", "--json"], folder)
            what = f"plan of 10,000 cells, {name}"
            print(f"{what:<36}{planned_s:>6.2f} s   wanted < {wanted_s:g} s", flush=True)
        for count in (SMALL, cells):
            run = f"cells-{count}"
            kept = folder / ".local" / "runs" / run
            kept.mkdir(parents=True)
            command = [sys.executable, "-c", WRITE, str(count), str(kept)]
            paths = os.pathsep.join((str(ROOT), str(ROOT / "functions")))
            subprocess.run(command, cwd=ROOT, env=os.environ | {"PYTHONPATH": paths}, check=True)
            for what, seconds, wanted in commands(folder, run):
                print(f"{what:<32}{seconds:>6.2f} s   wanted {wanted}", flush=True)
            report = kept / "report.html"
            size = f"{report.stat().st_size / 1e6:.1f} MB"
            took_s = opened_s(report)
            opened = "no browser" if took_s is None else f"{took_s:.2f} s"
            print(f"{f'open report of {run}, {size}':<32}{opened:>8}   wanted < 2 s, < 5 MB", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
