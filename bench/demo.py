"""`python -m bench.demo [MATRIX]`: the overhead of a local run beside its measurements, in a separate folder.

Times are from the records of instances and functions: a step begins at the fleet's common start (without one, at the
instance's own start) and ends with its last instance. Processor time is the sum over all processes, by their kind.
Other load on the machine makes times longer, and processor time by some tenths. With --requests the requests to the
local cloud are counted too, by caller; recording them costs some processor time.
"""

from __future__ import annotations

import argparse
import base64
import ctypes
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT)]

from agent.session import LATE_S  # noqa: E402 - found by the path above
from local.recording import VARIABLE  # noqa: E402

LOOK_EVERY_S = 0.2
PR_SET_CHILD_SUBREAPER = 36
TICKS_PER_S = os.sysconf("SC_CLK_TCK")
# Each of these lives until the run is over and is idle then, so little is missed after the last reading. All other
# processes are agents and their children.
KINDS = ("command", "cloud", "functions")
AGENTS = "agents and tools"


@dataclass(frozen=True)
class CellTimes:
    """One cell; times are epoch seconds. `steps` are the start and end of each, in their order."""

    name: str
    instances: int
    began: float
    ended: float
    steps: list[tuple[float, float]]
    # Delay of each instance's start of each step after the common start.
    skews_s: list[float]
    # Time of the slowest instance for measuring the limits of its tools, before its first step.
    ceilings_s: float

    @property
    def measuring_s(self) -> float:
        """Duration of the steps."""
        return sum(end - begin for begin, end in self.steps)

    @property
    def before_s(self) -> float:
        """From its launch to its first step's start: start agents, mount, measure limits of tools, start barrier."""
        return self.steps[0][0] - self.began

    @property
    def after_s(self) -> float:
        """From the end of its last step: samples arrive, a poll sees it, the fleet is ended, the cell is analysed."""
        return self.ended - self.steps[-1][1]

    @property
    def around_s(self) -> float:
        """Time before its first step and after its last."""
        return self.before_s + self.after_s

    @property
    def gaps_s(self) -> list[float]:
        """From the last end of each step to the start of the next."""
        return [begin - end for (_, end), (begin, _) in zip(self.steps, self.steps[1:], strict=False)]


def cells(folder: Path) -> list[CellTimes]:
    """Return the measured cells of a kept run, in the order of their starts."""
    rows = {row["SK"]: row for row in _rows(folder) if row["SK"].startswith("CELL#") and "finished_at" in row}
    return sorted((_cell(folder, row) for row in rows.values()), key=lambda cell: cell.began)


def first_launch(folder: Path) -> float:
    """Return the time of EC2's response to the first launch of a kept run (epoch seconds)."""
    return min(float(row["created_at"]) for row in _rows(folder) if row.get("kind") == "instance")


def _cell(folder: Path, row: dict[str, Any]) -> CellTimes:
    begins: defaultdict[int, list[float]] = defaultdict(list)
    ends: defaultdict[int, list[float]] = defaultdict(list)
    skews: list[float] = []
    ceilings_s = [0.0]
    files = list((folder / "cells" / row["cell"] / "instances").glob("*/samples.json"))
    for file in files:
        document = json.loads(file.read_text())
        ceilings_s.append(sum(ceiling.get("duration_s", 0.0) for ceiling in document["calibration"]))
        for sample in document["samples"]:
            begins[sample["step"]].append(sample["scheduled_at"] or sample["started_at"])
            ends[sample["step"]].append(sample["ended_at"])
            if sample["scheduled_at"]:
                skews.append(sample["started_at"] - sample["scheduled_at"])
    steps = [(min(begins[step]), max(ends[step])) for step in sorted(begins)]
    began, ended = float(row["started_at"]), float(row["finished_at"])
    return CellTimes(row["cell"], len(files), began, ended, steps, skews, max(ceilings_s))


def gate_waits_s(folder: Path) -> list[float]:
    """Return each step's wait at the start barrier in a kept run, from the last mark to the start in the gate."""
    waits = []
    for gate in folder.glob("cells/*/meet/*/gates/*.json"):
        marks = (gate.parents[1] / "ready" / gate.stem).iterdir()
        last_at = max(float(json.loads(mark.read_text())["at"]) for mark in marks)
        waits.append(json.loads(gate.read_text())["start_at"] - last_at)
    return waits


