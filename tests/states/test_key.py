"""The key of the parameter KmsKeyArn in each request that creates what keeps data; without it none."""

import pytest
from states.test_tags import FSX
from support.function_events import RUN, plan_run, problems_of_run
from support.matrices import READ
from support.storages import requests_of

import create_file_system
from aws.ec2 import volume_mappings
from aws.ec2.instances import Boot, _request

KEY = "arn:aws:kms:us-east-1:123456789012:key/1"
EBS = {"type": "ebs", "volumeType": "gp3", "sizeGiB": 8, "raid0": 2}


@pytest.mark.parametrize("key", [KEY, ""])
def test_every_volume_of_a_launch_has_the_key(stack, monkeypatch, key):
    monkeypatch.setenv("KMS_KEY_ARN", key)
    fleet = {"instanceType": "m6i.large", "count": 1}
    work = {"volumeType": "gp3", "sizeGiB": 100}

    request = _request([], EBS, fleet, "", Boot("ami-1", "/dev/xvda"), work)

    volumes = {mapping["DeviceName"]: mapping["Ebs"] for mapping in request["BlockDeviceMappings"]}
    assert volumes.keys() == {"/dev/xvda", *volume_mappings.DEVICES[:2], volume_mappings.WORK_DEVICE}
    assert [volume.get("KmsKeyId", "") for volume in volumes.values()] == [key] * 4
    assert all(volume["Encrypted"] for volume in volumes.values())


@pytest.mark.parametrize("key", [KEY, ""])
@pytest.mark.parametrize(("storage", "service"), [({"type": "efs"}, "efs"), (FSX, "fsx")])
def test_a_file_system_has_the_key(stack, context, monkeypatch, storage, service, key):
    plan = plan_run(context, storage=[storage])
    monkeypatch.setenv("KMS_KEY_ARN", key)
    asked = requests_of(service, "CreateFileSystem")

    create_file_system.handler({"run": RUN, "file_system": plan["file_systems"][0]["id"]}, context)

    assert [request.get("KmsKeyId", "") for request in asked] == [key]


@pytest.mark.parametrize("key", [KEY, ""])
@pytest.mark.parametrize("storage", [{"type": "s3-express"}, {"type": "mountpoint", "storageClass": "EXPRESS_ONEZONE"}])
def test_a_directory_bucket_which_would_not_have_the_key_is_refused(stack, context, monkeypatch, storage, key):
    monkeypatch.setenv("KMS_KEY_ARN", key)
    wanted = {"storage": [storage, {"type": "s3"}], "workload": [READ]}

    if key:
        [problem] = problems_of_run(context, **wanted)
        assert (problem.path, problem.value) == ("storage[0].type", storage["type"])
        assert "KmsKeyArn" in problem.rule
    else:
        plan_run(context, **wanted)
