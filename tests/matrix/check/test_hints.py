"""A field that the format has not is answered by the one that is meant, or by none: none that only looks alike."""

import pytest

from matrix.check.read import check_matrix
from matrix.terms.problems import InvalidMatrix

EBS = {"type": "ebs", "volumeType": "gp3", "sizeGiB": 8}
FSX = {"type": "fsx-openzfs", "storageCapacityGiB": 64, "throughputCapacityMBps": 64}
SMALL = {
    "name": "small", "storage": [EBS], "workload": [{"type": "touch", "files": 8}],
    "fleet": [{"instanceType": "m6i.large"}],
}  # fmt: skip


def hint(part, field):
    """What is told of a field in a part of the matrix: '', image, or storage, workload or fleet with what it is."""
    document = dict(SMALL)
    match part:
        case "":
            document[field] = 1
        case "image":
            document["image"] = {field: 1}
        case (axis, element):
            document[axis] = [element | {field: 1}]
    with pytest.raises(InvalidMatrix) as error:
        check_matrix(document)
    [problem] = [each for each in error.value.problems if "is not a field" in each.rule]
    return problem.fix


OF_EBS, OF_FSX, OF_EFS = (("storage", each) for each in (EBS, FSX, {"type": "efs"}))
OF_TOUCH, OF_FLEET = ("workload", SMALL["workload"][0]), ("fleet", SMALL["fleet"][0])


@pytest.mark.parametrize(
    ("part", "field", "meant"),
    [
        # What others call it.
        ("", "labels", "tags"), ("", "iterations", "repetitions"), ("", "ami", "image"), (OF_EBS, "size", "sizeGiB"),
        (OF_FSX, "size", "storageCapacityGiB"), (OF_EFS, "throughput", "provisionedThroughputMiBps"),
        # A part of it, or more than it.
        ("", "budget", "budgetUsd"), (OF_TOUCH, "numFiles", "files"), (OF_FLEET, "spotPrice", "spot"),
        # Its case, its number, its spelling.
        ("", "dryrun", "dryRun"), ("", "storages", "storage"), ("", "nmae", "name"), (OF_EBS, "sizeGB", "sizeGiB"),
        (OF_FLEET, "instance_type", "instanceType"), ("image", "package", "packages"),
    ],
)  # fmt: skip
def test_the_field_that_is_meant_is_named(part, field, meant):
    assert hint(part, field) == f"did you mean {meant}?"


@pytest.mark.parametrize(
    ("part", "field", "fix"),
    [
        ("", "region", "in the region of its stack"), (OF_FLEET, "subnet", "VpcId and SubnetIds"),
        (OF_EFS, "kmsKeyId", "KmsKeyArn"), ("", "role", "docs/company.md"),
    ],
)  # fmt: skip
def test_what_a_matrix_does_not_say_is_told_with_where_it_is_said(part, field, fix):
    told = hint(part, field)

    assert told.startswith("leave it out: ")
    assert fix in told


@pytest.mark.parametrize(
    ("part", "field"),
    [
        ("", "retries"), ("", "description"), (OF_EFS, "iops"), (OF_FLEET, "size"), (OF_TOUCH, "duration"),
    ],
)  # fmt: skip
def test_where_nothing_is_meant_nothing_is_guessed(part, field):
    assert hint(part, field).startswith("leave it out; known are ")
