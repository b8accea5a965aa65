"""Plans of cells that are launched several times, and the results of their launches."""

import json

import numpy as np
from support.matrices import BUILD, EFS, matrix
from support.runs_for_reports import files_of

from matrix.answer import bottleneck
from matrix.answer.results import cell_result
from matrix.plan.planning import plan

JOINED = "efs.build.m6i.large-x2"
FAILED = {"name": "InstanceDied", "message": "i-2 ended"}
SECONDS = (100.0, 110.0, 121.0)
EFS_TWO = [EFS | {"name": name} for name in ("efs", "other")]


def planned(launches=3, storages=EFS_TWO[:1]):
    """The plan of builds by two instances on EFS, twice in each launch."""
    fleet = [{"instanceType": "m6i.large", "count": 2}]
    changes = {"storage": storages, "workload": [BUILD | {"expectedSeconds": 100}], "fleet": fleet, "repetitions": 2}
    return plan(matrix(**changes, launches=launches, seed=1)).to_document()


def measured(cell, middle, number):
    """The result of a launch whose builds take `middle` seconds, ± 1 %."""
    files = files_of(cell, middle, 0.01, np.random.default_rng(number), first=10 * number)
    result = cell_result(cell, files, error=None, actual_s=500.0)
    return json.loads(json.dumps({**result, "bottleneck": bottleneck.find(result, "aws")}))


def results_of(document, seconds=SECONDS):
    """A result of each launch; None fails it."""
    return {
        cell["id"]: measured(cell, middle, number + cell["launch"])
        if (middle := seconds[cell["launch"] - 1]) is not None
        else cell_result(cell, [], error=FAILED, actual_s=7.0)
        for number, cell in enumerate(document["cells"])
    }
