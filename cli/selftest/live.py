"""With real I/O: emulated storages on the local cloud, through the real state machine, agents and functions.

The emulator's settings are the truth. A run is a single draw, so a row is right or wrong; `trials` measures rates of
correct figures.
"""

import json
from collections.abc import Callable, Iterator
from typing import Any

from cli.follow import running
from cli.follow.running import RunOptions
from cli.inputs import planning
from cli.inputs.starting import MatrixFields
from cli.messages.errors import CommandError
from cli.selftest.fleets import holds, level_of, verdict_of
from cli.selftest.judging import Row
from cli.target.run_documents import RunDocuments
from cli.target.service import Service
from matrix.terms.documents.parts import Part
from matrix.terms.documents.result import MetricResult, ResultDocument

LAYER = "live"
# Six are the fewest that intervals and tests of a percentile need; where none is judged two do.
INSTANCES, FEW, THREADS, FILES = 6, 2, 2, 60
CREATE_S = 0.001  # of FSx (storages/fsx_openzfs/model.py), times each storage's own `times`
IOPS = 200
SLOWER = 1.2
TAIL_S, STALL_S = 0.08, 1.0
# A busy machine wakes workers late: a shared token bucket compensates for rates, but not for single latencies.
CLOSE, CLOSE_LATENCY = 0.05, 0.1

QUIRKS: dict[str, dict[str, Any]] = {
    "same-a": {"times": 20, "noise": 0.02},
    "same-b": {"times": 20, "noise": 0.02},
    "slower": {"times": 20 * SLOWER, "noise": 0.02},
    "limping": {"times": 20, "slowTimes": 2},
}
# Two repetitions of two instances take 240 operations, and the engines' pilots some 20 on each instance before each.
FEW_QUIRKS: dict[str, dict[str, Any]] = {
    "stalling": {"times": 10, "tailShare": 0.15, "tailS": TAIL_S, "stallEvery": 200, "stallS": STALL_S},
    "credits": {"times": 5, "changeAfter": 320, "changeTimes": 4},
    "ceiling": {"times": 5},
}
# A storage that stalls for a second after every PAUSE_EVERY operations, under a closed and an open loop.
PAUSE_EVERY, RATE_PER_S, OPEN_FILES, OPEN_THREADS = 400, 100, 200, 20
PAUSING = {"times": 10, "stallEvery": PAUSE_EVERY, "stallS": STALL_S}
# Rates of each of two instances: together below the IOPS, and above them.
KEPT_PER_S, BEYOND_PER_S, LIMIT_MS = 60, 150, 200
ASKED: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "pausing": (PAUSING, {"threads": 1}),
    "pausing-open": (PAUSING, {"threads": OPEN_THREADS, "ratePerSecondPerInstance": RATE_PER_S}),
    "ceiling-open": (
        {"times": 5},
        {"threads": OPEN_THREADS, "ratePerSecondPerInstance": [KEPT_PER_S, BEYOND_PER_S], "p99AtMostMs": LIMIT_MS},
    ),
}


def matrix() -> MatrixFields:
    """Return the matrix of the run."""
    workload = {"type": "touch", "files": FILES, "threads": THREADS, "directories": "own"}
    return {
        "name": "selftest",
        "emulate": QUIRKS | FEW_QUIRKS | {name: quirks for name, (quirks, _) in ASKED.items()},
        "storage": [_storage(name) for name in QUIRKS],
        "workload": [workload],
        "fleet": [{"instanceType": "t2.micro", "count": INSTANCES}],
        "include": [
            {"storage": _storage(name), "workload": asked, "fleet": {"instanceType": "t2.micro", "count": FEW}}
            for name, asked in [
                *((name, workload) for name in FEW_QUIRKS),
                *((name, workload | {"files": OPEN_FILES} | asked) for name, (_, asked) in ASKED.items()),
            ]
        ],
        "repetitions": 3,
        "order": "as-written",
        # Two fleets at once would be in each other's way on two processors.
        "maxConcurrentFileSystems": 1,
    }


def _storage(name: str) -> Part:
    iops = IOPS if name.startswith("ceiling") else 12_000
    return {
        "type": "fsx-openzfs", "name": name, "storageCapacityGiB": 64, "throughputCapacityMBps": 64, "iops": iops,
    }  # fmt: skip


def measure(service: Service) -> dict[str, ResultDocument]:
    """Run the matrix in a local cloud; return the result of each cell by the name of its storage.

    Raises CommandError where a cell has none: its figures would be missing from the table.
    """
    planned = planning.plan_text(json.dumps(matrix()).encode(), None)
    run = running.made_up_name("selftest")
    # Progress goes to stderr, as with --json, because stdout is for the table.
    running.follow_to_end(service, planned, RunOptions(run, as_json=True))
    where = running.where(service, run)
    results: dict[str, ResultDocument] = {}
    for cell in planned.plan["cells"]:
        result = RunDocuments(service, run).result(cell["id"])
        if result is None or result["state"] != "measured":
            error = result.get("error") if result else None
            why = error["message"] if error else "it has no result"
            raise CommandError(f"{cell['id']} was not measured: {why}", f"see {where}")
        results[cell["storage"]["name"]] = result
    return results


def rows(results: dict[str, ResultDocument]) -> Iterator[Row]:
    """Yield a row for each truth; `results` are by the name of their storage."""
    for judge in (_ceiling, _same, _slower, _medians, _limping, _stalling, _credits, _pausing, _highest_rate):
        yield judge(lambda name: results[name])


