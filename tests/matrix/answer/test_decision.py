"""The decision: the cheapest that is fast enough, with its margin, its risk, and why the others lost."""

import json

import pytest
from support.runs_for_reports import build_run, cell_of

from matrix.answer.costs import Bill
from matrix.answer.decision import decide
from matrix.published.yocto_run import yocto_run

AT_MOST = {"metric": "duration_s", "percentile": 90, "atMost": 4000}


def decided(seconds, objective=None, **how):
    """The decision of a run of builds."""
    summary, results, planned = build_run(seconds, **how)
    return decide(summary, results=results, objective=objective, bill=Bill.of(planned, None)), summary


def by_storage(question):
    """The candidates of a question by the first word of their storage."""
    return {one["storage"].split()[0]: one for one in question["candidates"]}


def test_the_cheapest_that_reaches_the_objective_is_recommended_with_its_margin():
    decision, summary = decided({"ebs": {50: 3000.0}, "efs": {50: 3800.0}}, AT_MOST)
    [question] = decision["questions"]
    ebs = by_storage(question)["EBS"]

    assert question["recommended"] == cell_of(summary, "ebs", 50)["id"]
    assert question["margin"] == pytest.approx(1 - ebs["value"] / 4000)
    assert question["words"].startswith("take EBS gp3 (200 GiB, 3000 IOPS, 125 MiB/s): P90 ")
    assert "% within the limit, $" in question["words"]
    assert decision["sentences"] == [f"build (jobs 4) on 50 × m6i.large: {question['words']}."]


def test_why_the_others_lost_is_said():
    slow, _ = decided({"ebs": {50: 3000.0}, "efs": {50: 8000.0}}, AT_MOST)
    dear, _ = decided({"ebs": {50: 2000.0}, "efs": {50: 3000.0}}, AT_MOST)

    assert by_storage(slow["questions"][0])["EFS"]["verdict"].startswith("misses the limit by 10")
    assert by_storage(dear["questions"][0])["EFS"]["verdict"].startswith("meets the objective, but costs ")


def test_a_fast_storage_that_costs_more_loses_to_a_slower_one_that_is_fast_enough():
    # Per hour EFS bursting costs less than 200 GiB of gp3 on each of 50 instances.
    decision, summary = decided({"ebs": {50: 3000.0}, "efs": {50: 3001.0}}, AT_MOST)
    [question] = decision["questions"]

    assert question["recommended"] == cell_of(summary, "efs", 50)["id"]


def test_changes_of_metadata_in_memory_are_unlike_stored_ones_and_looks_are_alike():
    summary, results, planned = build_run({"ebs": {1: 3000.0}, "efs": {1: 3800.0}})

    def first_sentence(phase):
        for cell in summary["cells"]:
            cell["workload"] = {"type": "metadata"}
            cell["points"][0]["params"] = {"phase": phase, "sync": "none"}
        return decide(summary, results=results, bill=Bill.of(planned, None))["sentences"][0]

    assert first_sentence("rename").startswith("Unlike things are compared")
    assert not first_sentence("stat").startswith("Unlike things are compared")


@pytest.mark.parametrize(("sync", "is_unlike"), [("none", True), ("each", False)])
def test_creates_that_were_in_memory_are_said_to_be_unlike_those_that_were_stored(sync, is_unlike):
    summary, results, planned = build_run({"ebs": {1: 3000.0}, "efs": {1: 3800.0}})
    for cell in summary["cells"]:
        cell["workload"] = {"type": "touch"}
        cell["points"][0]["params"] = {"threads": 4, "sync": sync}

    decision = decide(summary, results=results, bill=Bill.of(planned, None))

    [question] = decision["questions"]
    assert question["label"] == f"threads 4, sync {sync}"
    assert is_unlike == decision["sentences"][0].startswith("Unlike things are compared")
    if is_unlike:
        assert (
            "on EBS gp3 (200 GiB, 3000 IOPS, 125 MiB/s) when it is in the instance's memory, on EFS bursting when"
            in (decision["sentences"][0])
        )


