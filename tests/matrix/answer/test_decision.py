"""The decision: the cheapest that is fast enough, with its margin, its risk, and why the others lost."""

import json

import pytest
from support.runs_for_reports import build_run, cell_of

from matrix.answer.costs import Bill
from matrix.answer.decision import decide
from matrix.published.runs import published_run

AT_MOST = {"metric": "duration_s", "percentile": 90, "atMost": 4000}


def decision_of(run, objective=None):
    """The decision of a run: its summary, results and plan."""
    summary, results, planned = run
    return decide(summary, results=results, objective=objective, bill=Bill.of(planned, None))


def decided(seconds, objective=None, **how):
    """The decision of a run of builds."""
    return decision_of(build_run(seconds, **how), objective)


def question_of(run, objective=None):
    """The only question of a run."""
    [question] = decision_of(run, objective)["questions"]
    return question


def slow_down(run, kind, count, factor):
    """Multiply each value of a storage by the factor of its instance and repetition."""
    summary, results, _ = run
    columns = results[cell_of(summary, kind, count)["id"]]["points"][0]["samples"]
    columns["metrics"]["duration_s"] = [
        seconds * factor(instance, repetition)
        for instance, repetition, seconds in zip(
            columns["instance"], columns["repetition"], columns["metrics"]["duration_s"], strict=True
        )
    ]


def make_rates(run):
    """Turn the seconds of a run into a rate: of two storages the same one is better."""
    summary, results, _ = run
    for document in (*summary["cells"], *results.values()):
        for point in document["points"]:
            for metric in point["metrics"].values():
                metric |= {"higher_is_better": True, "unit": "files/s"}
            for values in point.get("samples", {"metrics": {}})["metrics"].values():
                values[:] = [1e7 / seconds for seconds in values]


def fifth(instance):
    """Whether an instance is one of each five."""
    return int(instance.removeprefix("i-")) % 5 == 0


def codes(candidate):
    """The codes of a candidate's risks."""
    return [risk["code"] for risk in candidate["risks"]]


def by_storage(question):
    """The candidates of a question by the first word of their storage."""
    return {one["storage"].split()[0]: one for one in question["candidates"]}


@pytest.mark.parametrize(
    ("seconds", "recommended", "codes_of"),
    [
        ({"ebs": 3000.0, "efs": 3800.0}, "EBS", {"EBS": "cheapest-that-meets", "EFS": "meets"}),
        # Per hour EFS bursting costs less than 200 GiB of gp3 on each of 50 instances.
        ({"ebs": 3000.0, "efs": 3001.0}, "EFS", {"EBS": "meets", "EFS": "cheapest-that-meets"}),
        ({"ebs": 5000.0, "efs": 8000.0}, None, {"EBS": "misses", "EFS": "misses"}),
    ],
)
def test_the_cheapest_that_reaches_the_objective_is_recommended_with_its_margin(seconds, recommended, codes_of):
    [question] = decided({kind: {50: taken} for kind, taken in seconds.items()}, AT_MOST)["questions"]
    candidates = by_storage(question)

    assert {name: each["verdict"]["code"] for name, each in candidates.items()} == codes_of
    taken = candidates.get(recommended, {"cell": None, "value": 4000})
    assert question["recommended"] == taken["cell"]
    assert question["margin"] == (pytest.approx(1 - taken["value"] / 4000) if recommended else None)


def test_one_that_may_be_cheaper_and_keeps_the_limit_by_its_value_only_leaves_the_objective_open():
    run = build_run({"ebs": {10: 3500.0}, "efs": {10: 2000.0}})
    slow_down(run, "efs", 10, lambda instance, repetition: 3 if (fifth(instance), repetition) == (True, 1) else 1)

    question = question_of(run, {**AT_MOST, "percentile": 75})

    candidates = by_storage(question)
    assert {name: each["verdict"]["code"] for name, each in candidates.items()} == {
        "EBS": "meets", "EFS": "meets-by-value",
    }  # fmt: skip
    assert (question["state"], question["recommended"]) == ("open", None)
    assert (question["best_value"], question["rival"]) == (candidates["EBS"]["cell"], candidates["EFS"]["cell"])


