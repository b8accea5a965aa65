"""`python -m bench.demo [MATRIX]`: what a local run takes beside its measurements, in a folder of its own.

Times are from the records of instances and functions: a step begins at the fleet's common start (without one, at the
instance's own start) and ends with its last instance. Other load on the machine makes all figures larger.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
PR_SET_CHILD_SUBREAPER = 36


class CellTimes(NamedTuple):
    """One cell; times are epoch seconds. `steps` are the start and end of each, in their order."""

    began: float
    ended: float
    steps: list[tuple[float, float]]

    @property
    def measuring_s(self) -> float:
        """Return the duration of the steps."""
        return sum(end - begin for begin, end in self.steps)

    @property
    def around_s(self) -> float:
        """Return the time before its first step and after its last: boot, mount, calibrate, analyse."""
        return self.steps[0][0] - self.began + self.ended - self.steps[-1][1]

    @property
    def gaps_s(self) -> list[float]:
        """Return the time from the last end of each step to the start of the next."""
        return [begin - end for (_, end), (begin, _) in zip(self.steps, self.steps[1:], strict=False)]


def rows(folder: Path) -> list[dict[str, Any]]:
    """Return the rows of a kept run."""
    lines = (folder / "rows.jsonl").read_text().splitlines()
    return [{name: next(iter(value.values())) for name, value in json.loads(line).items()} for line in lines]


def cell_times(folder: Path, row: dict[str, Any]) -> CellTimes:
    """Return the times of a measured cell of a kept run."""
    begins: defaultdict[int, list[float]] = defaultdict(list)
    ends: defaultdict[int, list[float]] = defaultdict(list)
    for file in (folder / "cells" / row["cell"] / "instances").glob("*/samples.json"):
        for sample in json.loads(file.read_text())["samples"]:
            begins[sample["step"]].append(sample["scheduled_at"] or sample["started_at"])
            ends[sample["step"]].append(sample["ended_at"])
    steps = [(min(begins[step]), max(ends[step])) for step in sorted(begins)]
    return CellTimes(float(row["started_at"]), float(row["finished_at"]), steps)


def figures(folder: Path, began: float, ended: float) -> Iterator[tuple[str, str]]:
    """Yield each figure of a kept run; its command began and ended then (epoch seconds)."""
    kept = rows(folder)
    launched = min(float(row["created_at"]) for row in kept if row.get("kind") == "instance")
    # A cell has a row before it is measured, too.
    finished = {row["SK"]: row for row in kept if row["SK"].startswith("CELL#") and "finished_at" in row}
    cells = [cell_times(folder, row) for row in finished.values()]
    steps = [step for cell in cells for step in cell.steps]
    yield "first instances launched after the command (goal: 4 s)", f"{launched - began:.1f} s"
    yield "first step begun after the command", f"{min(begin for begin, _ in steps) - began:.1f} s"
    yield "command over after the last step", f"{ended - max(end for _, end in steps):.1f} s"
    yield "a cell before and after its steps (goal: 2 s)", f"{median(cell.around_s for cell in cells):.1f} s"
    if gaps := [gap for cell in cells for gap in cell.gaps_s]:
        yield "between two steps (goal: 0.3 s and the tool)", f"{median(gaps):.2f} s"
    share = sum(cell.measuring_s for cell in cells) / sum(cell.ended - cell.began for cell in cells)
    yield "share of the cells' time that steps run (goal: 70 %)", f"{share:.0%}"


def main() -> int:
    """Run the matrix and print a line for each figure."""
    parser = argparse.ArgumentParser(prog="python -m bench.demo", description=__doc__)
    parser.add_argument("matrix", nargs="?", type=Path, default=ROOT / "events/local/first.json")
    matrix = parser.parse_args().matrix.resolve()
    # Become the parent of processes whose own parent has ended, so that their processor time counts here.
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
    with tempfile.TemporaryDirectory() as folder:
        began = time.time()
        command = [Path(sys.executable).with_name("matrix"), "run", matrix, "--local", "--name", "bench"]
        ended_with = subprocess.run(
            command, cwd=folder, env=os.environ | {"MATRIX_WORKDIR": f"{folder}/local"}, stdout=subprocess.DEVNULL,
            check=False,
        ).returncode  # fmt: skip
        ended = time.time()
        print(f"{'the whole command':<56}{ended - began:.1f} s")
        for what, figure in figures(Path(folder, "local", "runs", "bench"), began, ended):
            print(f"{what:<56}{figure}")
        while True:
            try:
                os.wait()
            except ChildProcessError:
                break
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        print(f"{'processor time of all processes':<56}{used.ru_utime + used.ru_stime:.0f} s")
    return ended_with


if __name__ == "__main__":
    sys.exit(main())