ON_CREDITS = {"of": "volume IOPS", "counts": "IOPS", "rate": 3000.0, "sustained": 300.0, "lasts_s": 2000.0}


def on_credits_decision(objective):
    """The decision of a run whose EBS builds lived on credits that last for 2,000 s."""
    summary, results, planned = build_run({"ebs": {50: 1000.0}, "efs": {50: 3800.0}})
    cell_of(summary, "ebs", 50)["bottleneck"]["on_credits"] = {"p01": [ON_CREDITS]}
    [question] = decide(summary, results=results, objective=objective, bill=Bill.of(planned, None))["questions"]
    return question, cell_of(summary, "efs", 50)["id"]


def test_what_lives_on_credits_is_recommended_with_that_risk_for_a_job_that_they_outlast():
    question, _ = on_credits_decision({**AT_MOST, "jobHours": 0.5})

    assert question["words"].startswith("take EBS gp3")
    assert by_storage(question)["EBS"]["risks"] == ["on credits for 33m 20s, then 300 IOPS (volume)"]


def test_a_job_that_outlasts_credits_is_decided_by_what_is_sustained():
    question, efs = on_credits_decision({**AT_MOST, "jobHours": 8})
    ebs = by_storage(question)["EBS"]

    assert question["recommended"] == efs
    assert ebs["value"] == pytest.approx(10_000, rel=0.03)
    assert ebs["verdict"].startswith("misses the limit")
    assert ebs["risks"] == [
        "judged by what it sustains, 10 % of its rate: on credits for 33m 20s, then 300 IOPS (volume), and the job "
        "lasts 8h 00m"
    ]


def test_without_an_objective_credits_are_said_beside_the_fastest():
    question, _ = on_credits_decision(None)

    assert (
        "EBS gp3 (200 GiB, 3000 IOPS, 125 MiB/s): on credits for 33m 20s, then 300 IOPS (volume)" in (question["words"])
    )


def test_an_interval_across_the_limit_is_a_risk_and_the_next_without_it_is_named():
    decision, _ = decided({"ebs": {60: 3500.0}, "efs": {60: 3800.0}}, {**AT_MOST, "atMost": 3830}, spread=0.006)
    [question] = decision["questions"]
    candidates = by_storage(question)

    assert candidates["EBS"]["risks"] == []
    risky = {**AT_MOST, "atMost": candidates["EFS"]["value"] * 1.0001}
    found, _ = decided({"ebs": {60: 3500.0}, "efs": {60: 3800.0}}, risky, spread=0.006)
    [efs] = [one for one in found["questions"][0]["candidates"] if one["storage"].startswith("EFS")]
    assert "crosses the limit" in " ".join(efs["risks"]) or found["questions"][0]["recommended"] != efs["cell"]


def test_a_percentile_that_so_few_instances_cannot_carry_is_a_risk():
    decision, _ = decided({"ebs": {4: 3000.0}}, AT_MOST)
    [candidate] = decision["questions"][0]["candidates"]

    assert candidate["risks"] == ["P90 needs 36 independent values, there are 4"]
    assert (candidate["low"], candidate["high"]) == (None, None)


def test_no_storage_that_is_fast_enough_recommends_none_and_names_the_nearest():
    decision, _ = decided({"ebs": {50: 5000.0}, "efs": {50: 8000.0}}, AT_MOST)
    [question] = decision["questions"]

    assert question["recommended"] is None
    assert question["words"].startswith("no storage reaches at most 66m 40s; nearest is EBS gp3")


