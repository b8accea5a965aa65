"""Warnings in words: a line for each kind, the most severe first, of a kind the worst."""

from typing import get_args, get_type_hints

import pytest
from pydantic import TypeAdapter

from matrix.terms.documents.warning import CellWarning, Finding
from matrix.text.warnings import (
    BRIEF,
    FINDINGS,
    RANK,
    every_warning,
    kinds_of,
    warning_line,
    warning_lines,
    warning_words,
)

WORDS_OF_OTHERS = {"of-samples", "of-source"}
# One of each code, and what its words say.
EACH = (
    (
        {"code": "slow-first-run", "share": 0.5, "repetition": 1},
        "repetition 1 was 1.5 times as slow as the median of the later ones",
    ),
    (
        {"code": "drift", "share": 0.11, "way": "slower", "repetitions": 7},
        "became slower by 11 % from the first to the last of 7 repetitions",
    ),
    (
        {
            "code": "two-groups",
            "share": 0.7,
            "lower": {"values": 36, "median": 1.0},
            "upper": {"values": 24, "median": 2.0},
        },
        "the values form two groups, 36 around 1 and 24 around 2, and the median lies in neither's middle; find what",
    ),
    (
        {
            "code": "two-groups-of-instances",
            "share": 0.7,
            "lower": {"values": 6, "median": 1.0},
            "upper": {"values": 4, "median": 2.0},
        },
        "an instance is always in the same one: compare their zones",
    ),
    (
        {
            "code": "two-groups-of-repetitions",
            "share": 0.7,
            "lower": {"values": 6, "median": 1.0},
            "upper": {"values": 4, "median": 2.0},
        },
        "a repetition is wholly in one",
    ),
    ({"code": "unsteady", "share": 0.18, "repetitions": 2}, "medians of the 2 repetitions differ by 18 %"),
    (
        {"code": "autocorrelated", "share": 0.8, "unit": "launches", "count": 16, "counts_as": 3},
        "each of the 16 launches resembles the one before it (lag-1 autocorrelation 0.80): they count as 3",
    ),
    ({"code": "launches-differ", "share": 0.2, "count": 4}, "medians of the 4 launches differ by 20 %"),
    (
        {"code": "wide-interval", "share": 0.2, "unit": "instances", "needed": 33},
        "the interval of the median is wide (± 20 %); 33 instances would halve it",
    ),
    (
        {"code": "wide-interval", "share": 0.97, "unit": "repetitions", "needed": 5},
        "the interval of the median is wide (a factor of 2.4); 5 repetitions would halve it",
    ),
    (
        {"code": "fewer-instances", "share": 0.5, "ran": 1, "count": 2, "reason": "NoRoom: none"},
        "only 1 of 2 instances were launched: NoRoom: none",
    ),
    (
        {"code": "launch-missing", "launches": [2], "of": 3, "reason": "Lost: no samples"},
        "launch 2 of 3 was not measured: Lost: no samples",
    ),
    ({"code": "overhead", "share": 0.25}, "up to 25 % of the time was not the work itself"),
    (
        {"code": "tool-bound", "metric": "files_per_s", "share": 0.85, "tool": "parallel", "ceiling": 300},
        "85 % of what parallel reaches on these instances without a storage (300 files/s); use tool engine",
    ),
    (
        {"code": "tool-bound", "metric": "files_per_s", "share": 0.85, "tool": "engine", "ceiling": 300},
        "(300 files/s); take instances with more or faster processors, or more of them",
    ),
    (
        {"code": "behind", "share": 0.225, "done_per_s": 310.0, "offered_per_s": 400.0},
        "78 % of what was due was done (310 of 400/s)",
    ),
    ({"code": "not-steady", "share": 0.75, "unsteady": 3, "judged": 4}, "over the last 56 % of 3 of 4 samples"),
    (
        {"code": "not-steady", "share": 1.0, "unsteady": 4, "judged": 4, "period_s": 200.0},
        "the rate swings every 200 s in 4 of 4 samples",
    ),
    (
        {"code": "steady-late", "share": 0.38, "from_s": 40.0, "ratio": 0.62},
        "steady from second 40 on, at 62 % of the whole step's rate",
    ),
    (
        {"code": "unreadable", "what": "latencies", "files": 1, "reason": "i-1: no JSON"},
        "1 latency histograms are left out; the first: i-1: no JSON",
    ),
    (
        {"code": "unreadable", "what": "bundles", "files": 2, "reason": "i-1: no JSON"},
        "2 files of many steps are damaged",
    ),
    (
        {"code": "unreadable", "what": "rates-over-time", "files": 1, "reason": "i-1: no JSON"},
        "1 rates over time are left out",
    ),
    ({"code": "no-bottleneck", "reason": "KeyError: 'p01'"}, "no bottleneck was looked for: KeyError: 'p01'"),
    ({"code": "of-samples", "text": "start was late", "samples": 1}, "start was late"),
    ({"code": "of-source", "text": "said twice"}, "said twice"),
)


