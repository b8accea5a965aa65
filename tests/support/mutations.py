"""Matrices with one changed part."""

import json
import re

from support.matrices import (
    BUILD,
    COMMAND,
    DD,
    EBS,
    EFS,
    FIO,
    FLEET,
    FSX,
    INSTANCE_STORE,
    READ,
    TOUCH,
    TPS,
    TRANSFER,
    YOCTO,
    document,
)  # fmt: skip

from matrix.check.read import read_matrix
from matrix.plan.planning import plan
from matrix.terms.problems import InvalidMatrix

SAFE = re.compile(r"[A-Za-z0-9._-]{1,100}")

WHOLE = document(
    storage=[EBS | {"iops": 4000, "throughputMiBps": 200}, EFS | {"performanceMode": "generalPurpose"}, FSX],
    workload=[TOUCH, DD, FIO, BUILD, TRANSFER],
    fleet=[FLEET | {"count": [1, 2]}],
    include=[{"storage": EBS, "workload": TOUCH, "fleet": {"instanceType": "c5.large", "count": 3}}],
    exclude=[{"storage": {"type": "ebs"}, "fleet": {"count": 2}}],
    repetitions=2,
    budgetUsd=10,
    objective={"metric": "files_per_s", "atLeast": 10},
)

# Further contents of a matrix: the other storages and workloads, the fleet's launch options, its image.
RARER = document(
    storage=[
        EBS | {"raid0": 2}, EFS | {"tls": True, "iam": True, "deployment": "regional"},
        FSX | {"nfsVersion": "4.2", "nconnect": 16}, INSTANCE_STORE,
        {"type": "mountpoint", "cacheMiB": 64, "readPartSize": "16MiB"},
    ],
    workload=[READ, YOCTO, BUILD | {"jobs": [1, 2]}, COMMAND | {"command": "make", "metrics": {"tps": TPS}}],
    fleet=[{"instanceType": "m6id.4xlarge", "count": 4, "spot": True, "quorum": 0.5, "placement": [50, 50]}],
    exclude=[{"storage": {"type": "mountpoint"}, "workload": {"type": one}} for one in ("yocto", "build")],
    image={"os": "ubuntu-22.04", "bake": True, "packages": ["git"], "containers": ["docker.io/library/alpine:3.20"]},
    maxConcurrentFileSystems=2,
    deadlineHours=48,
    owner="me",
)  # fmt: skip


def places(value, path=()):
    yield path
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from places(inner, (*path, key))


MATRICES = [WHOLE, RARER]


def answer(text):
    """Return the plan of a text, None for a refusal; fails the test on any other exception and on an unsafe plan."""
    try:
        planned = plan(read_matrix(text)).to_document()
    except InvalidMatrix as error:
        assert error.problems
        for problem in error.problems:
            json.dumps(problem.to_document(), allow_nan=False)
            assert str(problem).isprintable()
            assert problem.rule
            assert problem.fix
        return None
    json.dumps(planned, allow_nan=False)
    ids = [cell["id"] for cell in planned["cells"]]
    assert len(set(ids)) == len(ids)
    assert all(SAFE.fullmatch(one) for one in ids)
    cost = planned["totals"]["cost_usd"]
    assert 0 <= cost["low"] <= cost["expected"] <= cost["high"]
    for cell in planned["cells"]:
        assert cell["poll_s"] >= 10
        assert cell["expected_s"] <= cell["deadline_s"]
    return planned


# The first step of a path selects one of the matrices.
PLACES = [path for path in places(MATRICES) if len(path) > 1]


def mutated(path, change):
    copy = json.loads(json.dumps(MATRICES))
    here = copy
    for step in path[:-1]:
        here = here[step]
    change(here, path[-1])
    return json.dumps(copy[path[0]])