@pytest.mark.parametrize(
    ("workload", "params", "in_memory"),
    [
        ("metadata", {"phase": "rename", "sync": "none"}, {"EBS"}),
        ("metadata", {"phase": "stat", "sync": "none"}, set()),
        ("touch", {"threads": 4, "sync": "none"}, {"EBS"}),
        ("touch", {"threads": 4, "sync": "each"}, set()),
    ],
)
def test_changes_without_a_sync_count_in_the_memory_of_instances_with_volumes(workload, params, in_memory):
    run = build_run({"ebs": {1: 3000.0}, "efs": {1: 3800.0}})
    for cell in run[0]["cells"]:
        cell["workload"] = {"type": workload}
        cell["points"][0]["params"] = params

    candidates = by_storage(question_of(run))
    assert {storage for storage, each in candidates.items() if each["counts_in_memory"]} == in_memory


def test_a_storage_with_too_few_operations_for_the_objectives_percentile_is_named():
    summary, results, _ = run = build_run({"ebs": {1: 3000.0}, "efs": {1: 3800.0}})
    for cell in (*summary["cells"], *results.values()):
        metrics, columns = cell["points"][0]["metrics"], (cell["points"][0].get("samples") or {}).get("metrics", {})
        for each in (metrics, columns):
            if "duration_s" in each:
                each["write_lat_p50_us"] = each["duration_s"]
                if cell["storage"]["type"] == "ebs":
                    each["write_lat_p999_us"] = each["duration_s"]

    question = question_of(run, {"metric": "write_lat_p999_us", "percentile": 50, "atMost": 4000})

    lost = {name: each["lost"] for name, each in by_storage(question).items()}
    assert (question["metric"], lost) == ("write_lat_p999_us", {"EBS": None, "EFS": {"code": "too-few-operations"}})


@pytest.mark.parametrize("instances", [1, 4, 50])
def test_an_objective_for_the_slowest_instance_is_judged_by_the_slowest_value(instances):
    run = build_run({"ebs": {instances: 3000.0}, "efs": {instances: 9000.0}})

    question = question_of(run, {**AT_MOST, "percentile": 100})

    slowest = cell_of(run[0], "ebs", instances)["points"][0]["metrics"]["duration_s"]["p100"]
    found = {name: (each["value"], each["verdict"]["code"]) for name, each in by_storage(question).items()}
    assert found["EBS"] == (pytest.approx(slowest), "meets-by-value")
    assert found["EFS"][1] == "misses"
    assert "too-few" not in " ".join(codes(by_storage(question)["EBS"]))


ON_CREDITS = {"of": "volume IOPS", "counts": "IOPS", "rate": 3000.0, "sustained": 300.0, "lasts_s": 2000.0}


def on_credits_decision(objective):
    """The decision of a run whose EBS builds lived on credits that last for 2,000 s."""
    run = build_run({"ebs": {50: 1000.0}, "efs": {50: 3800.0}})
    cell_of(run[0], "ebs", 50)["bottleneck"]["on_credits"] = {"p01": [ON_CREDITS]}
    return question_of(run, objective)


def test_what_lives_on_credits_is_recommended_with_that_risk_for_a_job_that_they_outlast():
    question = on_credits_decision({**AT_MOST, "jobHours": 0.5})

    ebs = by_storage(question)["EBS"]
    assert question["recommended"] == ebs["cell"]
    assert ebs["risks"] == [{"code": "burst", "burst": ON_CREDITS}]


def test_the_hours_of_a_job_are_enough_to_rank_by_what_is_sustained():
    # For the measured work EBS is the faster; a tenth of it is slower than EFS.
    at_once, lasting = (by_storage(on_credits_decision(asked)) for asked in (None, {"jobHours": 8}))

    assert at_once["EBS"]["value"] < at_once["EFS"]["value"] == lasting["EFS"]["value"] < lasting["EBS"]["value"]
    assert decide(build_run({"ebs": {50: 1000.0}})[0], objective={"jobHours": 8})["objective"] is None


def test_a_job_that_outlasts_credits_is_decided_by_what_is_sustained():
    question = on_credits_decision({**AT_MOST, "jobHours": 8})
    ebs, efs = (by_storage(question)[name] for name in ("EBS", "EFS"))

    assert question["recommended"] == efs["cell"]
    # 2,000 s at once and the rest of 8 h at a tenth: 4,680 s of the measured work.
    assert ebs["value"] == pytest.approx(1_000 * 28_800 / 4_680, rel=0.03)
    assert ebs["verdict"]["code"] == "misses"
    assert ebs["risks"] == [
        {
            "code": "judged-by-sustained",
            "burst": ON_CREDITS,
            "share": pytest.approx(4_680 / 28_800),
            "job_s": 8 * 3600.0,
        }
    ]


