"""All sentences that the product makes of codes and numbers, in one snapshot: tests/sentences.md.

`make snapshots` writes it. Whoever changes a word changes the line of the product and the snapshot, and no test: all
other tests assert codes and numbers. A new code needs an example in one of the tables below.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, get_args, get_type_hints

import pytest
from pydantic import TypeAdapter
from support.matrices import matrix, problems_of
from support.refused_matrices import NEAR_LIMITS, REFUSED, WARNED
from support.runs_for_reports import build_run, cell_of

from matrix.answer.costs import Bill
from matrix.answer.decision import decide
from matrix.plan.planning import plan
from matrix.published.runs import published_run
from matrix.tables.highest_rates import describe_highest
from matrix.terms.documents import compared
from matrix.terms.findings import bottlenecks
from matrix.terms.findings.finding import Finding
from matrix.terms.findings.replication import describe_needed, describe_shortage, shortage_words_of
from matrix.terms.findings.risks import Risk
from matrix.terms.findings.verdicts import Difference, Lost, Verdict
from matrix.terms.findings.warnings import CellWarning
from matrix.terms.names import marked_label
from matrix.terms.sentences import deleted_text, receipt_sentence
from matrix.text.bottlenecks import describe_evidence, describe_next_limit, describe_others
from matrix.text.comparisons import comparison_lines
from matrix.text.decisions import describe_question
from matrix.text.endings import describe_failed, describe_state
from matrix.text.headlines import answer_sentences, doubts, question_headline
from matrix.text.medians import describe_why_median
from matrix.text.rankings import describe_comparison, describe_level
from matrix.text.verdicts import describe_verdict
from matrix.text.warnings import kinds_of

SNAPSHOT = Path(__file__).with_name("sentences.md")
Example = dict[str, Any]
Sentences = Iterator[tuple[str, str]]  # each with the name of its example
AT = 1_763_683_200.0  # 2025-11-21

# --- warnings ---------------------------------------------------------------------------------------------------------

AT_POINT = {"points": ["p01"], "metric": "iops"}
WARNINGS: list[Example] = [
    {"code": "slow-first-run", "share": 0.5, "repetition": 1} | AT_POINT,
    {"code": "drift", "share": 0.11, "way": "slower", "repetitions": 7, "points": ["p01", "p02", "p03"]},
    {"code": "unsteady", "share": 0.18, "repetitions": 2} | AT_POINT,
    {"code": "autocorrelated", "share": 0.8, "unit": "launches", "count": 16, "counts_as": 3},
    {"code": "launches-differ", "share": 0.2, "count": 4},
    {"code": "wide-interval", "share": 0.2, "unit": "instances", "needed": 33},
    {"code": "wide-interval", "share": 0.97, "unit": "repetitions", "needed": 5},
    {"code": "fewer-instances", "share": 0.5, "ran": 1, "count": 2, "reason": "NoRoom: none"},
    {"code": "launch-missing", "launches": [2], "of": 3, "reason": "Lost: no samples"},
    {"code": "overhead", "share": 0.25},
    {"code": "tool-bound", "metric": "files_per_s", "share": 0.85, "tool": "parallel", "ceiling": 300.0},
    {"code": "tool-bound", "metric": "files_per_s", "share": 0.85, "tool": "engine", "ceiling": 300.0},
    {"code": "tool-bound", "metric": "mb_per_s", "share": 0.85, "tool": "engine", "ceiling": 900.0},
    {"code": "behind", "share": 0.225, "done_per_s": 310.0, "offered_per_s": 400.0},
    {"code": "not-steady", "share": 0.75, "unsteady": 3, "judged": 4},
    {"code": "not-steady", "share": 1.0, "unsteady": 4, "judged": 4, "period_s": 200.0},
    {"code": "steady-late", "share": 0.38, "from_s": 40.0, "ratio": 0.62},
    {"code": "unreadable", "what": "latencies", "files": 1, "reason": "i-1: no JSON"},
    {"code": "unreadable", "what": "bundles", "files": 2, "reason": "i-1: no JSON"},
    {"code": "no-bottleneck", "reason": "KeyError: 'p01'"},
    {"code": "of-samples", "text": "start was late", "samples": 1, "launches": [2, 3]},
    {"code": "of-source", "text": "identical to another row"},
]


def warnings() -> Sentences:
    for warning in WARNINGS:
        yield warning["code"], CellWarning.read(warning).line("a")
    several = [WARNINGS[5], WARNINGS[5] | {"points": ["p02"], "share": 1.35}]
    [kind] = kinds_of({"cells": [{"id": "a", "warnings": several}, {"id": "b", "warnings": several[:1]}]})
    yield "several of a kind", kind.line


# --- what an answer says of one storage -------------------------------------------------------------------------------

BURST = {"of": "volume IOPS", "counts": "IOPS", "rate": 3000.0, "sustained": 300.0, "lasts_s": 2000.0}
INSTANCES = {"unit": "instance", "count": 2, "least": 3}
REPETITIONS = {"unit": "repetition", "count": 1, "least": 3}
LAUNCHES = {"unit": "launch", "count": 2, "least": 3}
FEW = {"code": "too-few-samples", "level": 90, "needed": 36}
UNKNOWN = {"code": "sample-size-unknown", "level": 90}
RISKS: list[Example] = [
    {"code": "slow-tail", "level": 50, "slow": 6, "values": 30, "slowest": 10.2},
    {"code": "slow-tail", "level": 90, "slow": 1, "values": 30, "slowest": 2.5},
    {"code": "burst", "burst": BURST},
    {"code": "judged-by-sustained", "burst": BURST, "share": 0.1, "job_s": 28_800.0},
    {"code": "not-replicated", "shortages": [REPETITIONS]},
    {"code": "launched-once"},
    {"code": "not-steady", "period_s": 12.0},
    {"code": "not-steady", "period_s": None},
    FEW | {"count": 1},
    FEW | {"count": 3, "by_launch": True},
    {"code": "only-worst-known", "level": 10},
    UNKNOWN,
    {"code": "no-single-values"},
    {"code": "cost-incomplete", "missing": "bytes moved"},
]
TESTED = {"ratio": 1.1, "low": 1.0, "high": 1.2}
SLOWER = {"code": "slower", "is_cheapest": False, "times_as_slow": None, "difference": {"code": "not-tested"}}
MARGIN = {"margin": 0.1, "bound": None}
VERDICTS: list[Example] = [
    {"code": "fastest", "is_cheapest": True},
    {"code": "fastest", "is_cheapest": False},
    SLOWER,
    SLOWER | {"times_as_slow": 1.005},
    SLOWER | {"times_as_slow": 1.12, "is_cheapest": True, "difference": {"code": "open"} | TESTED},
    SLOWER | {"times_as_slow": 2.5, "difference": {"code": "too-few", "shortages": [REPETITIONS]}},
    {"code": "only-one"},
    {"code": "cheapest-that-meets"} | MARGIN,
    {"code": "meets"} | MARGIN,
    {"code": "meets-by-value"} | MARGIN,
    {"code": "misses"} | MARGIN,
    {"code": "lost"},
    {"code": "no-figure"},
]
LOST: list[Example] = [
    {"code": "left-out", "reason": "a copy of another row"},
    {"code": "quorum", "ran": 10, "count": 20},
    {"code": "too-few-operations"},
    {"code": "failed", "reason": "FleetFailed: nobody came"},
    {"code": "no-cell"},
    {"code": "no-cell", "of_source": True},
]
DIFFERENCES: list[Example] = [
    {"code": "as-fast"} | TESTED,
    {"code": "slower"} | TESTED,
    {"code": "open"} | TESTED,
    {"code": "too-few", "shortages": [REPETITIONS]},
    {"code": "not-tested"},
]


def described(family: type[Finding], examples: list[Example], title: str = "") -> Sentences:
    for example in examples:
        yield f"{title}{example['code']}", family.describe(example) or "(none)"


def risks() -> Sentences:
    yield from described(Risk, RISKS)
    medians = {
        "one fleet is too small, another unknown": [(10, FEW | {"count": 10}), (1, UNKNOWN)],
        "several are too small, several unknown": [
            (1, FEW | {"count": 1}), (5, FEW | {"count": 5}), (2, UNKNOWN), (20, UNKNOWN),
        ],
        "one fleet is both": [(1, FEW | {"count": 3}), (1, FEW | {"count": 4}), (1, UNKNOWN)],
        "all are too small": [(3, FEW | {"count": 3}), (6, FEW | {"count": 18})],
        "all are unknown": [(3, UNKNOWN), (6, UNKNOWN)],
    }  # fmt: skip
    for name, whys in medians.items():
        questions = [{"instances": size, "unit": "s", "why_median": why} for size, why in whys]
        yield f"ranked by the median, {name}", describe_why_median(questions)


def _candidate(**fields: Any) -> Example:
    cost = {"per": "build", "usd": 1.0, "basis": "", "missing": None, "usd_billed": None, "billed_basis": None}
    return {"storage": "EBS", "cost": cost, "lost": None, **fields}


def verdicts() -> Sentences:
    def beside(count: int) -> Example:
        return {"candidates": [_candidate(ranked={"value": 1.0})] * count, "higher_is_better": False}

    for verdict in VERDICTS:
        lost = LOST[1] if verdict["code"] == "lost" else None
        yield verdict["code"], describe_verdict(_candidate(verdict=verdict, lost=lost), beside(2))
    cheapest, dearer = ({"code": code} | MARGIN for code in ("cheapest-that-meets", "meets"))
    yield "cheapest-that-meets, alone", describe_verdict(_candidate(verdict=cheapest), beside(1))
    yield "cheapest-that-meets, no cost", describe_verdict(_candidate(verdict=cheapest, cost=None), beside(2))
    yield "meets, no cost", describe_verdict(_candidate(verdict=dearer, cost=None), beside(2))
    for ratio in (1.005, 1.3, 3.2):
        yield "meets, dearer", describe_verdict(_candidate(verdict=dearer, times_as_dear=ratio), beside(2))
    yield from described(Lost, LOST, "lost: ")
    yield from described(Difference, DIFFERENCES, "difference: ")


def replication() -> Sentences:
    yield "instances and repetitions", describe_shortage([INSTANCES, REPETITIONS])
    yield "launches", describe_shortage([LAUNCHES])
    for needed in ({"instances": 30, "repetitions": 10}, {"launches": 7}, None):
        yield "needed", describe_needed(needed)
    yield "several comparisons", shortage_words_of([[INSTANCES | {"count": 1}, REPETITIONS], [INSTANCES, REPETITIONS]])


# --- bottlenecks ------------------------------------------------------------------------------------------------------

RATE = {"code": "rate", "used": 2_970.0, "limit": 3_000.0, "unit": "IOPS"}
SHARE = {"code": "share", "metric": "AWS/FSx Disk", "percent": 97.0, "resource": "fs-2", "at": AT}
USES: list[Example] = [
    RATE | {"point": "p01"},
    RATE | {"used": 118.0, "limit": 119.0, "unit": "MB/s", "of": "baseline"},
    RATE | {"used": 1_381.0, "limit": 1_250.0, "unit": "MB/s", "of": "maximum"},
    RATE | {"used": 490.0, "limit": 500.0, "unit": "MiB/s", "of": "client"},
    RATE | {"used": 99.0, "limit": 100.0, "unit": "MiB/s", "of": "permitted", "at": AT, "credits_left_bytes": 2.0**31},
    SHARE | {"resources": 1},
    SHARE | {"resources": 2, "cache_hits_percent": 35.0},
    {"code": "throttled", "metric": "Check", "resources": ["i-0", "i-1"], "first_at": AT},
    {"code": "balance", "metric": "BurstBalance", "resources": ["vol-1"], "first_at": AT},
    {"code": "balance", "metric": "BurstBalance", "resources": [], "first_at": None},
    {"code": "tool", "share": 0.6, "point": "p02"},
    {"code": "processors", "machine": 0.5, "worker": 0.99, "stolen": 0.06, "point": "p01"},
    {"code": "processors", "machine": 0.98, "worker": None, "stolen": 0.0, "point": "p01"},
    {"code": "packets", "allowance": "bw_out", "per_s": 400.0, "share": 0.024, "point": "p01"},
]
STEPS: list[Example] = [
    {"code": "raise"},
    {"code": "raise", "larger_type": "r5b.8xlarge"},
    {"code": "use-aws"},
    {"code": "load-more"},
    {"code": "know-limits"},
    {"code": "see-metrics"},
]
UNSEEN: list[Example] = [
    {"code": "not-read"},
    {"code": "not-asked", "error": "AccessDenied"},
    {"code": "not-of-aws"},
    {"code": "no-values", "metrics": ["a"], "may_arrive": False},
    {"code": "no-values", "metrics": list("abcdef"), "may_arrive": True},
    {"code": "storage-use"},
    {"code": "storage-limits"},
    {"code": "tool-limit"},
    {"code": "instance-limits"},
    {"code": "network-allowances"},
]


def _cell(*block_sizes: int) -> Example:
    points = [{"id": f"p{n:02d}", "params": {"block_bytes": size}} for n, size in enumerate(block_sizes, 1)]
    return {"id": "c", "storage": {"type": "ebs", "volumeType": "gp3"}, "points": points, "workload": {}}


def _bottleneck(name: str = "volume IOPS", **fields: Any) -> Example:
    return {
        "name": name, "uses": [], "share": 1.0, "next": {"code": "raise"}, "others": [], "unseen": [],
        "points": {"p01": name}, "is_provisional": False,
    } | fields  # fmt: skip


def bottleneck_sentences() -> Sentences:
    two = _cell(4_096, 8_192)
    for use in USES:
        yield f"use: {use['code']}", describe_evidence(two, _bottleneck(uses=[use]))
    points = {"p01": "volume IOPS", "p02": "volume IOPS", "p03": "volume throughput"}
    others = [{"name": "volume IOPS", "share": 0.13, "use": RATE | {"used": 398.0}}]
    waiting = {"workers": 4.0, "latency_s": 0.01, "point": "p01"}
    evidence = {
        "other points": _bottleneck(uses=[RATE], points=points),
        "minutes of several points": _bottleneck(
            uses=[SHARE | {"resources": 1}], points=dict.fromkeys(points, "not known")
        ),
        "one launch of several": _bottleneck(uses=[RATE], of_launches={"same": 3, "launches": 5}),
        "nothing was reached": _bottleneck("not saturated", others=others, waiting=waiting),
        "nothing is known": _bottleneck("not known"),
        "nothing was counted": _bottleneck("not known", points={}),
    }
    for name, found in evidence.items():
        yield f"evidence: {name}", describe_evidence(_cell(4_096), found)
    yield "others", describe_others(_bottleneck(others=others))
    for step in STEPS:
        yield f"next: {step['code']}", describe_next_limit(two, _bottleneck(next=step))
    for name in ("tool", "client CPU", "instance network", "instance EBS allowance"):
        yield f"next: raise {name}", describe_next_limit(two, _bottleneck(name))
    for tool in ("fio", "parallel"):
        workload = {"type": "touch", "tool": [tool]}
        yield f"next: raise tool, {tool}", describe_next_limit(two | {"workload": workload}, _bottleneck("tool"))
    yield from described(bottlenecks.Unseen, UNSEEN, "unseen: ")


# --- the answer of a run ----------------------------------------------------------------------------------------------

AT_MOST = {"metric": "duration_s", "percentile": 90, "atMost": 4000}
SIZES = (1, 2, 5, 10)
SPLIT = {"ebs": dict.fromkeys(SIZES, 3000.0), "efs": {1: 2500.0, 2: 2500.0, 5: 2500.0, 10: 9000.0}}
MISSING = {"ebs": {3: 3000.0, 200: 3050.0}, "efs": {3: 3990.0, 10: 3000.0, 50: 4300.0, 200: 5000.0}}
# Seconds of a build by storage and fleet size, and how the run was made.
RUNS: dict[str, tuple[dict[str, dict[int, float]], Example]] = {
    "one clear winner": ({"ebs": {50: 3000.0}, "efs": {50: 3800.0}}, {}),
    "best value": ({"ebs": {50: 3000.0}, "efs": {50: 3030.0}}, {"spread": 0.0001}),
    "one repetition": ({"ebs": {50: 3000.0}, "efs": {50: 4000.0}}, {"repetitions": 1}),
    "as fast and cheaper": ({"ebs": {10: 3000.0}, "efs": {10: 3000.0}}, {"spread": 0.002}),
    "as fast, with stragglers": ({"ebs": {10: 3000.0}, "efs": {10: 3000.0}}, {"spread": 0.002, "straggler": 3.0}),
    "the intervals are too wide": ({"ebs": {4: 3300.0}, "efs": {4: 3290.0}}, {"spread": 0.1}),
    "one storage": ({"ebs": {1: 3000.0}}, {}),
    "one storage at several sizes": ({"ebs": {1: 3000.0, 4: 3000.0}}, {}),
    "no two storages alike": ({"ebs": {1: 3000.0}, "efs": {4: 3000.0}}, {}),
    "two storages at one of three sizes": ({"ebs": {1: 3000.0, 4: 3000.0, 50: 3000.0}, "efs": {4: 3800.0}}, {}),
    "several sizes, one winner": ({"ebs": {4: 3000.0, 50: 3000.0}, "efs": {4: 3800.0, 50: 3800.0}}, {}),
    "several sizes, several winners": (SPLIT, {"spread": 0.0001}),
    "not measured everywhere": (MISSING, {}),
    "objective met": ({"ebs": {4: 3000.0}, "efs": {4: 3800.0}}, {"objective": AT_MOST, "repetitions": 1}),
    "objective met for sure": ({"ebs": {50: 3000.0}, "efs": {50: 3800.0}}, {"objective": AT_MOST}),
    "objective met by two": ({"ebs": {50: 3000.0}, "efs": {50: 2490.0}}, {"objective": AT_MOST, "straggler": 1.3}),
    "objective missed": ({"ebs": {50: 5000.0}, "efs": {50: 8000.0}}, {"objective": AT_MOST}),
    "objective at several sizes": (SPLIT, {"objective": AT_MOST}),
    "local": ({"ebs": {50: 3000.0}, "efs": {50: 3800.0}}, {"environment": "local"}),
    "emulated": ({"ebs": {50: 3000.0}, "efs": {50: 3800.0}}, {"environment": "emulated"}),
    "nothing measured": ({"ebs": {1: None}, "efs": {1: None}}, {}),
}


def _run(name: str) -> Example:
    seconds, how = RUNS[name]
    objective = how.get("objective")
    made, results, planned = build_run(seconds, **{key: how[key] for key in how if key != "objective"})
    made["decision"] = decide(made, results=results, objective=objective, bill=Bill.of(planned, None))
    return made


def _in_memory() -> Example:
    made, results, planned = build_run({"ebs": {1: 3000.0}, "efs": {1: 3800.0}})
    for cell in made["cells"]:
        cell["workload"] = {"type": "touch"}
        cell["points"][0]["params"] = {"threads": 4, "sync": "none"}
    made["decision"] = decide(made, results=results, bill=Bill.of(planned, None))
    return made


def _quorum() -> Example:
    made, results, planned = build_run({"ebs": {20: 3000.0}, "efs": {20: 2000.0}})
    cell_of(made, "efs", 20)["instances"] = {"expected": 20, "launched": 10}
    made["decision"] = decide(made, results=results, objective=AT_MOST, bill=Bill.of(planned, None))
    return made


def answers() -> Sentences:
    runs = {name: _run(name) for name in RUNS}
    published = published_run("yocto", "published")
    published["decision"] = decide(published)
    runs |= {"creates in memory": _in_memory(), "fewer instances": _quorum(), "published": published}
    for name, made in runs.items():
        made["warnings"] = []  # of the plan, whose sentences are not made here
        decision = made["decision"]
        answer = answer_sentences(made, _short)
        for sentence in answer:
            yield f"{name}: answer", sentence
        for question in decision["questions"]:
            yield f"{name}: comparison", describe_question(question, decision)
            yield f"{name}: headline", question_headline(question, decision, _short)
        for line in doubts(made, decision, _short, 9):
            if line not in answer:
                yield f"{name}: caveat", line
    [question] = runs["one clear winner"]["decision"]["questions"]
    yield "comparison", describe_comparison(question)
    yield "percentile", describe_level(question)


def _short(candidate: Example) -> str:
    return candidate["storage"].partition(" (")[0]


# --- a comparison with another run ------------------------------------------------------------------------------------

POINT = {
    "storage": "EBS", "fleet": "1 × m6i.large", "workload": "build", "point": "jobs 4", "metric": "duration_s",
    "percentile": "p50", "is_trend": False, "verdict": "slower", "change": 0.5, "ratio": 1.5, "low": 1.4, "high": 1.6,
}  # fmt: skip
COMPARED = {
    "base": "r1", "asked": "baseline:main", "points": 3, "slower": 0, "faster": 0, "unjudged": 0, "changes": [],
    "lost": [], "reason": None, "detectable_ratio": 1.1, "noisiest_ratio": 1.4, "runs": 0,
}  # fmt: skip
LOST_CELLS = [{"cell": f"c{number}", "points": ["jobs 4"], "reason": "failed: InstancesLost"} for number in range(3)]
COMPARISONS: dict[str, Example] = {
    "slower": {
        "slower": 2,
        "changes": [POINT, POINT | {"percentile": "p90", "low": None, "high": None}],
        "is_of_one_night": True,
    },
    "faster": {"faster": 1, "runs": 9, "changes": [POINT | {"verdict": "faster", "change": -0.5, "ratio": 0.5}]},
    "no-difference": {"unjudged": 1, "lost": LOST_CELLS},
    "both": {"slower": 1, "faster": 1, "unjudged": 1, "changes": [POINT | {"is_trend": True}]},
    "cannot-tell": {"reason": "only 1 repetition"},
    "not-compared": {"base": None, "reason": "no such run"},
}


def comparisons() -> Sentences:
    for verdict, fields in COMPARISONS.items():
        for line in comparison_lines(COMPARED | {"verdict": verdict} | fields):
            yield verdict, line


# --- the end of a run -------------------------------------------------------------------------------------------------

TOTALS = {"resources": 9, "gone": 9, "resources_usd": 0.5, "metered_usd": 0.25, "cost_usd": 0.75}
RECEIPT = {"run": "r1", "is_complete": True, "totals": TOTALS, "sweep": {"at": AT, "remaining": 0}}
KEPT = {"gone": 7, "kept": 2, "kept_usd_month": {"low": 0.4, "high": 0.8}}
RECEIPTS: dict[str, Example] = {
    "complete": {},
    "one": {"totals": TOTALS | {"resources": 1, "gone": 1}},
    "nothing": {"totals": TOTALS | {"resources": 0, "gone": 0}},
    "not asked": {"is_complete": False, "unasked": ["ebs-snapshot: DescribeSnapshots answered UnauthorizedOperation"]},
    "still there": {"is_complete": False, "totals": TOTALS | {"gone": 8}, "sweep": {"at": AT, "remaining": 1}},
    "kept images": {"totals": TOTALS | KEPT},
    "swept": {"is_complete": False, "sweep": {"at": AT, "remaining": 2}},
    "not swept": {"is_complete": False, "sweep": None},
    "unfinished": {"is_complete": False, "unfinished": [f"volume {n}" for n in range(7)]},
    "not ours": {"not_ours": [{"id": "fs-1", "folder": None}, {"id": "fs-2", "folder": "/r1"}]},
}
FAILED = {
    "id": "b", "state": "failed", "error": {"name": "FleetFailed", "message": "nobody came"},
    "workload": {"type": "touch"}, "fleet": {"instanceType": "m6i.large", "count": 2},
}  # fmt: skip
SKIPPED = {"name": "skipped: budget", "message": "0.10 of 0.20 USD are left"}
MEASURED = {"id": "a", "state": "measured"}
ENDED = {"status": "measured", "totals": {"measured": 2, "cells": 2}, "cells": [], "warnings": []}
ENDINGS: dict[str, Example] = {
    "measured": {"environment": "aws", "receipt": RECEIPT},
    "not swept": {"environment": "aws", "receipt": RECEIPT | {"is_complete": False}},
    "partly failed": {"environment": "aws", "status": "partly failed", "cells": [FAILED]},
    "some failed": {"environment": "aws", "status": "partly failed", "cells": [FAILED] * 3 + [MEASURED]},
    "skipped": {
        "environment": "aws",
        "status": "partly failed",
        "cells": [FAILED | {"state": "skipped", "error": SKIPPED}] * 2 + [MEASURED],
    },
    "several failed": {"environment": "aws", "status": "failed", "cells": [FAILED] * 3},
    "local": {"environment": "local", "receipt": RECEIPT},
    "local-vm": {"environment": "local-vm"},
    "emulated": {"environment": "emulated"},
    "emulated, slowed down": {
        "environment": "emulated",
        "cells": [{"storage": {"emulated": {"slowdown": 8}}, "state": "measured"}],
    },
    "imported": {"environment": "imported", "tools": ["fio"]},
}


def endings() -> Sentences:
    for name, fields in ENDINGS.items():
        yield f"{name}: state", describe_state(ENDED | fields)
        for line in describe_failed(ENDED | fields, {"b": "EBS gp3"}):
            yield f"{name}: failed", line
    for name, fields in RECEIPTS.items():
        yield f"receipt: {name}", receipt_sentence(RECEIPT | fields)
    for resource in ({"gone_at": AT}, {"gone_at": None, "kept": True}, {"gone_at": None}):
        yield "receipt: resource", deleted_text(resource)


# --- a point of a table -----------------------------------------------------------------------------------------------

POINTS: dict[str, tuple[Example, Example]] = {
    "caches": ({"params": {"phase": "stat"}, "caches": "not dropped"}, {}),
    "fresh flash": ({}, {"storage": {"type": "instance-store"}}),
    "tool-bound": ({"tool_ceiling": {"is_bound": True}}, {}),
}
HIGHEST = {"none": (0.0, 100.0), "one of those tried": (400.0, 500.0), "the highest tried": (800.0, None)}


def points() -> Sentences:
    for name, (point, cell) in POINTS.items():
        yield f"mark: {name}", marked_label("threads 4", {"id": "p01"} | point, cell)
    for name, (kept, beyond) in HIGHEST.items():
        yield f"highest rate: {name}", describe_highest({"metric": {"p50": kept}, "beyond_per_s": beyond})


# --- problems of a matrix ---------------------------------------------------------------------------------------------


def refusals() -> Sentences:
    for changes, path, code in REFUSED:
        yield code, str(problems_of(**changes)[path])


def doubts_of_plans() -> Sentences:
    for changes, path, code in WARNED:
        [line] = [str(one) for one in matrix(**changes).warnings if (one.path, one.code) == (path, code)]
        yield code, line
    for changes, path, code in NEAR_LIMITS:
        found = [one for one in plan(matrix(**changes)).warnings if (one["path"], one.get("code")) == (path, code)]
        yield code, f"{path}: {found[0]['message']}"


# --- the snapshot -----------------------------------------------------------------------------------------------------

SECTIONS = {
    "Warnings": warnings,
    "Risks": risks,
    "Verdicts": verdicts,
    "Replication": replication,
    "Bottlenecks": bottleneck_sentences,
    "Answers": answers,
    "Comparisons": comparisons,
    "Endings": endings,
    "Points": points,
    "Problems of a matrix": refusals,
    "Warnings of a plan": doubts_of_plans,
}


def section_text(title: str) -> str:
    return "\n".join([f"## {title}", "", *(f"- **{name}**: {words}" for name, words in SECTIONS[title]()), ""])


def snapshot() -> str:
    heading = "# Sentences of codes\n\nWritten by `make snapshots` from the examples in tests/test_sentences.py.\n"
    return "\n".join([heading, *map(section_text, SECTIONS)])


@pytest.mark.parametrize("title", SECTIONS)
def test_sentences_are_those_of_the_snapshot(title):
    kept = SNAPSHOT.read_text(encoding="utf-8").partition(f"\n## {title}\n")[2].partition("\n## ")[0]

    assert f"\n## {title}\n{kept}".strip() == section_text(title).strip(), "`make snapshots` writes them again"


@pytest.mark.parametrize(
    ("family", "examples"),
    [
        (CellWarning, WARNINGS),
        (Risk, RISKS),
        (Lost, LOST),
        (Difference, DIFFERENCES),
        (Verdict, VERDICTS),
        (bottlenecks.LimitUse, USES),
        (bottlenecks.NextStep, STEPS),
        (bottlenecks.Unseen, UNSEEN),
    ],
)
def test_each_finding_has_an_example_that_fits_its_schema(family, examples):
    assert {example["code"] for example in examples} == family.kinds.keys()
    for example in examples:
        TypeAdapter(Annotated[dict[str, Any], family]).validate_python(example, strict=True)
        assert family.read(example).document == example


def test_each_verdict_of_a_comparison_has_an_example():
    assert COMPARISONS.keys() == set(get_args(get_type_hints(compared.ComparisonDocument)["verdict"]))


if __name__ == "__main__":
    SNAPSHOT.write_text(snapshot(), encoding="utf-8")