def _rows(folder: Path) -> Iterator[dict[str, Any]]:
    for line in (folder / "rows.jsonl").read_text().splitlines():
        yield {name: next(iter(value.values())) for name, value in json.loads(line).items()}


# --- processor time ---------------------------------------------------------------------------------------------------


def spent_by_kind(command: subprocess.Popen[bytes]) -> dict[str, float]:
    """Wait for a command and all its descendants; return processor seconds by kind of process."""
    seen: dict[int, tuple[str, float]] = {}
    while command.poll() is None:
        seen.update(_look(command.pid))
        time.sleep(LOOK_EVERY_S)
    _reap_all()
    times = os.times()
    total_s = times.children_user + times.children_system
    spent: dict[str, float] = dict.fromkeys(KINDS, 0.0)
    for kind, seconds in seen.values():
        spent[kind] += seconds
    return {**spent, AGENTS: total_s - sum(spent.values())}


def _look(command: int) -> dict[int, tuple[str, float]]:
    """Return kind and processor seconds of each process below a command, without agents and their children."""
    children: defaultdict[int, list[int]] = defaultdict(list)
    spent: dict[int, tuple[str, float]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            name, _, rest = (folder / "stat").read_text().rpartition(")")
        except OSError:
            continue  # it has ended
        fields = rest.split()
        children[int(fields[1])].append(int(folder.name))
        spent[int(folder.name)] = name.partition("(")[2], (int(fields[11]) + int(fields[12])) / TICKS_PER_S
    if command not in spent:
        return {}
    kinds = {command: ("command", spent[command][1])}
    for cloud in children[command]:
        kinds[cloud] = "cloud", spent[cloud][1]
        for server in children[cloud]:
            kinds[server] = "functions", spent[server][1]
            kinds |= {fork: ("functions", spent[fork][1]) for fork in children[server] if spent[fork][0] != "agent"}
    return kinds


def _adopt_orphans() -> None:
    """Become the parent of orphaned descendants, so that their processor time counts here."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)


def _reap_all() -> None:
    while True:
        try:
            os.wait()
        except ChildProcessError:
            return


# --- requests ---------------------------------------------------------------------------------------------------------


def requests(record: Path) -> Counter[tuple[str, str]]:
    """Return the number of requests of each kind by each kind of caller, from a record of all requests."""
    counted: Counter[tuple[str, str]] = Counter()
    with record.open() as lines:
        for line in lines:
            exchange = json.loads(line)
            is_function = "AWS_Lambda" in exchange["headers"].get("user-agent", "")
            counted["functions" if is_function else "command and agents", _what(exchange)] += 1
    return counted


def _what(exchange: dict[str, Any]) -> str:
    body = base64.b64decode(exchange["body"] or "").decode(errors="replace")
    if target := exchange["headers"].get("x-amz-target"):
        asked = json.loads(body)
        values = [value.get("S", "") for value in asked.get("ExpressionAttributeValues", {}).values()]
        row = asked.get("Key", {}).get("SK", {}).get("S") or next((value for value in values if "#" in value[1:]), "")
        row = next((value for value in values if value.endswith("#")), row)
        return f"{target.rpartition('.')[2]} {row.partition('#')[0]}".strip()
    if action := re.search(r"Action=(\w+)", body[:200]):
        return action[1]
    if exchange["service"] != "s3":
        return f"{exchange['service']} {exchange['method']}"
    path, _, query = exchange["target"].partition("?")
    prefix = re.search(r"prefix=([^&]*)", query)
    key = prefix[1].replace("%2F", "/") if prefix else path
    named = re.sub(
        r"[^/]*(AROA|:|%3A)[^/]*|[0-9a-f]{16,}|\d{4}", "*", re.sub(r".*/cells/[^/]+/|.*/runs/[^/]+/", "", key)
    )
    return f"{'LIST' if prefix else exchange['method']} {named}"


# --- the command ------------------------------------------------------------------------------------------------------


def figures(folder: Path, began: float, ended: float) -> Iterator[tuple[str, str, str]]:
    """Yield name, value and target of each figure, from a kept run and its command's start and end (epoch seconds)."""
    measured = cells(folder)
    steps = [step for cell in measured for step in cell.steps]
    yield "first step begun after the command", f"{min(begin for begin, _ in steps) - began:.1f} s", "as soon as it can"
    yield (
        "report kept and command over after the last step",
        f"{ended - max(end for _, end in steps):.1f} s",
        "as soon as it can",
    )
    took_s = sum(cell.ended - cell.began for cell in measured)
    share = sum(cell.measuring_s for cell in measured) / took_s
    yield "first instances launched after the command", f"{first_launch(folder) - began:.1f} s", "≤ 4 s"
    for instances in sorted({cell.instances for cell in measured}):
        fleets = [cell for cell in measured if cell.instances == instances]
        around = [cell.around_s for cell in fleets]
        gaps = [gap for cell in fleets for gap in cell.gaps_s]
        fleet = f"fleet of {instances}"
        yield f"{fleet}: before and after its steps", f"{median(around):.1f} s (most {max(around):.1f})", "≤ 2 s"
        before_s, after_s = median(cell.before_s for cell in fleets), median(cell.after_s for cell in fleets)
        yield f"{fleet}: before the first, after the last", f"{before_s:.1f} and {after_s:.1f} s", "as above"
        if gaps:
            yield f"{fleet}: between two steps", f"{median(gaps):.2f} s (most {max(gaps):.2f})", "≤ 0.3 s + the tool"
    yield "share of the cells' time that steps run", f"{share:.0%}", "≥ 70 %"
    ceilings_share = sum(cell.ceilings_s for cell in measured) / took_s
    yield "the same with the ceilings of tools", f"{share + ceilings_share:.0%}", "as much as it can"
    if waits := gate_waits_s(folder):
        skews = [skew for cell in measured for skew in cell.skews_s]
        late = f"{sum(skew > LATE_S for skew in skews)} of {len(skews)}"
        yield "fleets: last ready to start", f"{median(waits):.2f} s (most {max(waits):.2f})", "≤ 0.2 s"
        yield "fleets: start skew, P95; late starts", f"{quantiles(skews, n=20)[-1] * 1000:.0f} ms; {late}", "< 20 ms"


def main() -> int:
    """Run the matrix and print a line for each figure."""
    parser = argparse.ArgumentParser(prog="python -m bench.demo", description=__doc__)
    parser.add_argument("matrix", nargs="?", type=Path, default=ROOT / "events" / "local-demo.json")
    parser.add_argument("--requests", action="store_true", help="count the requests to the local cloud")
    arguments = parser.parse_args()
    _adopt_orphans()
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder, "requests.jsonl")
        settings = {"MATRIX_WORKDIR": f"{folder}/local", **({VARIABLE: str(record)} if arguments.requests else {})}
        began, clock = time.time(), time.monotonic()
        command = subprocess.Popen(
            [Path(sys.executable).with_name("matrix"), "run", arguments.matrix.resolve(), "--local", "--name", "bench"],
            cwd=folder,
            env=os.environ | settings,
            stdout=subprocess.DEVNULL,
        )
        spent = spent_by_kind(command)
        ended = time.time()
        print(f"{'the whole command':<50}{time.monotonic() - clock:>8.1f} s")
        kept = Path(folder, "local", "runs", "bench")
        for what, figure, wanted in figures(kept, began, ended):
            print(f"{what:<50}{figure:<28}wanted {wanted}")
        for kind, seconds in spent.items():
            print(f"processor time, {kind:<34}{seconds:>8.1f} s")
        own_s = sum(spent.values()) - spent[AGENTS]
        print(f"{'processor time, all but agents and tools':<50}{own_s:>8.1f} s{'':<18}wanted ≤ 40 s")
        if arguments.requests:
            counted = requests(record)
            print(f"{sum(counted.values()):,} requests")
            for (who, what), count in counted.most_common(40):
                print(f"{count:>6}  {who:<20}{what}")
    return command.returncode


if __name__ == "__main__":
    sys.exit(main())
