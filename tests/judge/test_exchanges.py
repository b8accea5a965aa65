"""Requests and answers as they go over the wire, of which none that AWS would not take, or give, passes."""

import json
from typing import Any
from urllib.parse import urlencode

import pytest
from judge.exchanges import Exchange, differences, refusals

DESCRIPTION = {
    "FileSystems": [
        {
            "OwnerId": "123456789012", "CreationToken": "t", "FileSystemId": "fs-0123456789abcdef0",
            "CreationTime": 1795317347, "LifeCycleState": "available", "NumberOfMountTargets": 0,
            "SizeInBytes": {"Value": 1}, "PerformanceMode": "generalPurpose", "Tags": [],
        }
    ]
}  # fmt: skip
INSTANCES = """<DescribeInstancesResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"><reservationSet><item>
<instancesSet><item><instanceId>i-0123456789abcdef0</instanceId><instanceState><code>16</code><name>{}</name>
</instanceState></item></instancesSet></item></reservationSet></DescribeInstancesResponse>"""


def exchange(service: str, method: str, target: str, **others: Any) -> Exchange:
    """An exchange that ends well, with nothing in it but what is given."""
    fields = {"headers": {}, "body": b"", "status": 200, "answer_headers": {}, "answer": b""}
    return Exchange(service=service, method=method, target=target, **{**fields, **others})


def described(change: dict[str, Any]) -> Exchange:
    """A description of a file system of EFS with something else in it."""
    [good] = DESCRIPTION["FileSystems"]
    answer = json.dumps({"FileSystems": [good | change]}).encode()
    return exchange("elasticfilesystem", "GET", "/2015-02-01/file-systems?MaxItems=10", answer=answer)


def launched(**parameters: Any) -> Exchange:
    """A request to EC2 for an instance."""
    body = urlencode({"Action": "RunInstances", "Version": "2016-11-15", "MinCount": 1, "MaxCount": 1} | parameters)
    return exchange("ec2", "POST", "/", body=body.encode())


def in_state(name: str) -> Exchange:
    """An answer of EC2 with an instance in a state."""
    body = urlencode({"Action": "DescribeInstances", "Version": "2016-11-15"}).encode()
    return exchange("ec2", "POST", "/", body=body, answer=INSTANCES.format(name).encode())


def test_what_aws_takes_and_gives_is_not_refused():
    assert refusals([launched(**{"BlockDeviceMapping.1.Ebs.VolumeType": "gp3", "ClientToken": "a" * 64})]) == set()
    assert differences([described({}), in_state("running")]) == set()


@pytest.mark.parametrize(
    ("made", "says"),
    [
        (launched(**{"BlockDeviceMapping.1.Ebs.VolumeType": "gp4"}), "'gp4' is none of"),
        (launched(MinCount=2), "not a range of counts"),
        (exchange("s3", "PUT", "/bucket/" + "k" * 1025), "1025 is not from 1"),
        (exchange("states", "POST", "/", headers={"x-amz-target": "AWSStepFunctions.StartExecution"},
                  body=b'{"stateMachineArn": "arn", "name": "a/b"}'), "'a/b' has other characters"),
        (exchange("elasticfilesystem", "POST", "/2015-02-01/file-systems",
                  body=b'{"CreationToken": "t", "ThroughputMode": "elastic", "ProvisionedThroughputInMibps": 1}'),
         "is refused in mode elastic"),
    ],
)  # fmt: skip
def test_a_request_that_aws_would_refuse_is_refused(made: Exchange, says: str):
    assert any(says in problem for problem in refusals([made])), refusals([made])


@pytest.mark.parametrize(
    ("made", "says"),
    [
        (described({"KmsKeyId": None}), "is null"),
        (described({"FileSystemPolicy": "{}"}), "is not a member of"),
        (described({"LifeCycleState": "ready"}), "'ready' is none of"),
        (in_state("sleeping"), "'sleeping' is none of"),
        (exchange("elasticfilesystem", "GET", "/2015-02-01/file-systems", answer=b'{"FileSystems": [{}]}'),
         "is required"),
        (exchange("s3", "GET", "/bucket/key", status=404, answer=b"<html></html>"), "an error without a code"),
    ],
)  # fmt: skip
def test_an_answer_that_aws_could_not_give_is_a_difference(made: Exchange, says: str):
    assert any(says in problem for problem in differences([made])), differences([made])