def test_the_slow_end_of_a_rate_is_its_tenth_percentile():
    summary, results, _planned = build_run({"ebs": {50: 3000.0}})
    [cell] = summary["cells"]
    for document in (cell, results[cell["id"]]):
        metric = document["points"][0]["metrics"]["duration_s"]
        metric |= {"higher_is_better": True, "unit": "files/s"}

    decision = decide(summary, results=results, objective={"metric": "duration_s", "atLeast": 2000})
    [question] = decision["questions"]
    [candidate] = question["candidates"]

    values = sorted(results[cell["id"]]["points"][0]["samples"]["metrics"]["duration_s"])
    assert question["level"] == 10
    assert candidate["value"] == pytest.approx(values[14] * 0.1 + values[15] * 0.9)  # rank (150 - 1) × 0.1 = 14.9


def test_without_single_values_a_rate_is_judged_by_its_worst_which_promises_nothing_wrong():
    summary, _, _ = build_run({"ebs": {50: 3000.0}})
    metric = summary["cells"][0]["points"][0]["metrics"]["duration_s"]
    metric |= {"higher_is_better": True}

    [candidate] = decide(summary)["questions"][0]["candidates"]

    assert candidate["value"] == metric["p0"]
    assert "P10 is not known, this is the worst value" in candidate["risks"]


def test_without_an_objective_front_fastest_and_cheapest_are_named():
    decision, _ = decided({"ebs": {50: 3000.0}, "efs": {50: 3030.0}}, spread=0.0001)
    [question] = decision["questions"]
    candidates = by_storage(question)

    assert question["recommended"] is None
    assert question["words"].startswith("fastest is EBS gp3")
    assert "; within 5 % of it, and cheapest, is EFS bursting (" in question["words"]
    assert (candidates["EBS"]["on_front"], candidates["EFS"]["on_front"]) == (True, True)


def test_nobody_is_sent_to_a_dearer_storage_for_less_than_five_per_cent():
    sizes = {
        "ebs": {1: 3000.0, 10: 3000.0, 50: 3000.0, 100: 3000.0},
        "efs": {1: 3100.0, 10: 3100.0, 50: 3200.0, 100: 4000.0},
    }

    decision, _ = decided(sizes, spread=0.0001)

    assert decision["sentences"][0].startswith(
        "build: fastest at the slow end (at 1 and 10 instances at the median: P90 needs 36 independent values, there "
        "are 3), or within 5 % of it for less, is EBS gp3 (200 GiB, 3000 IOPS, 125 MiB/s) at 50 and 100 instances; "
        "EFS bursting at 1 and 10 instances. "
    )


def test_who_wins_with_the_most_instances_is_named_first_however_few_its_wins():
    sizes = {
        "ebs": {1: 3500.0, 50: 3500.0, 100: 3500.0, 200: 3000.0},
        "efs": {1: 3000.0, 50: 3000.0, 100: 3000.0, 200: 4000.0},
    }

    decision, _ = decided(sizes, spread=0.0001)

    assert (
        "is EBS gp3 (200 GiB, 3000 IOPS, 125 MiB/s) at 200 instances; EFS bursting at 1, 50 and 100 instances"
        in (decision["sentences"][0])
    )


def test_where_the_slow_end_is_not_carried_the_median_ranks_and_says_so():
    few, _ = decided({"ebs": {10: 3000.0}, "efs": {10: 3500.0}})
    many, _ = decided({"ebs": {60: 3000.0}, "efs": {60: 3500.0}})
    [of_few], [of_many] = few["questions"], many["questions"]

    assert of_few["words"].startswith("fastest is EBS gp3 (200 GiB, 3000 IOPS, 125 MiB/s) (P50 ")
    assert "ranked by the median, since P90 needs 36 independent values, there are" in of_few["words"]
    assert (of_few["ranked_level"], by_storage(of_few)["EBS"]["ranked"]["level"]) == (50, 50)
    assert "P90 " in of_many["words"]
    assert (of_many["ranked_level"], of_many["why_median"]) == (90, None)


def test_an_objective_is_judged_at_its_own_percentile_however_few_values_there_are():
    decision, _ = decided({"ebs": {10: 3000.0}, "efs": {10: 3500.0}}, AT_MOST)

    assert decision["questions"][0]["ranked_level"] == 90


