"""Metrics that a command declares: what they may be called, and where they are found."""

import pytest
from support.matrices import COMMAND, EBS, TPS, matrix, problems_of

OWN = COMMAND | {"metrics": {"tps": TPS}, "primaryMetric": "tps"}


def test_a_command_may_be_judged_by_its_own_metric_and_a_matrix_optimise_for_it():
    read = matrix(workload=[OWN | {"jobs": [1, 2]}], objective={"metric": "tps", "atLeast": 5})

    [workload] = read.matrix.workload
    assert [workload.judged_by(point, workload.document) for point in workload.points()] == ["tps", "tps"]
    assert workload.number_of_points == 2
    assert read.matrix.objective.metric == "tps"


def test_without_one_of_its_own_it_is_judged_by_its_time():
    [workload] = matrix(workload=[COMMAND]).matrix.workload

    assert workload.judged_by(workload.points()[0], workload.document) == "duration_s"


@pytest.mark.parametrize(
    ("changes", "path", "rule"),
    [
        ({"metrics": {"iops": TPS}}, "workload[0].metrics.iops", "is a metric of Storage Matrix"),
        ({"metrics": {"a": TPS | {"jsonField": "x"}}}, "workload[0].metrics.a", "either pattern or jsonField"),
        ({"metrics": {"a": {"unit": "s", "better": "lower"}}}, "workload[0].metrics.a", "either pattern or jsonField"),
        ({"metrics": {"a": TPS | {"pattern": "("}}}, "workload[0].metrics.a.pattern", "no regular expression"),
        ({"metrics": {"a": TPS | {"pattern": "a"}}}, "workload[0].metrics.a.pattern", "has 0 groups"),
        ({"metrics": {"a": TPS | {"pattern": "(a)++"}}}, "workload[0].metrics.a.pattern", "Python 3.9 cannot read"),
        ({"metrics": {"a": TPS | {"pattern": "(?>a)(b)"}}}, "workload[0].metrics.a.pattern", "Python 3.9 cannot read"),
        (
            {"metrics": {"a": TPS | {"pattern": "[[:alpha:]](a)"}}},
            "workload[0].metrics.a.pattern",
            "means something else",
        ),
        ({"metrics": {"a": TPS | {"unit": "=1+1"}}}, "workload[0].metrics.a.unit", "letters, digits"),
        ({"metrics": {"a": TPS | {"better": "more"}}}, "workload[0].metrics.a.better", "higher, lower"),
        ({"metrics": {"Tps": TPS}}, "workload[0].metrics.Tps", "beginning with a letter, at most 41"),
        ({"metrics": {f"m{n}": TPS for n in range(21)}}, "workload[0].metrics", "at most 20"),
        ({"primaryMetric": "tps"}, "workload[0].primaryMetric", "is none of duration_s"),
        ({"command": " "}, "workload[0].command", "is blank"),
    ],
)
def test_a_metric_that_could_not_be_found_or_told_from_another_is_refused(changes, path, rule):
    found = problems_of(workload=[COMMAND | changes])

    assert rule in found[path].rule


@pytest.mark.parametrize("pattern", [r"[*+]+ (\d+)", r"\*+([0-9]+)", r"(?:a+)+([0-9]+)", r"[^]+]+(.)"])
def test_a_pattern_that_python_3_9_can_read_is_taken(pattern):
    assert matrix(workload=[COMMAND | {"metrics": {"a": TPS | {"pattern": pattern}}}]).matrix.workload


@pytest.mark.parametrize(
    ("objective", "path", "rule"),
    [
        ({"metric": "tps", "atMost": 5}, "objective.atMost", "tps is better the higher it is"),
        ({"metric": "tpss", "atLeast": 5}, "objective.metric", "yield tps, duration_s, command_cpu_s"),
    ],
)
def test_an_objective_knows_which_way_an_own_metric_is_better(objective, path, rule):
    assert rule in problems_of(workload=[OWN], objective=objective)[path].rule


def test_an_objective_may_be_the_rate_of_a_command_that_reads_objects_and_of_no_other():
    objective = {"metric": "mb_per_s", "atLeast": 5}
    reads = COMMAND | {"objectSize": "1MiB", "primaryMetric": "mb_per_s"}

    assert problems_of(storage=[{"type": "s3", "client": "command"}], workload=[reads], objective=objective) == {}
    assert (
        "no workload of the matrix yields it"
        in problems_of(workload=[OWN], objective=objective)["objective.metric"].rule
    )


def test_two_commands_cannot_mean_different_things_by_one_name():
    other = OWN | {"name": "other", "metrics": {"tps": TPS | {"better": "lower"}}}

    assert "tx/s, higher is better" in problems_of(storage=[EBS], workload=[OWN, other])["workload[1].metrics.tps"].rule
