"""What the template gives functions and instances: processors, time, ports and zones."""

import json
import re
import tomllib
from typing import Any

import pytest
import yaml
from judge.template import NETWORKS, our_resources
from support.grants import TEMPLATE, granted
from support.partitions import regions

from aws.ec2 import instances
from aws.fleet import launching
from local.corrections.yaml_template import load
from matrix.terms.keys import RUN_PATTERN

DOCUMENT = load(TEMPLATE.read_text())
RESOURCES = DOCUMENT["Resources"]
FUNCTION = DOCUMENT["Globals"]["Function"]
VCPU_MB = 1769  # "At 1,769 MB, a function has the equivalent of one vCPU" (Lambda guide, memory)


def test_plans_with_a_multi_az_file_system_are_refused_where_its_addresses_are_not_let_out():
    addresses = {"Fn::If": ["CreateVpc", {"Ref": "VpcCidr"}, {"Ref": "MultiAzCidr"}]}

    variables = RESOURCES["PlanMatrixFunction"]["Properties"]["Environment"]["Variables"]
    assert variables["MULTI_AZ_CIDR"] == {"Fn::If": ["HasMultiAz", addresses, ""]}


@pytest.mark.parametrize("function", ["PollFleetFunction", "PollCacheFunction"])
def test_a_poll_has_the_processor_and_the_time_to_list_what_the_largest_fleet_has_written(function: str):
    properties = FUNCTION | RESOURCES[function]["Properties"]
    # 1,000 instances x (60 steps x 3 objects + 4), 1,000 to a page; 0.25 s of a vCPU and 0.2 s of waiting for each.
    listing_s = 1_000 * (60 * 3 + 4) / 1_000 * (0.25 * VCPU_MB / min(properties["MemorySize"], VCPU_MB) + 0.2)

    assert properties["Timeout"] > 2 * listing_s, "a failed poll lists twice"


@pytest.mark.parametrize("function", ["LaunchFleetFunction", "StopFleetFunction", "DeleteFileSystemFunction"])
def test_what_writes_a_row_for_each_resource_of_a_fleet_has_the_time_to(function: str):
    properties = FUNCTION | RESOURCES[function]["Properties"]
    writing_s = 1_000 * (1 + 8) * 0.02  # instances with 8 volumes; a row written in 20 ms

    assert properties["Timeout"] > 2 * writing_s


def test_what_launches_has_the_time_to_wait_for_ending_instances():
    launching_roles = {grant.role for grant in granted() if grant.action == "ec2:RunInstances"}
    waits_s = sum(instances.ENDING_PAUSES_S) + sum(instances.PENDING_PAUSES_S) + sum(launching.PAUSES_S)
    timeouts = {
        name: (FUNCTION | resource["Properties"])["Timeout"]
        for name, resource in RESOURCES.items()
        if resource["Type"] == "AWS::Serverless::Function" and f"{name}Role" in launching_roles
    }

    assert len(timeouts) == 4
    assert {name: most for name, most in timeouts.items() if most < waits_s + 120} == {}


def test_every_function_has_the_memory_to_import_its_packages_in_lambdas_ten_seconds():
    # 2.7 s of a whole vCPU at the most, measured; the share of one grows with the memory.
    sizes = {
        name: (FUNCTION | resource["Properties"])["MemorySize"]
        for name, resource in RESOURCES.items()
        if resource["Type"] == "AWS::Serverless::Function"
    }

    assert {name: size for name, size in sizes.items() if 2.7 * VCPU_MB / size > 5} == {}


def test_the_subnets_of_the_stacks_own_vpc_are_in_the_zones_that_the_user_names_else_in_the_first_three():
    zones = {"Fn::If": ["NamesZones", {"Ref": "AvailabilityZones"}, {"Fn::GetAZs": ""}]}
    subnets = [RESOURCES[f"Subnet{letter}"]["Properties"]["AvailabilityZone"] for letter in "ABC"]

    assert subnets == [{"Fn::Select": [number, zones]} for number in range(3)]


def holds(node: Any, values: dict[str, Any]) -> Any:
    """Return what CloudFormation makes of an assertion of a rule, for these parameters."""
    if not isinstance(node, dict):
        return [holds(each, values) for each in node] if isinstance(node, list) else node
    [(function, arguments)] = node.items()
    if function == "Ref":
        return values[arguments]
    given = holds(arguments, values)
    functions = {
        "Fn::Not": lambda: not given[0],
        "Fn::And": lambda: all(given),
        "Fn::Or": lambda: any(given),
        "Fn::Equals": lambda: given[0] == given[1],
        "Fn::Contains": lambda: given[1] in given[0],
    }
    return functions[function]()


