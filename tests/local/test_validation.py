"""The local cloud refuses a request that AWS's own model refuses, in the words of the service."""

import re
import sys
import unicodedata
from typing import Any

import pytest
from botocore.config import Config
from botocore.exceptions import ClientError
from support.running_cloud import RunningCloud

from local.validation.shapes import WIDER_CLASSES

SUBNET = "subnet-0123456789abcdef0"
OPENZFS = {"FileSystemType": "OPENZFS", "StorageCapacity": 64, "SubnetIds": [SUBNET]}


def refused(cloud: RunningCloud, service: str, call: str, parameters: dict[str, Any]) -> tuple[str, str]:
    """Code and message of the error with which a call ends, which the client does not check itself."""
    client = cloud.client(service, config=Config(parameter_validation=False))
    with pytest.raises(ClientError) as error:
        getattr(client, call)(**parameters)
    assert error.value.response["ResponseMetadata"]["HTTPStatusCode"] == 400
    return error.value.response["Error"]["Code"], error.value.response["Error"]["Message"]


@pytest.mark.parametrize(
    ("service", "call", "parameters", "code", "says"),
    [
        ("efs", "create_file_system", {"CreationToken": "t" * 65}, "ValidationException",
         r"CreateFileSystem\.CreationToken: 'ttt.* has a length of 65, not from 1 to 64"),
        ("efs", "create_file_system", {"CreationToken": "t", "Tags": [{"Key": "owner(s)", "Value": "v"}]},
         "ValidationException", r"CreateFileSystem\.Tags\[0\]\.Key: 'owner\(s\)' does not match \^"),
        ("fsx", "create_file_system", {**OPENZFS, "ClientRequestToken": "t" * 64}, "ValidationException",
         "ClientRequestToken: 'ttt"),
        ("fsx", "create_file_system", {"FileSystemType": "OPENZFS"}, "ValidationException", "SubnetIds: is required"),
        ("stepfunctions", "start_execution", {"stateMachineArn": "arn", "name": "n" * 81}, "ValidationException",
         "has a length of 81, not from 1 to 80"),
        ("iam", "create_role", {"RoleName": "r" * 65, "AssumeRolePolicyDocument": "{}"}, "ValidationError",
         "has a length of 65"),
        ("ec2", "create_volume", {"AvailabilityZone": "us-east-1a", "Size": 8, "VolumeType": "gp4"},
         "InvalidParameterValue", "VolumeType: 'gp4' is none of"),
        ("ec2", "create_snapshot", {}, "MissingParameter", "CreateSnapshot.VolumeId: is required"),
        ("s3", "put_object", {"Bucket": "b", "Key": "k", "StorageClass": "COLD"}, "InvalidArgument",
         "'COLD' is none of"),
    ],
)  # fmt: skip
def test_what_the_model_of_a_call_refuses_is_refused_as_the_service_does(
    cloud: RunningCloud, service: str, call: str, parameters: dict[str, Any], code: str, says: str
):
    found, message = refused(cloud, service, call, parameters)

    assert found == code, message
    assert re.search(says, message)


def test_all_problems_of_a_request_are_in_one_message(cloud: RunningCloud):
    _, message = refused(cloud, "efs", "create_file_system", {"CreationToken": "t" * 65, "ThroughputMode": "fast"})

    assert message.startswith("2 validation errors detected: ")


def test_the_longest_token_and_letters_of_all_languages_are_taken(cloud: RunningCloud):
    efs = cloud.client("efs")

    tags = [{"Key": "Größe", "Value": "容量 _.:/=+-@"}]
    made = efs.create_file_system(CreationToken="t" * 64, Tags=tags)

    assert made["CreationToken"] == "t" * 64
    efs.delete_file_system(FileSystemId=made["FileSystemId"])


@pytest.mark.parametrize(("java", "python"), WIDER_CLASSES.items())
def test_the_class_that_stands_for_one_of_java_has_all_of_its_characters(java: str, python: str):
    kind = java[3]
    characters = [char for char in map(chr, range(sys.maxunicode + 1)) if unicodedata.category(char)[0] == kind]

    assert [char for char in characters if not re.fullmatch(python, char)] == []
