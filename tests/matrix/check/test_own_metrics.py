"""Metrics that a command declares: what they may be called, and where they are found."""

import pytest
from support.matrices import COMMAND, TPS, matrix

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


@pytest.mark.parametrize("pattern", [r"[*+]+ (\d+)", r"\*+([0-9]+)", r"(?:a+)+([0-9]+)", r"[^]+]+(.)"])
def test_a_pattern_that_python_3_9_can_read_is_taken(pattern):
    assert matrix(workload=[COMMAND | {"metrics": {"a": TPS | {"pattern": pattern}}}]).matrix.workload
