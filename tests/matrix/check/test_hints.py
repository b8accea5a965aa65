"""A field that the format has not is answered by the one that is meant, or by none: none that only looks alike."""

import re

import pytest

from matrix.check.read import check_matrix, parse_json
from matrix.terms.problems import InvalidMatrix

EBS = {"type": "ebs", "volumeType": "gp3", "sizeGiB": 8}
FSX = {"type": "fsx-openzfs", "storageCapacityGiB": 64, "throughputCapacityMBps": 64}
SMALL = {
    "name": "small", "storage": [EBS], "workload": [{"type": "touch", "files": 8}],
    "fleet": [{"instanceType": "m6i.large"}],
}  # fmt: skip

SEVERAL = "write one value, and for each of the others a storage of its own"


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
        (OF_EFS, "kmsKeyId", "KmsKeyArn"), ("", "role", "docs/company.md"), (OF_FLEET, "efa", "docs/not.md"),
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


@pytest.mark.parametrize(
    ("change", "path", "fix"),
    [
        ({"storage": [EBS | {"sizeGiB": "100"}]}, "storage[0].sizeGiB", "write 100"),
        ({"storage": [FSX | {"storageCapacityGiB": "1,200 GiB"}]}, "storage[0].storageCapacityGiB", "write 1200"),
        ({"budgetUsd": "$2.50"}, "budgetUsd", "write 2.5"), ({"dryRun": "Yes"}, "dryRun", "write true"),
        ({"owner": 5}, "owner", 'write "5"'), ({"name": "My First Test"}, "name", "did you mean my-first-test?"),
        ({"storage": [EBS | {"type": "EBS"}]}, "storage[0].type", "did you mean ebs?"),
        ({"storage": [{"type": "OpenZFS"}]}, "storage[0].type", "did you mean fsx-openzfs?"),
        ({"storage": [{"type": "io2"}]}, "storage[0].type", 'write "type": "ebs" and "volumeType": "io2"'),
        ({"storage": [EBS | {"volumeType": "GP3"}]}, "storage[0].volumeType", "did you mean gp3?"),
        ({"storage": [EBS | {"volumeType": ["gp3", "io2"]}]}, "storage[0].volumeType", SEVERAL),
        ({"storage": [EBS | {"sizeGiB": [100, 200]}]}, "storage[0].sizeGiB", SEVERAL),
    ],
)  # fmt: skip
def test_the_value_that_is_meant_is_written(change, path, fix):
    with pytest.raises(InvalidMatrix) as error:
        check_matrix(SMALL | change)
    assert {each.path: each.fix for each in error.value.problems}[path] == fix


def test_a_misspelt_type_hides_no_other_mistake_of_its_storage():
    with pytest.raises(InvalidMatrix) as error:
        check_matrix(SMALL | {"storage": [EBS | {"type": "EBS", "iops": "x", "size": 8}, {"type": ["ebs"]}]})

    assert {each.path for each in error.value.problems} >= {f"storage[0].{name}" for name in ("type", "iops", "size")}


@pytest.mark.parametrize("axis", ["threads", "directories"])
def test_a_fix_of_numbers_that_do_not_divide_is_right_at_the_first_try(axis):
    kind = {"threads": "touch", "directories": "delete"}[axis]
    for files, values in ((1024, [*range(1, 9)]), (10, [4, 6]), (100, [3, 5, 7, 11, 13]), (7, [2]), (999_999, [64])):
        work = {"type": kind, "files": files, axis: values}
        with pytest.raises(InvalidMatrix) as error:
            check_matrix(SMALL | {"workload": [work]})
        [problem] = error.value.problems
        numbers = re.match(r"write ([0-9]+)(?: or ([0-9]+))?, or", problem.fix)
        divisors = [int(number) for number in problem.fix.partition(" out of ")[2].split(", ")]
        for number in filter(None, numbers.groups() if numbers else ()):
            check_matrix(SMALL | {"workload": [work | {"files": int(number)}]})
        check_matrix(SMALL | {"workload": [work | {axis: divisors}]})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "`matrix new`"), ("# mine\nname: x\n", "yq -o json"), ("- a\n", "yq -o json"),
        ("# Title\n\nWords.", "events/"),
        ('{"a": 1, // why\n}', "comment"), ('{"a": 1 "b": 2}', "add a comma"),
        ("{'a': 1}", "'"), ('{"a": True}', "true"),
        ('{a: 1}', "double quotes"), ('{"a": 1,}', "remove the comma"),
    ],
)  # fmt: skip
def test_a_text_that_is_not_json_is_recognised(text, words):
    with pytest.raises(InvalidMatrix) as error:
        parse_json(text)
    [problem] = error.value.problems
    assert problem.code == "not-json"
    assert words in problem.fix