def slower_tail(summary, results, kind, factor):
    """A run in which every fifth instance of a storage is slower by a factor, and the median is as it was."""
    for cell in results.values():
        if cell["storage"]["type"] == kind:
            columns = cell["points"][0]["samples"]
            columns["metrics"]["duration_s"] = [
                seconds * (factor if int(instance.removeprefix("i-")) % 5 == 0 else 1)
                for instance, seconds in zip(columns["instance"], columns["metrics"]["duration_s"], strict=True)
            ]
    return summary


def test_storages_with_equal_medians_are_told_apart_by_the_slow_end_that_ranks_them():
    summary, results, _ = build_run({"ebs": {50: 3000.0}, "efs": {50: 3000.0}})
    [question] = decide(slower_tail(summary, results, "efs", 1.82), results=results)["questions"]

    assert question["words"].startswith("fastest is EBS gp3 (200 GiB, 3000 IOPS, 125 MiB/s) (P90 ")
    assert "no difference shown" not in question["words"]


def test_what_was_not_measured_is_said_with_what_its_neighbours_let_expect():
    seconds = {"ebs": {1: 3000.0, 200: 3050.0}, "efs": {1: 2990.0, 10: 3000.0, 50: 3300.0, 100: 4000.0, 200: 5000.0}}

    decision, _ = decided(seconds)
    [headline] = decision["sentences"]
    hundred = next(question for question in decision["questions"] if question["instances"] == 100)

    assert "EFS bursting was measured alone at 10, 50 and 100 instances, so it is ahead of nothing" in headline
    assert "Not measured: EBS gp3 (200 GiB, 3000 IOPS, 125 MiB/s) at 10, 50 and 100 instances, but by its P" in headline
    assert "it is expected to be first at 50 and 100 instances." in headline
    assert hundred["words"].startswith("only EFS bursting was measured (P90 ")
    assert hundred["words"].endswith("it is expected to be first here")
    assert by_storage(hundred)["EFS"]["verdict"] == "the only one measured"


def test_beyond_the_last_size_that_was_measured_nothing_is_expected():
    decision, _ = decided({"ebs": {10: 3000.0}, "efs": {10: 4000.0, 50: 4000.0}})
    fifty = next(question for question in decision["questions"] if question["instances"] == 50)

    assert fifty["words"].endswith("; not measured: EBS gp3 (200 GiB, 3000 IOPS, 125 MiB/s)")


def test_a_storage_that_was_never_planned_at_a_size_is_no_loser_there():
    summary, results, _ = build_run({"ebs": {10: 3000.0, 50: 3000.0}, "efs": {10: 4000.0, 50: 4000.0}})
    gone = cell_of(summary, "ebs", 50)
    summary["cells"].remove(gone)

    fifty = next(q for q in decide(summary, results=results)["questions"] if q["instances"] == 50)

    assert by_storage(fifty)["EBS"]["verdict"] == "not measured: the run has no such cell"
    assert fifty["words"].startswith("only EFS bursting was measured")


def test_a_storage_that_is_always_alone_wins_nothing():
    decision, _ = decided({"ebs": dict.fromkeys((1, 2, 5, 10), 3000.0)})

    assert decision["sentences"] == [
        "build: nothing was compared. EBS gp3 (200 GiB, 3000 IOPS, 125 MiB/s) was measured alone at 1, 2, 5 and 10 "
        "instances, so it is ahead of nothing."
    ]


def test_an_objective_that_one_storage_alone_meets_says_that_it_was_alone():
    decision, _ = decided({"ebs": {50: 3000.0}}, AT_MOST)

    assert decision["questions"][0]["words"].startswith(
        "take EBS gp3 (200 GiB, 3000 IOPS, 125 MiB/s), the only one measured: P90 "
    )


def test_one_repetition_is_not_replicated_and_tells_nothing_apart():
    decision, _ = decided({"ebs": {50: 3000.0}, "efs": {50: 4000.0}}, repetitions=1)
    [question] = decision["questions"]

    assert "too few to tell apart (1 repetition; it takes 3 (`repetitions`), or 3 `launches`)" in question["words"]
    # Volumes of one's own share the hour as well.
    for storage in ("EFS", "EBS"):
        assert "not replicated: 1 repetition; it takes 3" in " ".join(by_storage(question)[storage]["risks"])


