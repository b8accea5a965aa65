"""What makes a point the same as another: every field of every workload is in its key, or there is a reason."""

import json
from pathlib import Path

import pytest
from pydantic import ValidationError
from support.matrices import BUILD, COMMAND, DD, FIO, METADATA, OBJECTS, READ, TPS, TRANSFER, YOCTO

from matrix.input.workloads import MODELS
from matrix.terms.fingerprint import same_point
from matrix.terms.names import point_labels

TOUCH = {"type": "touch", "files": 1024, "threads": 1}
DELETE = {"type": "delete", "files": 1024, "directories": 4}
WHOLE = [
    TOUCH, METADATA, DD, FIO, READ, BUILD, TRANSFER | {"tool": "cp+parallel"}, DELETE, YOCTO,
    OBJECTS | {"operation": "mix", "mix": {"get": 5, "list": 3, "delete": 2}, "objectSize": "64MiB"},
    COMMAND | {"metrics": {"tps": TPS}, "primaryMetric": "tps", "objectSize": "8KiB"},
]  # fmt: skip
FILE = Path(__file__).name
BASES = {base["type"]: base for base in WHOLE}
# Another value for each field; SPECIAL has those of fields that differ by workload.
OTHERS = {
    "access": "sequential", "atMostSeconds": 20, "blockSize": "2MiB", "build": "make all", "buildDirectory": "local",
    "buildDiskGiB": 200, "cachePath": "elsewhere", "command": "pgbench other",
    "container": "docker.io/library/postgres:17", "dataSize": "1GiB", "directories": "fleet", "expectedFetchSeconds": 5,
    "expectedReadGiB": 5, "expectedSeconds": {"1": 7}, "expectedWriteGiB": 5,
    "fileSize": "2MB", "files": 2048, "image": "core-image-minimal",
    "jobs": [8], "name": "other", "objectSize": "4KiB", "objects": 3, "offsets": "bytes", "p99AtMostMs": 5,
    "phases": ["stat"], "populate": "true", "prepare": "true",
    "primaryMetric": "duration_s", "ratePerSecondPerInstance": [5], "requestSize": "128KiB",
    "batch": 2, "release": "scarthgap", "size": "2GiB", "source": "zero",
    "sourceVolumeGiB": 50, "sourceVolumeType": "gp2", "stonewall": "first", "sync": "each", "threads": [2],
    "tool": "parallel", "keysPerDelete": 2, "keysPerList": 2, "prefixes": 2, "requests": 2000,
    "mix": {"get": 3, "delete": 1}, "verify": True, "workDirectory": "local",
    "data": "shared", "on": "leader", "sizes": "exponential", "jobFile": "[other]\nrw=read\nsize=1m\n",
    "metrics": {"tps": TPS | {"pattern": "^latency = ([0-9.]+)"}}, "device": True,
}  # fmt: skip
SPECIAL = {
    ("delete", "directories"): 8, ("delete", "threads"): 2, ("touch", "directories"): "own",
    ("metadata", "fileSize"): 8192, ("read", "access"): "random", ("read", "caching"): "cached",
    ("transfer", "tool"): ["rsync"], ("dd", "sync"): "block",
    ("objects", "objects"): 30, ("objects", "partSize"): "8MiB", ("objects", "operation"): "put",
    ("fio", "jobFile"): "[reads]\nrw=randread\nsize=1M\n",
}  # fmt: skip
# Fields that are in no key, with the reason.
NOT_IN_KEY = {
    **dict.fromkeys(("expectedReadGiB", "expectedWriteGiB"), "the plan's cost; nothing that is measured"),
    "name": "a label; of a command it is, as nothing else tells two commands of one text on other objects",
    "expectedSeconds": "sets deadline and cost of the plan; nothing that is measured",
    "expectedFetchSeconds": "sets deadline and cost of the plan; nothing that is measured",
    "p99AtMostMs": "no point is measured otherwise; the highest rate within it has it in its own key (test_open_loops)",
    "phases": "each phase is a point of its own, after create, and the instance's caches are dropped before each",
    "buildDiskGiB": "a gp3 volume does 3,000 IOPS and 125 MiB/s whatever its size",
}
IN_KEY_OF = {("command", "name")}


def keys(document):
    """The keys of a workload's points, by what it is judged by."""
    model = MODELS[document["type"]]
    workload = model.model_validate(document)
    whole = workload.document
    return {
        json.dumps(same_point(whole, params, model.judged_by(params, whole)), sort_keys=True)
        for params in workload.points()
    }


FIELDS = [(kind, field.alias or name) for kind, model in MODELS.items() for name, field in model.model_fields.items()]


@pytest.mark.parametrize(("kind", "field"), [each for each in FIELDS if each[1] != "type"])
def test_a_field_that_changes_what_is_measured_is_in_the_key(kind, field):
    base = BASES[kind]
    assert (kind, field) in SPECIAL or field in OTHERS, (
        f"write another value of {field} of {kind} into OTHERS or SPECIAL of tests/matrix/answer/{FILE}"
    )
    changed = base | {field: SPECIAL.get((kind, field), OTHERS.get(field))}
    another = f"write another value of {field} that {kind} takes into SPECIAL of tests/matrix/answer/{FILE}"
    assert changed[field] != base.get(field), another
    try:
        changed_keys = keys(changed)
    except ValidationError:
        pytest.fail(another)

    is_apart = not keys(base) & changed_keys

    assert is_apart == (field not in NOT_IN_KEY or (kind, field) in IN_KEY_OF)


def test_the_label_of_a_build_on_the_instances_own_disk_says_so():
    local = MODELS["build"].model_validate(BUILD | {"buildDirectory": "local"})

    labels = point_labels([{"id": "p01", "params": params} for params in local.points()])

    assert labels == {"p01": "jobs 4, build directory local"}
