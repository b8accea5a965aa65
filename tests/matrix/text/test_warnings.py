"""Warnings: a line for each kind, the most severe first, of a kind the worst. tests/sentences.md has the words."""

from matrix.text.warnings import every_warning, kinds_of, warning_lines


def unsteady(point, percent, metric="iops"):
    """Repetitions of a point that differ."""
    return {"code": "unsteady", "repetitions": 2, "points": [point], "metric": metric, "share": percent / 100}


def run(**cells):
    """A summary with the warnings of these cells."""
    return {"warnings": ["too slow"], "cells": [{"id": name, "warnings": each} for name, each in cells.items()]}


def test_those_of_one_kind_are_one_line_with_the_worst():
    drift = {"code": "drift", "points": ["p03"], "metric": "iops", "share": 0.09, "way": "slower", "repetitions": 5}
    found = run(a=[unsteady("p01", 12), unsteady("p02", 135), drift], b=[unsteady("p01", 20, "mb_per_s")])

    assert [(kind.warnings[0][1].points, len(kind.warnings)) for kind in kinds_of(found)] == [
        (["p02"], 3),
        (["p03"], 1),
    ]
    assert len(warning_lines(found)) == 1 + 2
    assert len(list(every_warning(found))) == 5


def test_the_most_severe_kind_comes_first_whatever_its_share():
    missing = {"code": "fewer-instances", "share": 0.1, "ran": 9, "count": 10, "reason": "NoRoom"}
    bound = {"code": "tool-bound", "points": ["p01"], "metric": "iops", "share": 0.5, "tool": "fio", "ceiling": 9.0}

    kinds = kinds_of(run(a=[unsteady("p01", 300), bound], b=[missing]))

    assert [kind.warnings[0][1].code for kind in kinds] == ["fewer-instances", "tool-bound", "unsteady"]


def test_what_instances_wrote_is_alike_if_only_figures_differ():
    off = [{"code": "of-samples", "samples": 1, "text": f"the clock is {offset} s off"} for offset in ("-1.5", "0.7")]
    other = {"code": "of-samples", "samples": 1, "text": "caches were not dropped"}

    assert [len(kind.warnings) for kind in kinds_of(run(a=[*off, other]))] == [2, 1]


def test_a_word_of_a_million_characters_is_read_once_and_not_once_from_each_of_them():
    long = [{"code": "of-source", "text": f"{'x' * 1_000_000} {end}"} for end in ("1", "2")]

    assert [len(kind.warnings) for kind in kinds_of(run(a=long))] == [2]
