"""Warnings in words: a line for each kind, the most severe first, of a kind the worst."""

import inspect
import re
from typing import get_args, get_type_hints

from matrix.statistics import steadiness
from matrix.terms.documents.result import CellWarning
from matrix.text.warnings import BRIEF, BY_TEXT, SEVERITY, every_warning, kinds_of, warning_line, warning_lines

FINDINGS = inspect.getsource(steadiness)


def unsteady(point, percent, metric="iops"):
    """Repetitions of a point that differ."""
    text = f"medians of the 2 repetitions differ by {percent} %: repeat more often"
    about = {"points": [point], "metric": metric, "share": percent / 100}
    return {"code": "finding", "kind": "unsteady", **about, "text": text}


def run(**cells):
    """A summary with the warnings of these cells."""
    return {"warnings": ["too slow"], "cells": [{"id": name, "warnings": each} for name, each in cells.items()]}


def test_every_code_has_its_place_among_the_others():
    assert set(get_args(get_type_hints(CellWarning)["code"])) == set(SEVERITY)


def test_a_warning_says_of_what_it_is():
    overhead = {"code": "overhead", "points": ["p01", "p02", "p03"], "share": 0.2, "text": "up to 20 %"}
    late = {"code": "of-samples", "samples": 1, "launches": [2, 3], "text": "start was late"}

    assert warning_line("a", unsteady("p01", 12)).startswith(
        "a: p01, iops: medians of the 2 repetitions differ by 12 %"
    )
    assert warning_line("a", overhead) == "a: p01, and 2 more points: up to 20 %"
    assert warning_line("a", late) == "a: launch 2, 3: start was late (1 sample)"
    assert warning_line("a", {"code": "as-written", "text": "p01: said in 2025"}) == "a: p01: said in 2025"


def test_those_of_one_kind_are_one_line_with_the_worst():
    drift = {**unsteady("p03", 9), "kind": "drift", "text": "became slower by 9 %"}
    found = run(a=[unsteady("p01", 12), unsteady("p02", 135), drift], b=[unsteady("p01", 20, "mb_per_s")])

    assert warning_lines(found) == [
        "too slow",
        f"3 points of 2 cells, the worst is {warning_line('a', unsteady('p02', 135))}",
        warning_line("a", drift),
    ]
    assert len(list(every_warning(found))) == 5


def test_the_most_severe_kind_comes_first_whatever_its_share():
    missing = {"code": "fewer-instances", "share": 0.1, "text": "only 9 of 10 instances were launched"}
    bound = {"code": "tool-bound", "points": ["p01"], "metric": "iops", "share": 0.5, "text": "limited"}

    kinds = kinds_of(run(a=[unsteady("p01", 300), bound], b=[missing]))

    assert [kind.warnings[0][1]["code"] for kind in kinds] == ["fewer-instances", "tool-bound", "finding"]


def test_what_instances_wrote_is_alike_if_only_figures_differ():
    off = [{"code": "of-samples", "samples": 1, "text": f"the clock is {offset} s off"} for offset in ("-1.5", "0.7")]
    other = {"code": "of-samples", "samples": 1, "text": "caches were not dropped"}

    assert [len(kind.warnings) for kind in kinds_of(run(a=[*off, other]))] == [2, 1]


def test_a_kind_in_brief_counts_its_points_and_names_the_field_to_change():
    several, other = kinds_of(run(a=[unsteady("p01", 12), unsteady("p02", 135)], b=[
        {"code": "of-samples", "samples": 1, "text": "caches were not dropped"}]))  # fmt: skip

    assert several.brief == '2 points: repetitions differ (up to 135 %). Raise "repetitions", or set "launches": 3.'
    assert other.brief == "b: caches were not dropped."


def test_each_code_and_each_kind_of_finding_is_known_in_brief():
    kinds = set(re.findall(r'Finding\(\s*"(.+?)"', FINDINGS)) | set(
        re.findall(r'(?:return|=) "(two groups.*?)"', FINDINGS)
    )

    assert len(kinds) >= 7
    assert kinds <= set(BRIEF)
    assert {code for code in SEVERITY if code not in BY_TEXT and code != "finding"} <= set(BRIEF)
    assert all('"' in change or "zones" in change for _, change in BRIEF.values())
