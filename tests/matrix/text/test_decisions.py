"""Codes of a decision become words: one sentence for each code, and the answer of a run."""

from typing import get_args, get_type_hints

import pytest
from support.runs_for_reports import build_run, cell_of

from matrix.answer.costs import Bill
from matrix.answer.decision import decide
from matrix.published.runs import published_runs
from matrix.published.yocto_run import yocto_run
from matrix.terms.documents import summary as documents
from matrix.text.decisions import decision_sentences, not_comparable, question_words
from matrix.text.headlines import doubts
from matrix.text.replication import shortage_words, shortage_words_of
from matrix.text.risks import median_words, risk_words, why_median_words
from matrix.text.verdicts import difference_words, lost_words, verdict_words
from matrix.text.warnings import every_warning

AT_MOST = {"metric": "duration_s", "percentile": 90, "atMost": 4000}
ONE_REPETITION = [{"unit": "repetition", "count": 1, "least": 3}]
BURST = {"of": "volume IOPS", "counts": "IOPS", "rate": 3000.0, "sustained": 300.0, "lasts_s": 2000.0}
EBS = "EBS gp3 (200 GiB, 3000 IOPS, 125 MiB/s)"

RISKS = {
    "interval-crosses-limit": (
        {"low": 3900.0, "high": 4100.0, "confidence": 0.95},
        "its 95 % interval, 65m 00s to 68m 20s, crosses the limit",
    ),
    "slow-tail": (
        {"slow": 6, "values": 30, "slowest": 10.2},
        "slow tail: 6 of 30 values are at least twice as slow as the median, the slowest 10 times as slow",
    ),
    "burst": ({"burst": BURST}, "on credits for 33m 20s, then 300 IOPS (volume)"),
    "judged-by-sustained": (
        {"burst": BURST, "share": 0.1, "job_s": 28_800.0},
        "judged by its sustained rate, 10 % of what was measured: on credits for 33m 20s, then 300 IOPS (volume), and "
        "the job lasts 8h 00m",
    ),
    "not-replicated": (
        {"shortages": ONE_REPETITION},
        'not replicated: only 1 repetition: set "repetitions": 3, or "launches": 3',
    ),
    "not-steady": ({"period_s": 12.0}, "not steady: its rate repeats every 12 s"),
    "too-few-samples": ({"level": 90, "needed": 36, "count": 1}, "P90 needs 36 independent values, there is 1"),
    "only-worst-known": ({"level": 10}, "P10 is not known, this is the worst value"),
    "sample-size-unknown": ({"level": 90}, "the number of samples behind P90 is not known"),
    "no-single-values": (
        {},
        "no single values are known: there is no interval, and that instances are independent is assumed",
    ),
    "cost-incomplete": ({"missing": "bytes moved"}, "its cost is without bytes moved"),
}
VERDICTS = {
    "fastest": ({"is_cheapest": True}, "fastest and cheapest"),
    "slower": (
        {"is_cheapest": True, "times_as_slow": 1.12, "difference": {"code": "not-significant"}},
        "cheapest; 12 % slower; difference not significant",
    ),
    "only-one": ({}, "the only one measured"),
    "cheapest-that-meets": ({"margin": 0.1}, "cheapest that meets the objective"),
    "meets": ({"margin": 0.1, "times_as_dear": 1.3}, "meets the objective, costs 30 % more"),
    "misses": ({"margin": 0.1, "interval_meets": True}, "misses the limit by 10 % (its interval reaches it)"),
    "lost": ({}, "not ranked: 10 of 20 instances ran, which is another load"),
    "no-figure": ({}, "no figure of this metric"),
}
LOST = {
    "left-out": ({"reason": "a copy of another row"}, "left out: a copy of another row"),
    "quorum": ({"ran": 10, "count": 20}, "not ranked: 10 of 20 instances ran, which is another load"),
    "failed": ({"reason": "FleetFailed: nobody came"}, "not measured: FleetFailed: nobody came"),
    "no-cell": ({}, "not measured: the run has no such cell"),
}
DIFFERENCES = {
    "shown": ({}, ""),
    "not-significant": ({}, "difference not significant"),
    "too-few": (
        {"shortages": ONE_REPETITION},
        'not replicated (only 1 repetition: set "repetitions": 3, or "launches": 3)',
    ),
    "not-tested": ({}, ""),
}