def codes(union):
    """The codes of a union of documents."""
    return {code for kind in get_args(union) for code in get_args(get_type_hints(kind)["code"])}


def unsteady(point, percent, metric="iops"):
    """Repetitions of a point that differ."""
    return {"code": "unsteady", "repetitions": 2, "points": [point], "metric": metric, "share": percent / 100}


def run(**cells):
    """A summary with the warnings of these cells."""
    return {"warnings": ["too slow"], "cells": [{"id": name, "warnings": each} for name, each in cells.items()]}


@pytest.mark.parametrize(("warning", "words"), EACH, ids=[f"{at} {each[0]['code']}" for at, each in enumerate(EACH)])
def test_each_warning_has_its_words_and_fits_its_schema(warning, words):
    assert words in warning_words(warning)
    TypeAdapter(CellWarning).validate_python(warning, strict=True)


def test_no_code_is_without_words_a_place_among_the_others_and_what_to_change():
    every = codes(CellWarning)

    assert {warning["code"] for warning, _ in EACH} == every == set(RANK)
    assert codes(Finding) == FINDINGS
    assert every - WORDS_OF_OTHERS - {"launch-missing", "unreadable", "no-bottleneck"} == set(BRIEF)
    assert all('"' in change or "zones" in change for _, change in BRIEF.values() if isinstance(change, str))


def test_a_warning_says_of_what_it_is():
    overhead = {"code": "overhead", "points": ["p01", "p02", "p03"], "share": 0.2}
    late = {"code": "of-samples", "samples": 1, "launches": [2, 3], "text": "start was late"}

    assert warning_line("a", unsteady("p01", 12)).startswith(
        "a: p01, iops: medians of the 2 repetitions differ by 12 %"
    )
    assert warning_line("a", overhead).startswith("a: p01, and 2 more points: up to 20 % of the time")
    assert warning_line("a", late) == "a: launch 2, 3: start was late (1 sample)"


def test_those_of_one_kind_are_one_line_with_the_worst():
    drift = {"code": "drift", "points": ["p03"], "metric": "iops", "share": 0.09, "way": "slower", "repetitions": 5}
    found = run(a=[unsteady("p01", 12), unsteady("p02", 135), drift], b=[unsteady("p01", 20, "mb_per_s")])

    assert warning_lines(found) == [
        "too slow",
        f"3 points of 2 cells, the worst is {warning_line('a', unsteady('p02', 135))}",
        warning_line("a", drift),
    ]
    assert len(list(every_warning(found))) == 5


def test_the_most_severe_kind_comes_first_whatever_its_share():
    missing = {"code": "fewer-instances", "share": 0.1, "ran": 9, "count": 10, "reason": "NoRoom"}
    bound = {"code": "tool-bound", "points": ["p01"], "metric": "iops", "share": 0.5, "tool": "fio", "ceiling": 9.0}

    kinds = kinds_of(run(a=[unsteady("p01", 300), bound], b=[missing]))

    assert [kind.warnings[0][1]["code"] for kind in kinds] == ["fewer-instances", "tool-bound", "unsteady"]


def test_what_instances_wrote_is_alike_if_only_figures_differ():
    off = [{"code": "of-samples", "samples": 1, "text": f"the clock is {offset} s off"} for offset in ("-1.5", "0.7")]
    other = {"code": "of-samples", "samples": 1, "text": "caches were not dropped"}

    assert [len(kind.warnings) for kind in kinds_of(run(a=[*off, other]))] == [2, 1]


def test_a_word_of_a_million_characters_is_read_once_and_not_once_from_each_of_them():
    long = [{"code": "of-source", "text": f"{'x' * 1_000_000} {end}"} for end in ("1", "2")]

    assert [len(kind.warnings) for kind in kinds_of(run(a=long))] == [2]


def test_a_kind_in_brief_counts_its_points_and_names_the_field_to_change():
    several, other = kinds_of(run(a=[unsteady("p01", 12), unsteady("p02", 135)], b=[
        {"code": "of-samples", "samples": 1, "text": "caches were not dropped"}]))  # fmt: skip

    assert several.brief() == '2 points: repetitions differ (up to 135 %). Raise "repetitions", or set "launches": 3.'
    assert other.brief() == "b: caches were not dropped."


def test_advice_on_a_tool_that_was_the_limit_is_for_the_tool_that_was_used():
    bound = {"code": "tool-bound", "points": ["p01"], "metric": "files_per_s", "share": 0.85, "ceiling": 300.0}

    of_engine, of_parallel = (kinds_of(run(a=[bound | {"tool": tool}]))[0].brief() for tool in ("engine", "parallel"))

    assert of_engine.endswith(" Take instances with more or faster processors, or more of them.")
    assert of_parallel.endswith(" Use tool engine, where there is one, or more instances.")