def refused(**values: Any) -> list[str]:
    """Return why a deployment with these parameters is refused."""
    given = {
        "VpcId": "", "SubnetIds": [""], "AWS::Region": "eu-central-1", "Schedule": "", "ScheduledMatrix": "",
    } | values  # fmt: skip
    return [
        assertion["AssertDescription"]
        for rule in DOCUMENT["Rules"].values()
        for assertion in rule["Assertions"]
        if not holds(assertion["Assert"], given)
    ]


def test_a_region_of_another_partition_is_refused_at_deployment():
    for region, partition in regions().items():
        reasons = refused(**{"AWS::Region": region})
        assert bool(reasons) is (partition != "aws"), region
        assert all("regions of the partition aws only" in reason for reason in reasons)


def test_a_network_that_is_given_in_part_is_refused_at_deployment():
    whole = {"VpcId": "vpc-1", "SubnetIds": ["subnet-1", "subnet-2"]}

    assert refused() == refused(**whole) == []
    for part in ({"VpcId": "vpc-1"}, {"SubnetIds": ["subnet-1"]}):
        assert refused(**part) == ["Give both VpcId and SubnetIds, or neither"]


def test_a_schedule_without_a_matrix_or_a_matrix_without_a_schedule_is_refused_at_deployment():
    whole = {"Schedule": "rate(1 day)", "ScheduledMatrix": "nightly"}

    assert refused(**whole) == []
    for part, value in whole.items():
        assert refused(**{part: value}) == ["Give both Schedule and ScheduledMatrix, or neither"]


def test_without_a_schedule_nothing_of_it_is_made_and_with_one_it_starts_only_the_state_machine():
    own, made = our_resources("own"), our_resources("yours")
    target = made["RunSchedule"]["Properties"]["Target"]
    [right] = made["ScheduleRole"]["Properties"]["Policies"][0]["PolicyDocument"]["Statement"]

    assert [name for name in own if "Schedule" in name and not name.startswith("ReapFunction")] == []
    request = json.loads(target["Input"])
    assert (right["Action"], right["Resource"]) == ("states:StartExecution", request["StateMachineArn"])
    assert target["Arn"] == "arn:aws:scheduler:::aws-sdk:sfn:startExecution"
    assert json.loads(request["Input"]) == {
        "scheduled": {"matrix": "nightly", "at": "<aws.scheduler.scheduled-time>", "baseline": "nightly"}
    }
    assert made["RunSchedule"]["Properties"]["ScheduleExpressionTimezone"] == "Europe/Berlin"


def test_a_scheduled_run_has_a_name_for_each_delivery_that_is_one_of_a_run_and_of_an_execution():
    request = json.loads(our_resources("yours")["RunSchedule"]["Properties"]["Target"]["Input"])
    longest = re.search(r"\{0,(\d+)\}", DOCUMENT["Parameters"]["ScheduledMatrix"]["AllowedPattern"])
    assert longest
    names = [
        request["Name"].replace("nightly", "n" * (1 + int(longest[1]))).replace("<aws.scheduler.execution-id>", each)
        # As AWS's guide has one, and as long as a UUID.
        for each in ("d32c5kddcf5bb8c3", "28ae6f0b-5e5c-4a1d-9b0e-d32c5kddcf5b")
    ]

    assert len({*names}) == 2
    assert [name for name in names if not re.fullmatch(RUN_PATTERN, name)] == []


def test_the_template_is_yaml_that_cloudformation_reads_by_itself():
    """It supports neither aliases nor merged mappings (CloudFormation guide, template formats); sam expands both."""
    events = list(yaml.parse(TEMPLATE.read_text(), Loader=yaml.CSafeLoader))

    assert [event.start_mark.line + 1 for event in events if isinstance(event, yaml.AliasEvent)] == []
    assert [event.start_mark.line + 1 for event in events if getattr(event, "value", "") == "<<"] == []


ROLES = ("AWS::IAM::Role", "AWS::IAM::InstanceProfile", "AWS::IAM::ManagedPolicy")


@pytest.mark.parametrize("network", NETWORKS)
def test_every_role_has_the_boundary_and_the_path_of_the_parameters_and_without_them_neither(network: str):
    """Also those that the SAM transform would make by itself, and in what passes or names a role by its ARN."""
    given = NETWORKS[network]
    made = our_resources(network)
    roles = {name: resource["Properties"] for name, resource in made.items() if resource["Type"] in ROLES}
    bounded = {name: each for name, each in roles.items() if made[name]["Type"] == "AWS::IAM::Role"}

    assert len(bounded) > 15
    assert {each.get("Path") for each in roles.values()} == {given.get("RolePath")}
    assert {each.get("PermissionsBoundary") for each in bounded.values()} == {given.get("PermissionsBoundaryArn")}
    path = given.get("RolePath", "/")
    assert made["CheckFileSystemFunction"]["Properties"]["Environment"]["Variables"]["INSTANCE_ROLE_ARN"].startswith(
        f"arn:aws:iam::123456789012:role{path}storage-matrix-InstanceRole"
    )