def test_what_is_slower_and_dearer_is_not_on_the_front():
    decision, _ = decided({"ebs": {50: 3000.0}, "efs": {50: 6000.0}})

    candidates = by_storage(decision["questions"][0])

    assert (candidates["EBS"]["on_front"], candidates["EFS"]["on_front"]) == (True, False)
    assert candidates["EFS"]["verdict"].startswith(("2.0 times slower", "100 % slower", "99 % slower"))


def test_one_storage_with_its_fleet_put_in_two_ways_is_two_candidates():
    summary, results, planned = build_run({"ebs": {50: 3000.0}, "efs": {50: 3800.0}})
    elsewhere = json.loads(json.dumps(cell_of(summary, "efs", 50)))
    elsewhere["id"] += "-split"
    elsewhere["fleet"]["placement"] = [1, 1]
    summary["cells"].append(elsewhere)

    [question] = decide(summary, results=results, objective=None, bill=Bill.of(planned, None))["questions"]
    [whole, split] = [one["storage"] for one in question["candidates"] if one["storage"].startswith("EFS")]

    assert split == f"{whole}, split 1:1 over zones"


def test_equal_storages_show_no_difference():
    decision, _ = decided({"ebs": {20: 3000.0}, "efs": {20: 3000.0}}, spread=0.05)

    assert "no difference shown: " in decision["questions"][0]["words"]


def test_two_instances_are_too_few_to_tell():
    decision, _ = decided({"ebs": {2: 3000.0}, "efs": {2: 4000.0}})

    assert "too few to tell apart (2 instances; it takes 3 (`count`)" in decision["questions"][0]["words"]


@pytest.mark.parametrize("environment", ["local", "emulated"])
def test_what_was_not_measured_on_aws_recommends_no_purchase(environment):
    decision, _ = decided({"ebs": {50: 3000.0}, "efs": {50: 3800.0}}, AT_MOST, environment=environment)

    assert decision["is_recommendation"] is False
    assert decision["questions"][0]["recommended"] is None
    assert decision["sentences"][0].startswith("No storage is recommended")
    assert "take " not in " ".join(decision["sentences"])


def test_a_cell_that_failed_stands_among_the_losers_with_its_reason():
    decision, _ = decided({"ebs": {1: 3000.0, 50: 3000.0}, "efs": {1: 3500.0}}, AT_MOST)
    fifty = next(one for one in decision["questions"] if one["instances"] == 50)

    assert by_storage(fifty)["EFS"]["verdict"] == "not measured: FleetFailed: nobody came"
    assert by_storage(fifty)["EFS"]["value"] is None


def test_many_fleets_are_summed_up_in_a_sentence():
    sizes = (1, 2, 5, 10)
    decision, _ = decided(
        {"ebs": dict.fromkeys(sizes, 3000.0), "efs": {1: 2900.0, 2: 2900.0, 5: 9000.0, 10: 9000.0}}, AT_MOST
    )
    [sentence] = decision["sentences"]

    assert "the cheapest is EBS gp3" in sentence or "the cheapest is EFS bursting" in sentence
    assert "at 1 and 2 instances" in sentence
    assert "at 5 and 10 instances" in sentence
    assert "None of these is certain: P90 needs 36 independent values" in sentence


def test_nothing_measured_is_said_so():
    decision = decide({"run": "r", "environment": "aws", "cells": []})

    assert decision["sentences"] == ["Nothing was measured, so there is nothing to choose from."]


