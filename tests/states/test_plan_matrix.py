"""Plan matrix: the one state that sees the user's input."""

import io
import json
import re
import zipfile

import boto3
import pytest
from support.function_events import RUN, event_of, load_event, plan_run, problems_of_run
from support.matrices import FLEET, READ
from support.refusals import refusing

import plan_matrix
from aws.account import prices
from aws.records import agent_package, bucket
from matrix.plan import agreement
from matrix.terms.errors import NotGranted, PlanDiffers
from matrix.terms.problems import InvalidMatrix


def documents(prefix):
    s3 = boto3.client("s3")
    keys = [found["Key"] for found in s3.list_objects_v2(Bucket="results", Prefix=prefix).get("Contents", [])]
    return {key: s3.get_object(Bucket="results", Key=key)["Body"].read() for key in keys}


def test_the_plan_the_input_and_the_agent_are_in_the_bucket(stack, context):
    answer = plan_matrix.handler(load_event("plan_matrix"), context)

    plan = json.loads(documents(f"runs/{RUN}/plan.json")[f"runs/{RUN}/plan.json"])
    assert answer["launches"] == [{"file_systems": [one["id"] for one in plan["file_systems"]]}]
    assert (plan["run"], plan["environment"]) == (RUN, "aws")
    assert plan["deadline_at"] > plan["created_at"]
    assert plan["agent_key"] in documents("agents/")
    assert f"runs/{RUN}/matrix.json" in documents(f"runs/{RUN}/")


def test_every_cell_and_file_system_has_a_row_before_anything_costs_money(stack, context):
    answer = plan_matrix.handler(load_event("plan_matrix"), context)

    rows = boto3.client("dynamodb").scan(TableName="table")["Items"]
    kinds = [row["SK"]["S"].split("#")[0] for row in rows]
    assert kinds.count("PLAN") == 1
    assert kinds.count("FS") == len(answer["launches"][0]["file_systems"])
    assert kinds.count("CELL") == answer["totals"]["cells"]
    assert {row["state"]["S"] for row in rows if "state" in row} == {"planned"}


def test_a_bad_matrix_is_refused_with_its_problems_and_leaves_nothing(stack, context):
    [problem] = problems_of_run(context, repetitions=0)

    assert problem.path == "repetitions"


def test_a_denial_while_planning_is_one_that_is_tried_again_and_says_what_was_denied(stack, context, monkeypatch):
    denial = refusing("AccessDenied", "PutObject", message="no identity-based policy")
    monkeypatch.setattr(agent_package, "publish", denial)

    with pytest.raises(NotGranted, match=r"PutObject.*no identity-based policy.*`matrix verify`"):
        plan_matrix.handler(load_event("plan_matrix"), context)


def test_bytes_of_s3_that_pass_a_nat_gateway_are_warned_of_and_count_against_the_budget(stack, context):
    ec2, s3 = (
        boto3.client("ec2"),
        {"storage": [{"type": "s3"}], "workload": [READ | {"requestSize": "16MiB"}], "fleet": [FLEET]},
    )
    before = plan_run(context, **s3)["totals"]["cost_usd"]["expected"]
    subnet = stack["SUBNET_IDS"].split(",")[0]
    nat = ec2.create_nat_gateway(SubnetId=subnet, ConnectivityType="private")["NatGateway"]["NatGatewayId"]
    [vpc] = {each["VpcId"] for each in ec2.describe_subnets(SubnetIds=[subnet])["Subnets"]}
    [table] = ec2.describe_route_tables(Filters=[{"Name": "vpc-id", "Values": [vpc]}])["RouteTables"]
    ec2.delete_route(RouteTableId=table["RouteTableId"], DestinationCidrBlock="0.0.0.0/0")
    ec2.create_route(RouteTableId=table["RouteTableId"], DestinationCidrBlock="0.0.0.0/0", NatGatewayId=nat)

    answer = plan_matrix.handler(event_of(**s3, budgetUsd=before + 0.01), context)

    plan = bucket.get(f"runs/{RUN}/plan.json")
    [warning] = [each for each in plan["warnings"] if each["path"] == "SubnetIds"]
    assert warning in plan["warnings"][:2]  # with the network's: the NAT is compared, not the storage
    assert nat in warning["message"]
    more = plan["totals"]["cost_usd"]["expected"] - before
    assert f"{more:.2f} USD" in warning["message"]
    # One instance writes 2 GiB and reads them in each of two repetitions.
    assert more == pytest.approx(6 * 0.045, abs=0.001)
    assert not answer["within_budget"]


def test_an_instance_type_that_ec2_does_not_know_is_refused_before_the_run_has_a_row(stack, context):
    with pytest.raises(InvalidMatrix) as refused:
        plan_run(context, fleet=[FLEET, FLEET | {"instanceType": "m7i.9xlarge"}])

    [problem] = refused.value.problems
    assert "m7i.9xlarge" in problem.rule
    assert "m6i.large" not in problem.rule
    assert boto3.client("dynamodb").scan(TableName="table")["Items"] == []


@pytest.mark.parametrize("cidr", ["10.0.0.0/16", ""])
def test_a_multi_az_file_system_is_refused_where_no_instance_could_mount_it(stack, context, monkeypatch, cidr):
    monkeypatch.setenv("MULTI_AZ_CIDR", cidr)
    multi_az = {"type": "fsx-openzfs", "storageCapacityGiB": 64, "throughputCapacityMBps": 160}
    multi_az["deploymentType"] = "MULTI_AZ_1"

    if cidr:
        plan_run(context, storage=[multi_az])
    else:
        [problem] = problems_of_run(context, storage=[multi_az])
        assert (problem.path, problem.value) == ("storage[0].deploymentType", "MULTI_AZ_1")
        assert "MultiAzCidr" in problem.fix