def test_no_right_names_a_role_of_the_stack_by_an_arn_that_lacks_the_path():
    """`Fn::GetAtt` has it; a text such as `role/${InstanceRole}` would match only without a path."""
    named = [line.strip() for line in TEMPLATE.read_text().splitlines() if ":role/" in line]

    assert [line for line in named if "role/aws-service-role/" not in line] == []


@pytest.mark.parametrize(
    ("parameter", "value", "is_taken"),
    [
        ("RolePath", "", True),
        ("RolePath", "/", True),
        ("RolePath", "/a/b/", True),
        ("RolePath", "a/", False),
        ("RolePath", "/a", False),
        ("PermissionsBoundaryArn", "", True),
        ("PermissionsBoundaryArn", "arn:aws:iam::123456789012:policy/a/b", True),
        ("PermissionsBoundaryArn", "arn:aws:iam::aws:policy/PowerUserAccess", True),
        ("PermissionsBoundaryArn", "arn:aws:iam::123456789012:role/a", False),
        ("PermissionsBoundaryArn", "boundary", False),
    ],
)
def test_a_boundary_and_a_path_that_iam_does_not_take_are_refused_at_deployment(parameter, value, is_taken):
    pattern = DOCUMENT["Parameters"][parameter]["AllowedPattern"]

    assert bool(re.search(pattern, value)) is is_taken


@pytest.mark.parametrize("network", NETWORKS)
def test_all_that_keeps_data_is_encrypted_by_the_key_of_the_parameter_and_without_it_by_awss_own(network: str):
    key, made = NETWORKS[network].get("KmsKeyArn"), our_resources(network).values()

    def properties(kind: str) -> list[dict[str, Any]]:
        return [resource["Properties"] for resource in made if resource["Type"] == kind]

    logs, buckets = properties("AWS::Logs::LogGroup"), properties("AWS::S3::Bucket")
    assert len(logs) == 2
    assert {each.get("KmsKeyId") for each in logs} == {key}
    rules = [each["BucketEncryption"]["ServerSideEncryptionConfiguration"][0] for each in buckets]
    assert {rule["ServerSideEncryptionByDefault"].get("KMSMasterKeyID") for rule in rules} == {key}
    assert {rule.get("BucketKeyEnabled") for rule in rules} == {True if key else None}
    [table] = properties("AWS::DynamoDB::Table")
    assert table.get("SSESpecification", {}).get("KMSMasterKeyId") == key
    launching = ("BakeImages", "CreateFileSystem", "PopulateCache", "LaunchFleet")
    functions = [our_resources(network)[f"{name}Function"]["Properties"] for name in launching]
    assert {each["Environment"]["Variables"]["KMS_KEY_ARN"] for each in functions} == {key or ""}


def test_no_role_has_a_right_of_kms_but_on_the_key_of_the_parameter_and_through_one_service():
    made = our_resources("yours").values()
    kinds = ("AWS::IAM::Role", "AWS::IAM::Policy", "AWS::IAM::ManagedPolicy")
    policies = [resource["Properties"] for resource in made if resource["Type"] in kinds]
    documents = [
        each["PolicyDocument"]
        for one in policies
        for each in (one.get("Policies", []) if "AssumeRolePolicyDocument" in one else [one])
    ]
    statements = [each for document in documents for each in document["Statement"]]
    of_key = [each for each in statements if "kms:" in str(each["Action"])]

    assert len(of_key) >= 6
    assert {each["Resource"] for each in of_key} == {NETWORKS["yours"]["KmsKeyArn"]}
    assert all("kms:ViaService" in each["Condition"]["StringEquals"] for each in of_key)
    [file_systems] = [each for each in of_key if each["Sid"] == "EncryptFileSystems"]
    by = {each.partition(".")[0] for each in file_systems["Condition"]["StringEquals"]["kms:ViaService"]}
    assert by == {"elasticfilesystem", "fsx", "s3files"}, "each service in which a run makes file systems with the key"
    alone = our_resources("own").values()
    assert "kms:" not in str([resource["Properties"] for resource in alone if resource["Type"] in kinds])


def test_the_serverless_application_repository_would_take_the_metadata():
    """Limits of the SAR developer guide, "AWS SAM template Metadata section properties"."""
    metadata = DOCUMENT["Metadata"]["AWS::ServerlessRepo::Application"]
    project = tomllib.loads(TEMPLATE.with_name("pyproject.toml").read_text())["project"]

    assert metadata["SemanticVersion"] == project["version"]
    assert 1 <= len(metadata["Description"]) <= 256
    assert len(metadata["Labels"]) <= 10
    assert all(re.fullmatch(r"[a-zA-Z0-9+\-_:/@]{1,127}", label) for label in metadata["Labels"])
    assert [
        name for name in (metadata["LicenseUrl"], metadata["ReadmeUrl"]) if not TEMPLATE.with_name(name).is_file()
    ] == []
