"""An account that was opened today: what is too large for it is refused with what to ask for, what fits goes on."""

from collections.abc import Iterator

import pytest
from botocore.exceptions import ClientError
from support.running_cloud import client_of
from support.runs import EFS, Cloud, matrix, start_cloud


@pytest.fixture(scope="module")
def account(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    """A cloud that plays such an account."""
    with start_cloud(tmp_path_factory.mktemp("cloud"), "--new-account") as started:
        yield started


def test_a_fleet_above_its_vcpus_is_refused_before_anything_exists_with_what_to_ask_for(account: Cloud):
    run = account.run("large", matrix(fleet=[{"instanceType": "m6i.large", "count": 4}], dryRun=True))

    assert run.status == "FAILED"
    assert run.describe()["error"] == "QuotaExceeded"
    assert "L-1216C47A) is 5 vCPUs" in run.describe()["cause"]
    assert "needs 8. Ask for more: aws service-quotas request-service-quota-increase" in run.describe()["cause"]
    assert "Nothing was created" in run.describe()["cause"]


def test_the_third_zone_has_no_instance_types_and_says_so_beforehand(account: Cloud):
    ec2 = client_of(account.description, "ec2")
    [subnet] = ec2.describe_subnets(
        Filters=[
            {"Name": "availability-zone", "Values": ["us-east-1c"]},
            {"Name": "default-for-az", "Values": ["false"]},
        ]
    )["Subnets"]

    asked = {"LocationType": "availability-zone", "Filters": [{"Name": "instance-type", "Values": ["m6i.large"]}]}
    offered = {each["Location"] for each in ec2.describe_instance_type_offerings(**asked)["InstanceTypeOfferings"]}
    with pytest.raises(ClientError, match=r"Unsupported.*m6i.large.*us-east-1c"):
        ec2.run_instances(
            ImageId="ami-12c6146b", InstanceType="m6i.large", SubnetId=subnet["SubnetId"], MinCount=1, MaxCount=1
        )

    assert {"us-east-1a", "us-east-1b"} < offered
    assert "us-east-1c" not in offered


def test_four_instances_of_one_vcpu_fit(account: Cloud):
    run = account.run("small", matrix(fleet=[{"instanceType": "m7g.medium", "count": 4}], dryRun=True))

    assert run.status == "SUCCEEDED"


def test_cells_follow_each_other_within_a_quota_that_holds_the_largest_of_them(account: Cloud):
    fill = {"type": "build", "name": "b", "populate": "touch $CACHE_DIR/here", "build": "test -e $CACHE_DIR/here"}
    fleet = [{"instanceType": "m6i.large", "count": [2, 1]}]
    document = matrix(storage=[EFS], workload=[fill], fleet=fleet, maxConcurrentFileSystems=1)

    run = account.run("in-turn", document)

    assert [(cell["state"], cell.get("error")) for cell in run.summary()["cells"]] == [("measured", None)] * 2
    assert run.left_behind() == {}