def test_the_tail_of_a_rate_is_its_tenth_percentile():
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
    assert {"code": "only-worst-known", "level": 10} in candidate["risks"]


@pytest.mark.parametrize(
    ("known", "risks", "bound"),
    [
        ({"carried": {"p90": True}, "independent_n": 1, "n": 1}, [], 9.0),
        ({"carried": {}, "independent_n": 36, "n": 5}, [], 9.0),
        ({"n": 100}, [{"code": "no-single-values"}], 9.0),
        ({"independent_n": 10, "n": 100}, [{"code": "too-few-samples", "level": 90, "needed": 36, "count": 10}], None),
        ({}, [{"code": "sample-size-unknown", "level": 90}], None),
    ],
)
def test_without_single_values_a_percentile_has_the_interval_and_the_doubt_of_its_summary(known, risks, bound):
    summary, _, _ = build_run({"ebs": {50: 3000.0}})
    cell = summary["cells"][0]
    interval = {"low": 3.0, "high": 5.0, "confidence": 0.8, "method": "", "limited_by": ""}
    metric = {"unit": "s", "primary": True, "higher_is_better": False, "p50": 2.0, "p90": 4.0, "p100": 9.0}
    cell["points"][0] |= {"metrics": {"duration_s": metric | {"intervals": {"p90": interval}} | known}, "fleet": []}

    [candidate] = decide(summary, objective={**AT_MOST, "atMost": 6})["questions"][0]["candidates"]

    assert (candidate["value"], candidate["low"], candidate["high"]) == (4.0, 3.0, 5.0)
    assert candidate["ranked"]["confidence"] == 0.8
    assert candidate["risks"] == risks
    # The worst value is the bound, if there are enough samples.
    assert candidate["verdict"]["bound"] == bound


def test_without_single_values_a_rate_is_bounded_by_its_lowest():
    summary, _, _ = build_run({"ebs": {50: 3000.0}})
    rates = {"p0": 1.0, "p10": 4.0, "p50": 5.0, "p100": 9.0, "n": 100}
    metric = {"unit": "files/s", "primary": True, "higher_is_better": True} | rates
    summary["cells"][0]["points"][0] |= {"metrics": {"duration_s": metric}, "fleet": []}

    [candidate] = decide(summary, objective={"metric": "duration_s", "atLeast": 3})["questions"][0]["candidates"]

    assert (candidate["value"], candidate["verdict"]["bound"]) == (4.0, 1.0)


def test_the_time_of_the_whole_fleet_stands_beside_a_percentile_that_differs_by_a_tenth():
    summary, results, _ = build_run({"ebs": {50: 3000.0}}, spread=0.0)
    [cell] = summary["cells"]

    def whole(span_s):
        cell["points"][0]["fleet"] = [{"span_s": span_s}, {"span_s": None}]
        return decide(summary, results=results)["questions"][0]["candidates"][0]["fleet_s"]

    assert (whole(3200.0), whole(4000.0)) == (None, 4000.0)


def test_fleets_of_two_instance_types_are_two_questions():
    summary, results, _ = build_run({"ebs": {50: 3000.0}, "efs": {50: 3100.0}})
    cell_of(summary, "efs", 50)["fleet"]["instanceType"] = "m6i.4xlarge"

    assert [len(question["candidates"]) for question in decide(summary, results=results)["questions"]] == [1, 1]


def test_where_the_tail_is_not_carried_the_median_ranks_and_says_so():
    few = build_run({"ebs": {10: 3000.0}, "efs": {10: 3500.0}})
    of_few, of_many = question_of(few), question_of(build_run({"ebs": {60: 3000.0}, "efs": {60: 3500.0}}))

    assert (of_few["why_median"]["code"], of_few["why_median"]["needed"]) == ("too-few-samples", 36)
    assert (of_few["ranked_level"], by_storage(of_few)["EBS"]["ranked"]["level"]) == (50, 50)
    assert (of_many["ranked_level"], of_many["why_median"]) == (90, None)
    ranked = by_storage(of_many)["EBS"]["ranked"]
    assert ranked["low"] < ranked["value"] < ranked["high"]
    # Of a tail over instances and repetitions.
    assert ranked["confidence"] == 0.8
    # An objective has its own percentile, however few values there are.
    assert question_of(few, AT_MOST)["ranked_level"] == 90