def candidate(**fields):
    """A candidate that lost by its quorum, where its verdict says that it lost."""
    cost = {"per": "build", "usd": 1.0, "basis": "", "missing": None, "usd_billed": None, "billed_basis": None}
    return {"storage": "EBS", "cost": cost, "lost": {"code": "quorum", "ran": 10, "count": 20}, **fields}


@pytest.mark.parametrize(
    ("kind", "known"),
    [
        (documents.Risk, RISKS),
        (documents.Verdict, VERDICTS),
        (documents.Lost, LOST),
        (documents.Difference, DIFFERENCES),
    ],
)
def test_every_code_has_words(kind, known):
    assert set(get_args(get_type_hints(kind)["code"])) == set(known)


def test_what_a_source_did_not_publish_is_no_cell_of_a_run():
    published = published_runs("p")["p-yocto"]
    own = {**published, "environment": "aws"}

    words = {
        summary["environment"]: {
            lost_words(candidate["lost"])
            for question in decide(summary)["questions"]
            for candidate in question["candidates"]
            if candidate["lost"] and candidate["lost"]["code"] == "no-cell"
        }
        for summary in (published, own)
    }

    assert words == {
        "published": {"not measured: the source has no such row"},
        "aws": {"not measured: the run has no such cell"},
    }


def test_caveats_of_published_figures_call_a_cell_as_tables_do():
    published = published_runs("p")["p-yocto"]

    lines = doubts(published, decide(published), lambda candidate: candidate["storage"].partition(" (")[0], 9)

    [copied] = [line for line in lines if "identical to the published 100-instance row" in line]
    assert " at 200 × m6i.4xlarge: identical" in copied
    lines += every_warning({**published, "decision": decide(published)})
    assert [cell["id"] for cell in published["cells"] if any(cell["id"] in line for line in lines)] == []


@pytest.mark.parametrize("code", RISKS)
def test_a_risk_in_words(code):
    fields, words = RISKS[code]

    assert risk_words({"code": code, **fields}, "s") == words


def test_several_storages_that_are_ranked_by_the_median_have_the_range_of_their_sample_sizes():
    few = {"code": "too-few-samples", "level": 10, "needed": 36, "count": 3}
    unknown = {"code": "sample-size-unknown", "level": 90}

    assert risk_words({**few, "most": 18}, "s") == "P10 needs 36 independent values, the storages have 3 to 18"
    assert median_words([few, {**few, "count": 9, "most": 18}], "s") == (
        "P10 needs 36 independent values, the storages have 3 to 18"
    )
    assert median_words([{**few, "level": 90, "count": 10}, unknown], "s") == (
        "P90 needs 36 independent values, there are 10 or an unknown number"
    )


def test_fleets_whose_sample_size_is_unknown_are_told_from_those_that_are_too_small():
    def ranked(instances, **why):
        return {"instances": instances, "unit": "s", "why_median": {"level": 90, **why}}

    def few(instances, count):
        return ranked(instances, code="too-few-samples", needed=36, count=count)

    def unknown(instances):
        return ranked(instances, code="sample-size-unknown")

    assert why_median_words([unknown(1), few(10, 10)]) == (
        "P90 needs 36 independent values; at 10 there are 10, at 1 an unknown number"
    )
    assert why_median_words([few(1, 1), few(5, 5), unknown(2), unknown(20)]) == (
        "P90 needs 36 independent values; at 1 and 5 there are 1 to 5, at 2 and 20 an unknown number"
    )
    assert why_median_words([few(1, 3), few(1, 4), unknown(1)]) == (
        "P90 needs 36 independent values, the storages have 3 to 4 or an unknown number"
    )
    assert why_median_words([few(3, 3), few(6, 18)]) == "P90 needs 36 independent values, the storages have 3 to 18"