def test_a_matrix_that_wants_its_storages_emulated_is_refused_on_aws(stack, context):
    [problem] = problems_of_run(context, emulate=True, workload=[{"type": "touch", "files": 64}])

    assert problem.path == "emulate"


def test_more_shares_than_the_stack_has_zones_are_refused_before_anything_is_created(stack, context):
    [problem] = problems_of_run(context, fleet=[{"instanceType": "m6i.large", "placement": [1, 1, 1, 1]}])

    assert problem.path == "fleet[0].placement"
    assert re.findall(r"\d+", problem.rule) == ["4", "3"]  # shares, zones


def opt(folder, *names):
    """What Lambda has below /opt: the agent, its client, and the packages of the functions."""
    for name in ("__init__.py", "unpack.py", "client/botocore/__init__.py", "python/numpy/__init__.py", *names):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    return folder, folder / "client"


def test_the_agents_zip_holds_the_agent_with_its_client_and_nothing_of_the_other_layers(tmp_path):
    folders = opt(tmp_path, "workloads/__init__.py", "workloads/dd.py", "client/botocore/__pycache__/__init__.pyc")

    names = zipfile.ZipFile(io.BytesIO(agent_package.build(*folders))).namelist()

    assert names == [
        "__main__.py", "agent/__init__.py", "agent/unpack.py", "agent/workloads/__init__.py", "agent/workloads/dd.py",
        "botocore/__init__.py", "contract/__init__.py", "contract/fio_job.py", "contract/gates.py",
        "contract/histogram.py", "contract/keys.py", "contract/records.py", "contract/retryable.py",
        "contract/sizes.py",
    ]  # fmt: skip


def test_no_agent_is_published_without_its_client(tmp_path):
    with pytest.raises(FileNotFoundError, match="holds no AWS client for the agent; build it anew: sam build"):
        agent_package.build(opt(tmp_path)[0], tmp_path / "nowhere")


@pytest.fixture
def resumed(stack, context):
    """A run with a plan, and the execution that makes it in moto; the input that resumes it."""
    machine = boto3.client("stepfunctions").create_state_machine(
        name="run",
        definition=json.dumps({"StartAt": "Wait", "States": {"Wait": {"Type": "Wait", "Seconds": 9, "End": True}}}),
        roleArn="arn:aws:iam::123456789012:role/machine",
    )["stateMachineArn"]
    arn = boto3.client("stepfunctions").start_execution(stateMachineArn=machine, name="earlier")["executionArn"]
    first = load_event("plan_matrix")
    plan_matrix.handler({**first, "run": "earlier", "execution_arn": arn}, context)
    later = arn.replace(":earlier", ":later")
    return arn, {"run": "later", "execution_arn": later, "matrix": {**first["matrix"], "resume": "earlier"}}


def test_a_run_that_is_still_running_cannot_be_resumed(resumed, context):
    _, event = resumed

    with pytest.raises(InvalidMatrix, match=r"resume.*is still running.*ended run"):
        plan_matrix.handler(event, context)

    assert documents("runs/later/") == {}


def test_a_run_that_was_stopped_can_be_resumed(resumed, context):
    arn, event = resumed
    boto3.client("stepfunctions").stop_execution(executionArn=arn)

    assert plan_matrix.handler(event, context)["totals"]["cells"] > 0


def test_a_spot_fleet_is_priced_by_what_ec2_says_it_costs_and_a_refusal_changes_nothing(stack, context, monkeypatch):
    spot = [{"instanceType": "m6i.large", "spot": True}]
    history = [
        {"InstanceType": "m6i.large", "AvailabilityZone": f"us-east-1{zone}", "Timestamp": day, "SpotPrice": usd}
        for zone, day, usd in (("a", 1, "0.03"), ("b", 1, "0.05"))
    ]
    answer = {"SpotPriceHistory": history}

    class Pages:
        """What EC2 answers, or that it refuses."""

        def paginate(self, **asked):
            assert asked["InstanceTypes"] == ["m6i.large"]
            return self

        def build_full_result(self):
            return answer

    monkeypatch.setattr(prices.impatient_client("ec2"), "get_paginator", lambda _: Pages())
    said = plan_run(context, fleet=spot)["assumptions"]
    answer.clear()
    refused = plan_run(context, fleet=spot)["assumptions"]

    assert any("Spot of m6i.large: 0.0400 USD an hour now, mean of 2 zones" in line for line in said)
    assert any("on-demand is assumed" in line for line in refused)


def test_a_plan_that_is_not_the_one_that_was_agreed_to_is_refused_with_both_figures_and_has_no_rows(stack, context):
    plan = plan_run(context)
    agreed = agreement.agreed_to(plan)
    rows = boto3.client("dynamodb").scan(TableName="table")["Count"]
    expected = plan["totals"]["cost_usd"]["expected"]

    with pytest.raises(PlanDiffers, match=f"cost {expected:,.2f} USD, agreed to were {expected / 2:,.2f}"):
        plan_matrix.handler({**event_of(agreed=agreed | {"usd": expected / 2}), "run": "other"}, context)

    # The plan can be shown to whoever is asked again.
    assert json.loads(documents("runs/other/")["runs/other/plan.json"])["totals"] == plan["totals"]
    assert boto3.client("dynamodb").scan(TableName="table")["Count"] == rows
    plan_matrix.handler({**event_of(agreed=agreed), "run": "third"}, context)
    assert boto3.client("dynamodb").scan(TableName="table")["Count"] > rows