def test_the_noise_of_a_third_storage_does_not_change_which_percentile_ranks_two_others():
    run = build_run({"ebs": {40: 3000.0}, "efs": {40: 3500.0}})
    slow_down(run, "efs", 40, lambda _, repetition: repetition)

    question = question_of(run)

    # All instances of a repetition are slow together, so the storage has few independent values, which is its own risk.
    assert "too-few-samples" in codes(by_storage(question)["EFS"])
    assert (question["ranked_level"], question["why_median"]) == (90, None)


def test_a_percentile_of_nobody_knows_how_many_values_ranks_nothing():
    published = published_run("yocto", "p")
    for cell in published["cells"]:
        if cell["points"] and cell["fleet"]["count"] == 1:
            cell["points"][0]["metrics"]["duration_s"]["n"] = None
    at_one, at_fifty = (
        next(each for each in decide(published)["questions"] if each["instances"] == count) for count in (1, 50)
    )

    assert (at_one["ranked_level"], at_one["why_median"]["code"]) == (50, "sample-size-unknown")
    assert (at_fifty["ranked_level"], at_fifty["why_median"]) == (90, None)


def test_storages_with_equal_medians_are_told_apart_by_the_tail_that_ranks_them():
    run = build_run({"ebs": {50: 3000.0}, "efs": {50: 3000.0}})
    slow_down(run, "efs", 50, lambda instance, _: 1.82 if fifth(instance) else 1)

    question = question_of(run)
    candidates = by_storage(question)
    assert (question["ranked_level"], candidates["EBS"]["verdict"]["code"]) == (90, "fastest")
    assert candidates["EFS"]["verdict"]["difference"]["code"] == "slower"


def test_what_was_not_measured_is_said_with_what_its_neighbours_let_expect():
    efs = {3: 3990.0, 10: 3010.0, 100: 4000.0, 200: 5000.0, 400: 9000.0}

    decision = decided({"ebs": {3: 3000.0, 200: 3050.0}, "efs": efs})
    asked = {question["instances"]: question for question in decision["questions"]}
    absences = {count: question["absences"] for count, question in asked.items() if question["absences"]}

    assert by_storage(asked[100])["EFS"]["verdict"] == {"code": "only-one"}
    assert all(absence["storage"].startswith("EBS gp3") for [absence] in absences.values())
    # Beyond the last size that was measured nothing is expected.
    neighbours = {count: [each["instances"] for each in absence["neighbours"]] for count, [absence] in absences.items()}
    assert neighbours == {10: [3, 200], 100: [3, 200], 400: [200]}
    # At 10 the measured one is better than both neighbours.
    assert [count for count, [absence] in absences.items() if absence["is_expected_ahead"]] == [100]
    assert (asked[100]["state"], asked[100]["recommended"]) == ("expected", None)


@pytest.mark.parametrize(
    ("ebs", "efs", "is_expected"),
    [
        ({3: 3000.0, 12: 3000.0}, {3: 4000.0, 6: 4000.0, 12: 4000.0}, True),
        ({3: 3000.0, 12: 3000.0}, {3: 3060.0, 6: 4000.0, 12: 3060.0}, False),  # it leads by less than 5 %
        ({3: 3000.0, 12: 3000.0}, {3: 2700.0, 6: 4000.0, 12: 2700.0}, False),  # it loses at both, and one is bad here
        ({3: 3000.0, 12: 3000.0}, {3: 4000.0, 6: 4000.0, 12: 2700.0}, False),
        ({3: 3000.0, 12: 3000.0}, {3: 4000.0, 6: 2900.0, 12: 4000.0}, False),  # worse than the one here
        ({3: 3000.0, 12: 3000.0}, {6: 4000.0, 12: 4000.0}, False),  # nobody knows how the one here does at 3
        ({12: 3000.0}, {3: 4000.0, 6: 4000.0, 12: 4000.0}, False),
        ({1: 3000.0, 12: 3000.0}, {1: 4000.0, 6: 4000.0, 12: 4000.0}, False),  # not replicated at 1
    ],
)
@pytest.mark.parametrize("is_rate", [False, True])
def test_only_who_leads_by_more_than_5_percent_at_both_neighbours_is_expected_fastest(ebs, efs, is_expected, is_rate):
    run = build_run({"ebs": ebs, "efs": efs}, spread=0.001)
    if is_rate:
        make_rates(run)

    [six] = [question for question in decision_of(run)["questions"] if question["instances"] == 6]

    [absence] = six["absences"]
    assert absence["is_expected_ahead"] is is_expected