Result = Callable[[str], ResultDocument]


def _metric(result: ResultDocument, name: str = "files_per_s") -> MetricResult:
    return result["points"][0]["metrics"][name]


def _ceiling(result_of: Result) -> Row:
    result = result_of("ceiling")
    best = max(rate["files_per_s"] for rate in result["points"][0]["fleet"])
    name = result["bottleneck"]["name"]
    words = f"{name}; at best {best:.0f} files/s"
    is_right = name == "FSx disk IOPS" and abs(best / IOPS - 1) <= CLOSE
    return Row(LAYER, "IOPS run out", f"{IOPS} IOPS for all instances together", words, is_right)


def _same(result_of: Result) -> Row:
    compared = verdict_of(result_of("same-a"), result_of("same-b"))
    is_right = compared["verdict"] == "no difference shown"
    return Row(LAYER, "shared noise of 2 %", "two storages are the same", compared["words"], is_right)


def _slower(result_of: Result) -> Row:
    compared = verdict_of(result_of("same-a"), result_of("slower"))
    is_right = compared["verdict"] == "slower" and holds(compared["interval"], 1 / SLOWER)
    return Row(LAYER, "shared noise of 2 %", "one storage is 20 % slower", compared["words"], is_right)


def _medians(result_of: Result) -> Row:
    parts, truths, is_right = [], [], True
    for name in ("same-a", "same-b", "slower"):
        true_rate = THREADS / (CREATE_S * QUIRKS[name]["times"])
        interval = _metric(result_of(name))["intervals"].get("p50")
        is_right = is_right and holds(interval, true_rate)
        truths.append(f"{true_rate:.0f} files/s")
        parts.append(f"{interval['low']:.0f} to {interval['high']:.0f}" if interval else "none")
    return Row(LAYER, "95 % intervals of the median", ", ".join(truths), ", ".join(parts), is_right)


def _limping(result_of: Result) -> Row:
    listed = _metric(result_of("limping"), "duration_s")["outliers"]["listed"]
    named = {stray["instance"] for stray in listed if stray["kind"] == "far out"}
    words = f"{len(named)} named as far out, in {len(listed)} of {3 * INSTANCES} values"
    return Row(LAYER, "one slow instance", f"one of {INSTANCES} takes twice as long", words, len(named) == 1)


def _stalling(result_of: Result) -> Row:
    latency = result_of("stalling")["points"][0]["latency"]["create_lat"]
    truths = {"p50": 10 * CREATE_S, "p90": TAIL_S, "p100": STALL_S}
    reported = {name: level_of(latency, name) / 1e6 for name in truths}
    words = ", ".join(f"{name.upper()} {1000 * seconds:.1f} ms" for name, seconds in reported.items())
    is_right = all(abs(reported[name] / seconds - 1) <= CLOSE_LATENCY for name, seconds in truths.items())
    truth = f"10 ms, 15 % of operations {1000 * TAIL_S:.0f} ms, stalls of {STALL_S:g} s"
    return Row(LAYER, "latencies with a tail", truth, words, is_right)


def _credits(result_of: Result) -> Row:
    metric = _metric(result_of("credits"))
    kinds = [finding["code"] for finding in metric["findings"]]
    steady = [finding["code"] for finding in _metric(result_of("same-a"))["findings"]]
    words = f"{', '.join(kinds) or 'nothing odd'}; of a steady storage {', '.join(steady) or 'nothing'}"
    is_right = bool({"two-groups-of-repetitions", "unsteady", "drift"} & set(kinds)) and not steady
    return Row(LAYER, "credits run out", "the last of three repetitions is four times as slow", words, is_right)


def _pausing(result_of: Result) -> Row:
    """P99 under stalls of S seconds in an open loop is S (1 - 1 % / p).

    An operation that is due during a stall waits for its remainder, which is uniform between 0 and S. p is the share of
    operations that are due during stalls: the rate of all instances times S, per operations between two stalls.
    """
    opened, closed = (
        level_of(result_of(name)["points"][0]["latency"]["create_lat"], "p99") / 1e6
        for name in ("pausing-open", "pausing")
    )
    expected = STALL_S * (1 - 0.01 / (FEW * RATE_PER_S * STALL_S / PAUSE_EVERY))
    usual = CREATE_S * PAUSING["times"]
    # A busy machine adds milliseconds, a stall that is seen adds a hundred times as much.
    is_right = abs(opened / expected - 1) <= CLOSE_LATENCY and closed <= STALL_S / 10
    words = f"P99 {opened:.3f} s; in a closed loop {1000 * closed:.1f} ms"
    truth = f"stalls of {STALL_S:g} s: P99 {expected:.3f} s where {RATE_PER_S}/s are due, {1000 * usual:.0f} ms else"
    return Row(LAYER, "open loop", truth, words, is_right)


def _highest_rate(result_of: Result) -> Row:
    [highest] = result_of("ceiling-open")["highest_rates"]
    kept, beyond = highest["metric"]["p50"], highest["beyond_per_s"]
    words = f"{kept:g}/s, not {beyond:g}" if beyond else f"at least {kept:g}/s"
    truth = f"{IOPS} IOPS: {FEW} instances are within {LIMIT_MS} ms at {KEPT_PER_S}/s each, not at {BEYOND_PER_S}"
    return Row(LAYER, "highest rate", truth, words, (kept, beyond) == (KEPT_PER_S, BEYOND_PER_S))
