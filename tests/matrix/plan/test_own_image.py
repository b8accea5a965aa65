"""An image of the user's own against the instance types that shall boot it, as EC2 describes both."""

import pytest

from matrix.check.read import check_matrix
from matrix.plan.own_image import named_types, problems

ACCOUNT = "123456789012"
GOOD = {
    "ImageId": "ami-1", "State": "available", "Architecture": "x86_64", "VirtualizationType": "hvm", "EnaSupport": True,
    "RootDeviceType": "ebs", "RootDeviceName": "/dev/xvda", "OwnerId": ACCOUNT, "BootMode": "uefi-preferred",
    "BlockDeviceMappings": [{"DeviceName": "/dev/xvda", "Ebs": {"VolumeSize": 8}}, {"DeviceName": "/dev/sdz"}],
}  # fmt: skip
NITRO = {"NetworkInfo": {"EnaSupport": "required"}, "SupportedBootModes": ["legacy-bios", "uefi"]}
TYPES = {"m6i.large": NITRO}


def told(wanted=("m6i.large",), types=TYPES, **changes):
    """What is wrong with the good image after these changes: (rule, fix, whether only a warning) of each."""
    found = problems("ami-1", GOOD | changes, types, wanted, ACCOUNT)
    return [(problem.rule, problem.fix, problem.is_warning) for problem in found if problem.path == "image.ami"]


@pytest.mark.parametrize(
    ("changes", "rule", "fix"),
    [
        ({"State": "pending"}, "is pending", "wait"),
        ({"State": "disabled"}, "is disabled", "available"),
        ({"Platform": "windows"}, "Windows", "Linux"),
        ({"RootDeviceType": "instance-store"}, "root device of type instance-store", "EBS root"),
        ({"VirtualizationType": "paravirtual"}, "paravirtual", "hvm"),
        ({"Architecture": "arm64"}, "is an image for arm64, and m6i.large are not", "one matrix for each"),
        ({"Architecture": "i386"}, "is an image for i386", "one matrix for each"),
        ({"EnaSupport": False}, "without which m6i.large has no network", "ENA"),
        (
            {"BlockDeviceMappings": [{"DeviceName": "/dev/xvda", "Ebs": {"VolumeSize": 30}}]},
            "has a root volume of 30 GiB; instances have one of 20", "at most 20 GiB",
        ),
        (
            {"BlockDeviceMappings": [*GOOD["BlockDeviceMappings"], {"DeviceName": "/dev/sdf", "Ebs": {}}]},
            "brings volumes beside its root (/dev/sdf)", "root volume only",
        ),
    ],
)  # fmt: skip
def test_an_image_that_no_instance_could_boot_is_refused_with_reason_and_way_out(changes, rule, fix):
    [(told_rule, told_fix, is_doubt)] = told(**changes)

    assert rule in told_rule
    assert fix in told_fix
    assert not is_doubt


def test_a_boot_mode_that_a_type_has_not_is_refused():
    types = {"m6i.large": NITRO | {"SupportedBootModes": ["legacy-bios"]}}

    [(rule, _, _)] = told(types=types, BootMode="uefi")

    assert rule == "boots by uefi, and m6i.large only by legacy-bios"


def test_of_a_type_that_ec2_did_not_describe_only_the_architecture_is_held_against_it():
    assert told(types={}, EnaSupport=False) == []
    assert len(told(types={}, Architecture="arm64")) == 1


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"Public": True, "OwnerId": "999999999999"}, "is a public image of the account 999999999999"),
        ({"ProductCodes": [{"ProductCodeId": "x"}]}, "is a product of AWS Marketplace"),
        (
            {"BlockDeviceMappings": [{"DeviceName": "/dev/xvda", "Ebs": {"VolumeSize": 8, "Encrypted": True}}]},
            "has an encrypted snapshot",
        ),
    ],
)
def test_what_is_unusual_of_an_image_is_a_warning(changes, rule):
    [(told_rule, _, is_doubt)] = told(**changes)

    assert rule in told_rule
    assert is_doubt


def test_the_types_that_boot_it_are_those_of_all_fleets_and_file_servers():
    matrix = check_matrix(
        {
            "name": "many", "workload": [{"type": "read", "requests": 1, "requestSize": "64KiB"}],
            "storage": [{"type": "file-server", "instanceType": "m6i.xlarge"}, {"type": "s3"}],
            "fleet": [{"instanceType": ["m6i.large", "c6i.large"]}],
            "include": [
                {
                    "storage": {"type": "efs"}, "workload": {"type": "touch", "files": 8},
                    "fleet": {"instanceType": "r6i.large", "count": 1},
                }
            ],
        }
    ).matrix  # fmt: skip

    assert set(named_types(matrix)) == {"m6i.large", "c6i.large", "r6i.large", "m6i.xlarge"}