def test_a_storage_that_was_never_planned_at_a_size_is_not_a_loser_there():
    summary, results, _ = build_run({"ebs": {10: 3000.0, 50: 3000.0}, "efs": {10: 4000.0, 50: 4000.0}})
    gone = cell_of(summary, "ebs", 50)
    summary["cells"].remove(gone)

    fifty = next(q for q in decide(summary, results=results)["questions"] if q["instances"] == 50)

    assert by_storage(fifty)["EBS"]["lost"] == {"code": "no-cell"}
    assert by_storage(fifty)["EFS"]["verdict"] == {"code": "only-one"}


@pytest.mark.parametrize(("unit", "instances", "repetitions"), [("repetition", 50, 1), ("instance", 2, 3)])
def test_what_is_not_replicated_tells_nothing_apart(unit, instances, repetitions):
    question = question_of(build_run({"ebs": {instances: 3000.0}, "efs": {instances: 4000.0}}, repetitions=repetitions))

    shortages = [{"unit": unit, "count": min(instances, repetitions), "least": 3}]
    assert by_storage(question)["EFS"]["verdict"]["difference"] == {"code": "too-few", "shortages": shortages}
    # Volumes of one's own share the hour as well.
    for storage in ("EFS", "EBS"):
        assert {"code": "not-replicated", "shortages": shortages} in by_storage(question)[storage]["risks"]


def test_one_storage_with_its_fleet_put_in_two_ways_is_two_candidates():
    summary, *_ = run = build_run({"ebs": {50: 3000.0}, "efs": {50: 3800.0}})
    elsewhere = json.loads(json.dumps(cell_of(summary, "efs", 50)))
    elsewhere["id"] += "-split"
    elsewhere["fleet"]["placement"] = [1, 1]
    summary["cells"].append(elsewhere)

    [whole, split] = [one["storage"] for one in question_of(run)["candidates"] if one["storage"].startswith("EFS")]

    assert split == f"{whole}, split 1:1 over zones"


@pytest.mark.parametrize("environment", ["local", "emulated"])
def test_what_was_not_measured_on_aws_recommends_no_purchase(environment):
    decision = decided({"ebs": {50: 3000.0}, "efs": {50: 3800.0}}, AT_MOST, environment=environment)

    assert decision["is_recommendation"] is False
    assert decision["questions"][0]["recommended"] is None


def test_a_cell_that_failed_stands_among_the_losers_with_its_reason():
    decision = decided({"ebs": {1: 3000.0, 50: 3000.0}, "efs": {1: 3500.0}}, AT_MOST)
    fifty = next(one for one in decision["questions"] if one["instances"] == 50)

    assert by_storage(fifty)["EFS"]["verdict"] == {"code": "lost"}
    assert by_storage(fifty)["EFS"]["lost"] == {"code": "failed", "reason": "FleetFailed: nobody came"}
    assert by_storage(fifty)["EFS"]["value"] is None


def test_a_cell_that_failed_is_missing_only_where_its_own_points_are_compared():
    summary, *_ = run = build_run({"ebs": {1: 3000.0}, "efs": {1: 3500.0}})
    other = json.loads(json.dumps(cell_of(summary, "efs", 1)))
    other |= {"id": "other", "state": "failed", "error": {"name": "FleetFailed", "message": "nobody came"}}
    other["points"][0]["params"] = {"parallel": 99}
    summary["cells"].append(other)

    assert [candidate["lost"] for candidate in question_of(run)["candidates"]] == [None, None]