@pytest.mark.parametrize("code", VERDICTS)
def test_a_verdict_in_words(code):
    fields, words = VERDICTS[code]

    assert verdict_words(candidate(verdict={"code": code, **fields})) == words


@pytest.mark.parametrize("code", LOST)
def test_why_a_candidate_is_not_ranked_in_words(code):
    fields, words = LOST[code]

    assert lost_words({"code": code, **fields}) == words


@pytest.mark.parametrize("code", DIFFERENCES)
def test_a_difference_in_words(code):
    fields, words = DIFFERENCES[code]

    assert difference_words({"code": code, **fields}) == words


def test_a_candidate_that_meets_the_objective_alone_is_no_cheapest():
    verdict = {"code": "cheapest-that-meets", "margin": 0.1}

    assert verdict_words(candidate(verdict=verdict), is_alone=True) == "meets the objective, the only one measured"
    assert verdict_words(candidate(verdict=verdict, cost=None)) == "meets the objective, cost not known"


@pytest.mark.parametrize(
    ("ratio", "words"),
    [(None, "slower"), (1.005, "less than 1 % slower"), (1.5, "50 % slower"), (2.5, "2.5 times as slow")],
)
def test_how_much_slower_in_words(ratio, words):
    assert verdict_words(candidate(verdict={"code": "slower", "times_as_slow": ratio})) == words


def test_shortages_name_the_fields_that_help():
    instance = {"unit": "instance", "count": 2, "least": 3}
    launch = {"unit": "launch", "count": 2, "least": 3}

    assert shortage_words([instance, *ONE_REPETITION]) == (
        'only 2 instances and 1 repetition: set "count": 3 and "repetitions": 3, or "launches": 3'
    )
    assert shortage_words([launch]) == 'only 2 launches: set "launches": 3'


def test_what_several_comparisons_lack_is_said_of_all_of_them():
    one, two = ({"unit": "instance", "count": count, "least": 3} for count in (1, 2))

    assert shortage_words_of([[one, *ONE_REPETITION], [two, *ONE_REPETITION]]) == (
        'only 1 to 2 instances and 1 repetition: set "count": 3 and "repetitions": 3, or "launches": 3'
    )
    assert shortage_words_of([[one], [], [one]]) == shortage_words([one])


# --- answers ----------------------------------------------------------------------------------------------------------


def answered(seconds, objective=None, **how):
    """The sentences of a run of builds."""
    summary, results, planned = build_run(seconds, **how)
    summary["decision"] = decide(summary, results=results, objective=objective, bill=Bill.of(planned, None))
    return decision_sentences(summary)


def test_the_verdict_comes_first_then_its_risk():
    [words] = answered({"ebs": {4: 3000.0}, "efs": {4: 3800.0}}, AT_MOST, repetitions=1)

    assert words.startswith(f"build (jobs 4) on 4 × m6i.large: Take {EBS}: P90 ")
    assert "Caution: P90 needs 36 independent values, there are 4; not replicated: only 1 repetition" in words


def test_where_nothing_reaches_the_objective_the_nearest_is_named():
    [words] = answered({"ebs": {50: 5000.0}, "efs": {50: 8000.0}}, AT_MOST)

    assert f"No storage reaches at most 66m 40s. Nearest is {EBS} with P90 " in words


def test_the_fastest_and_the_best_value_are_named_with_their_figures():
    [words] = answered({"ebs": {50: 3000.0}, "efs": {50: 3030.0}}, spread=0.0001)

    assert f"{EBS} is fastest: P90 50m 00s, $" in words
    assert "EFS bursting is within 5 % of it and cheapest: P90 50m 30s, $" in words


def test_storages_that_were_not_replicated_cannot_be_told_apart():
    [words] = answered({"ebs": {50: 3000.0}, "efs": {50: 4000.0}}, repetitions=1)

    assert f"{EBS} and EFS bursting cannot be told apart: not replicated, only 1 repetition" in words