def test_the_answer_says_what_filling_the_cache_adds_at_the_largest_fleet():
    """600 s as the source says, on each of 200 instances with EBS, on one with a file system."""
    decision = decide(yocto_run("published"))

    [_, filling] = decision["sentences"]
    assert filling.startswith("Filling the cache comes on top. At 200 instances a build costs without it, with it, and")
    assert "EBS gp3 (200 GiB, 3000 IOPS) $1.32, $1.46 and $1.34 (10m 00s on each of 200 instances)" in filling
    assert "EFS bursting $2.10, $2.10 and $2.10 (10m 00s on one instance)" in filling


def test_published_builds_are_decided_by_their_percentiles_and_a_suspect_row_never_wins():
    decision = decide(yocto_run("published"), objective={"metric": "duration_s", "percentile": 90, "atMost": 9000})
    two_hundred = next(one for one in decision["questions"] if one["instances"] == 200)
    suspect = next(one for one in two_hundred["candidates"] if one["verdict"].startswith("left out"))

    assert two_hundred["words"].startswith("take EBS gp3 (200 GiB, 3000 IOPS): P90 102m 50s")
    assert suspect["value"] < 9000
    taken = next(one for one in two_hundred["candidates"] if one["cell"] == two_hundred["recommended"])
    assert taken["risks"] == ["no single values are known, so there is no interval"]


def test_a_cost_that_is_known_in_part_is_no_cheapest():
    summary = yocto_run("published")
    for cell in summary["cells"]:
        # Builds of which nobody knows how many bytes they move.
        cell["workload"] = {"type": "build", "name": "elsewhere"}
    decision = decide(summary, objective={"metric": "duration_s", "percentile": 90, "atMost": 9000})
    one_instance = next(one for one in decision["questions"] if one["instances"] == 1)

    assert "EFS elastic may cost less" in one_instance["words"]
    assert not one_instance["words"].startswith("take EFS elastic")


def test_a_decision_is_json():
    decision, _ = decided({"ebs": {10: 3000.0}, "efs": {10: 3800.0}}, AT_MOST)

    assert json.loads(json.dumps(decision, allow_nan=False)) == decision


def test_a_storage_that_is_first_by_its_median_is_named_with_its_slow_tail():
    summary, results, planned = build_run({"ebs": {10: 98.0}, "efs": {10: 90.0}})
    columns = results[cell_of(summary, "efs", 10)["id"]]["points"][0]["samples"]
    slow = sorted(set(columns["instance"]))[:2]
    columns["metrics"]["duration_s"] = [
        value * (10 if instance in slow else 1)
        for instance, value in zip(columns["instance"], columns["metrics"]["duration_s"], strict=True)
    ]

    [question] = decide(summary, results=results, objective=None, bill=Bill.of(planned, None))["questions"]

    assert question["ranked_level"] == 50
    assert (
        "slow tail: 6 of 30 values are at least twice as slow as the median, the slowest 10 times" in question["words"]
    )
    assert not any(risk.startswith("slow tail") for risk in by_storage(question)["EBS"]["risks"])


def test_a_risk_that_every_candidate_has_is_named_beside_the_choice():
    decision, _ = decided({"ebs": {4: 3000.0}, "efs": {4: 3800.0}}, AT_MOST, repetitions=1)
    [question] = decision["questions"]

    assert all(candidate["risks"] for candidate in question["candidates"])
    assert "; at risk: P90 needs 36 independent values, there are 4, and not replicated: 1 rep" in question["words"]


def test_a_fleet_that_met_only_its_quorum_is_not_ranked_and_the_answer_says_so():
    summary, results, planned = build_run({"ebs": {20: 3000.0}, "efs": {20: 2000.0}})
    cell_of(summary, "efs", 20)["instances"] = {"expected": 20, "launched": 10}

    [question] = decide(summary, results=results, objective=AT_MOST, bill=Bill.of(planned, None))["questions"]

    assert question["recommended"] == cell_of(summary, "ebs", 20)["id"]
    assert by_storage(question)["EFS"]["lost"].startswith("not ranked: 10 of 20 instances ran")
    assert "; EFS elastic is not ranked: 10 of 20 instances ran" in question["words"].replace("bursting", "elastic")