def test_published_builds_are_decided_by_their_percentiles_and_a_suspect_row_never_wins():
    decision = decide(
        published_run("yocto", "published"), objective={"metric": "duration_s", "percentile": 90, "atMost": 9000}
    )
    two_hundred = next(one for one in decision["questions"] if one["instances"] == 200)
    suspect = next(one for one in two_hundred["candidates"] if one["lost"] and one["lost"]["code"] == "left-out")

    assert suspect["value"] < 9000
    taken = next(one for one in two_hundred["candidates"] if one["cell"] == two_hundred["recommended"])
    assert taken["storage"] == "EBS gp3 (200 GiB, 3000 IOPS)"
    assert taken["risks"] == [{"code": "no-single-values"}]


def test_a_storage_that_is_first_by_its_median_is_named_with_its_slow_tail():
    run = build_run({"ebs": {10: 98.0}, "efs": {10: 90.0}})
    slow_down(run, "efs", 10, lambda instance, _: 10 if fifth(instance) else 1)

    question = question_of(run)

    assert question["ranked_level"] == 50
    [tail] = [risk for risk in by_storage(question)["EFS"]["risks"] if risk["code"] == "slow-tail"]
    assert (tail["slow"], tail["values"]) == (6, 30)
    assert tail["slowest"] == pytest.approx(10, rel=0.1)
    assert "slow-tail" not in codes(by_storage(question)["EBS"])


def test_a_fleet_that_met_only_its_quorum_is_not_ranked_and_the_answer_says_so():
    run = build_run({"ebs": {20: 3000.0}, "efs": {20: 2000.0}})
    cell_of(run[0], "efs", 20)["instances"] = {"expected": 20, "launched": 10}

    question = question_of(run, AT_MOST)

    assert question["recommended"] == by_storage(question)["EBS"]["cell"]
    assert by_storage(question)["EFS"]["lost"] == {"code": "quorum", "ran": 10, "count": 20}


def test_beside_nobody_who_is_ranked_nobody_is_expected_ahead():
    run = build_run({"ebs": {3: 3000.0, 12: 3000.0}, "efs": {3: 4000.0, 6: 4000.0, 12: 4000.0}}, spread=0.001)
    cell_of(run[0], "efs", 6)["instances"] = {"expected": 6, "launched": 3}

    [six] = [question for question in decision_of(run)["questions"] if question["instances"] == 6]

    [absence] = six["absences"]
    assert absence["is_expected_ahead"] is False


def test_points_whose_parameters_stand_in_another_order_are_one_question():
    summary, results, _ = build_run({"ebs": {50: 3000.0}, "efs": {50: 3500.0}})
    for kind, params in (("ebs", {"jobs": 4, "phase": "x"}), ("efs", {"phase": "x", "jobs": 4})):
        cell_of(summary, kind, 50)["points"][0]["params"] = params

    assert len(decide(summary, results=results)["questions"]) == 1


def test_what_a_source_did_not_publish_is_told_from_what_a_run_has_no_cell_of():
    published = published_run("yocto", "p-yocto")
    own = {**published, "environment": "aws"}

    is_of_source = [
        {
            bool(candidate["lost"].get("of_source"))
            for question in decide(summary)["questions"]
            for candidate in question["candidates"]
            if candidate["lost"] and candidate["lost"]["code"] == "no-cell"
        }
        for summary in (published, own)
    ]

    assert is_of_source == [{True}, {False}]


def test_the_points_of_a_sweep_are_compared_in_the_order_of_the_matrix():
    def point(threads):
        metric = {"unit": "s", "higher_is_better": False, "n": 1, "p50": 1.0, "p90": 1.0}
        return {"id": f"p{threads}", "params": {"files": 8, "threads": threads}, "metrics": {"duration_s": metric}}

    threads = [1, 2, 10, 16, 4]
    workload = {"type": "touch", "files": 8, "threads": threads}
    cells = [
        {
            "id": kind, "file_system": kind, "storage": {"type": kind}, "state": "measured", "workload": workload,
            "fleet": {"instanceType": "m6i.large", "count": 1},
            "points": [point(each) for each in threads if each in measured],
        }
        for kind, measured in (("efs", {2, 10, 4}), ("ebs", set(threads)))
    ]  # fmt: skip

    questions = decide({"environment": "aws", "cells": cells})["questions"]

    assert [question["label"].rpartition(" ")[2] for question in questions] == [str(each) for each in threads]