def test_who_wins_with_the_most_instances_is_named_first_however_few_its_wins():
    sizes = {
        "ebs": {1: 3500.0, 50: 3500.0, 100: 3500.0, 200: 3000.0},
        "efs": {1: 3000.0, 50: 3000.0, 100: 3000.0, 200: 4000.0},
    }

    [words] = answered(sizes, spread=0.0001)

    assert f"{EBS} at 200 instances; EFS bursting at 1, 50 and 100 instances. " in words


def test_many_fleets_are_one_sentence_for_each_workload():
    sizes = (1, 2, 5, 10)
    efs = {1: 2900.0, 2: 2900.0, 5: 9000.0, 10: 9000.0}

    [words] = answered({"ebs": dict.fromkeys(sizes, 3000.0), "efs": efs}, AT_MOST)

    assert words.startswith("Cheapest for build with P90 of build time at most 66m 40s: ")
    assert "at 1 and 2 instances" in words
    assert "at 5 and 10 instances" in words
    assert "None of these is certain: P90 needs 36 independent values, there are 3" in words


def test_what_was_not_measured_is_named_with_what_its_neighbours_let_expect():
    efs = {1: 2990.0, 10: 3000.0, 50: 3300.0, 100: 4000.0, 200: 5000.0}

    [words] = answered({"ebs": {1: 3000.0, 200: 3050.0}, "efs": efs})

    assert "Only EFS bursting was measured at 10, 50 and 100 instances" in words
    assert (
        f"Not measured: {EBS} at 10, 50 and 100 instances, expected to be fastest at 50 and 100 instances by its P"
        in words
    )


@pytest.mark.parametrize("environment", ["local", "emulated"])
def test_what_was_not_measured_on_aws_begins_with_that_it_recommends_nothing(environment):
    note, words = answered({"ebs": {50: 3000.0}, "efs": {50: 3800.0}}, AT_MOST, environment=environment)

    assert note.startswith("No storage is recommended")
    assert f"First here is {EBS}" in words


def test_creates_in_memory_beside_stored_ones_are_not_comparable():
    summary, results, planned = build_run({"ebs": {1: 3000.0}, "efs": {1: 3800.0}})
    for cell in summary["cells"]:
        cell["workload"] = {"type": "touch"}
        cell["points"][0]["params"] = {"threads": 4, "sync": "none"}
    decision = decide(summary, results=results, bill=Bill.of(planned, None))

    assert not_comparable(decision["questions"]) == (
        f"Not comparable at 1 instance: {EBS} counts a create once it is in the instance's memory, EFS bursting once "
        'it is stored. Set "sync": "each" to measure both stored.'
    )


def test_a_fleet_that_met_only_its_quorum_is_named_beside_the_answer():
    summary, results, planned = build_run({"ebs": {20: 3000.0}, "efs": {20: 2000.0}})
    cell_of(summary, "efs", 20)["instances"] = {"expected": 20, "launched": 10}
    decision = decide(summary, results=results, objective=AT_MOST, bill=Bill.of(planned, None))

    assert "EFS bursting is not ranked: 10 of 20 instances ran" in question_words(decision["questions"][0], decision)


def test_the_answer_says_what_filling_the_cache_adds_at_the_largest_fleet():
    """600 s as the source says, on each of 200 instances with EBS, on one with a file system."""
    summary = yocto_run("published")
    summary["decision"] = decide(summary)

    [_, filling] = decision_sentences(summary)
    assert filling.startswith(
        "Filling the cache is extra. Cost per build at 200 instances: EBS gp3 (200 GiB, 3000 IOPS) "
    )
    assert (
        "$1.32, with filling $1.46, spread over 10 builds $1.34 (assumed 10m 00s on each of 200 instances)" in filling
    )
    assert (
        "EFS bursting $2.10, with filling $2.10, spread over 10 builds $2.10 (assumed 10m 00s on one instance)"
        in filling
    )


def test_nothing_measured_is_nothing_to_choose_from():
    summary = {"run": "r", "environment": "aws", "cells": []}
    summary["decision"] = decide(summary)

    assert decision_sentences(summary) == ["Nothing was measured, so there is nothing to choose from."]
