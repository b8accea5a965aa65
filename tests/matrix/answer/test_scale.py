"""The analysis of a large cell: each point, instance and repetition more takes as long as the one before."""

import tracemalloc

import numpy as np
from support.work import growth

from matrix.answer.results import cell_result
from matrix.samples.file import SampleFile
from matrix.statistics.fleet_values import FleetValues
from matrix.statistics.resampling import uncertainties

LEVELS = (50, 75, 90, 98)


def analysis(*, instances: int, points: int, repetitions: int):
    steps = [{"point": f"p{point}", "repetition": r + 1} for r in range(repetitions) for point in range(points)]
    chance = np.random.default_rng(1)
    files = [
        SampleFile.model_validate(
            {"run": "r", "cell": "c", "instance": {"id": f"i-{number}", "type": "m6i.large"}, "host": {"cpus": 2},
             "calibration": [{"points": [f"p{p}" for p in range(points)], "metric": "files_per_s", "value": 1e4}],
             "samples": [
                 {**step, "step": at, "metrics": {"files_per_s": 100 + chance.random()}, "work": {"files": 1000},
                  "counters": {"cpu_s": 5.0, "disk_read_bytes": 1e6}, "workers": 4,
                  "started_at": 20.0 * at, "ended_at": 20.0 * at + 10} for at, step in enumerate(steps)]}
        )
        for number in range(instances)
    ]  # fmt: skip
    cell = {
        "id": "c", "file_system": "f", "storage": {"type": "ebs"}, "workload": {"type": "touch"}, "expected_s": 1.0,
        "fleet": {"instanceType": "m6i.large", "count": instances}, "steps": steps,
        "points": [{"id": f"p{point}", "params": {}} for point in range(points)],
    }  # fmt: skip
    return lambda: cell_result(cell, files, error=None, actual_s=1.0)


def test_each_point_of_an_analysis_takes_as_long_as_the_one_before():
    assert growth(lambda points: analysis(instances=2, points=points, repetitions=1), (5, 25, 45)) < 1.08


def test_intervals_of_a_thousand_instances_take_a_few_megabytes():
    values = np.random.default_rng(1).lognormal(size=(1000, 5))
    fleet = FleetValues(tuple(map(str, range(1000))), (1, 2, 3, 4, 5), values, is_shared=True)
    uncertainties(fleet, LEVELS)

    tracemalloc.start()
    uncertainties(fleet, LEVELS)
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert peak_bytes < 15e6
