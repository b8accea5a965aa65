"""What EC2 refuses in a template, and neither cfn-lint nor moto."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from support.grants import TEMPLATE

from local.corrections.yaml_template import load

RESOURCES = load(TEMPLATE.read_text())["Resources"]
# EC2's API reference, IpRange and CreateSecurityGroup: a-z, A-Z, 0-9, spaces, and ._-:/()#,@[]+=&;{}!$*. A rule that
# names a group may not have the ampersand (UserIdGroupPair), so none of ours has.
EC2_DESCRIPTION = re.compile(r"[a-zA-Z0-9 ._\-:/()#,@\[\]+=;{}!$*]{1,255}")


FUNCTION = load(TEMPLATE.read_text())["Globals"]["Function"]
VCPU_MB = 1769  # "At 1,769 MB, a function has the equivalent of one vCPU" (Lambda guide, memory)
# What a mount asks for, by the FSx guide (file system access control with Amazon VPC): NFS 4 one port; NFS 3 also the
# port mapper and three of the mount daemon.
NFS_4, NFS_3 = {2049}, {2049, 111, 20001, 20002, 20003}


def descriptions(resources: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The text of each security group and each of its rules, with the logical id that it belongs to."""
    for name, resource in resources.items():
        properties = resource.get("Properties", {})
        if resource["Type"] == "AWS::EC2::SecurityGroup":
            yield name, properties["GroupDescription"]
            rules = [*properties.get("SecurityGroupIngress", []), *properties.get("SecurityGroupEgress", [])]
        elif resource["Type"] in ("AWS::EC2::SecurityGroupIngress", "AWS::EC2::SecurityGroupEgress"):
            rules = [properties]
        else:
            rules = []
        for rule in rules:
            yield name, rule["Description"]


def refused(resources: dict[str, Any]) -> list[tuple[str, str]]:
    """The descriptions that EC2 would refuse."""
    return [(name, text) for name, text in descriptions(resources) if not EC2_DESCRIPTION.fullmatch(text)]


def test_security_groups_and_their_rules_are_described_in_the_characters_that_ec2_has():
    assert len(list(descriptions(RESOURCES))) > 10
    assert refused(RESOURCES) == []


@pytest.mark.parametrize(
    "text",
    [
        "Signed packages of Ubuntu's mirrors", 'the "first" rule', "what? all", "a < b", "50%", "one|two", "~ports",
        "caf\u00e9", "NFS \u2013 from the fleet", "two\nlines", "tab\there", "up ^", "back\\slash", "`code`",
        "S3 & EFS", "", "x" * 256,
    ],
)  # fmt: skip
@pytest.mark.parametrize("place", ["group", "inline rule", "rule"])
def test_a_description_with_another_character_is_refused(text: str, place: str):
    rule = {"IpProtocol": "tcp", "FromPort": 1, "ToPort": 1, "CidrIp": "0.0.0.0/0"}
    resource = {
        "group": ("SecurityGroup", {"GroupDescription": text}),
        "inline rule": (
            "SecurityGroup",
            {"GroupDescription": "g", "SecurityGroupEgress": [rule | {"Description": text}]},
        ),
        "rule": ("SecurityGroupIngress", rule | {"Description": text}),
    }[place]

    assert refused({"Wrong": {"Type": f"AWS::EC2::{resource[0]}", "Properties": resource[1]}}) == [("Wrong", text)]


def ports(kind: str, group: str, **others: Any) -> set[int]:
    """The ports that rules of a group open, to or from what `others` name."""
    return {
        port
        for resource in RESOURCES.values()
        if resource["Type"] == f"AWS::EC2::SecurityGroup{kind}"
        for rule in [resource["Properties"]]
        if rule["GroupId"] == {"Ref": group} and others.items() <= rule.items()
        for port in range(rule["FromPort"], rule["ToPort"] + 1)
    }


@pytest.mark.parametrize(
    ("group", "needed"), [("FileSystemSecurityGroup", NFS_3 | NFS_4), ("FileServerSecurityGroup", {7575})]
)
def test_instances_reach_what_they_mount_and_nothing_else_of_it(group: str, needed: set[int]):
    fleet = "FleetSecurityGroup"

    assert ports("Egress", fleet, DestinationSecurityGroupId={"Ref": group}) == needed
    assert ports("Ingress", group, SourceSecurityGroupId={"Ref": fleet}) == needed


def test_instances_reach_the_endpoint_of_a_multi_az_file_system_in_either_vpc_by_any_version_of_nfs():
    addresses = {"Fn::If": ["CreateVpc", {"Ref": "VpcCidr"}, {"Ref": "MultiAzCidr"}]}

    assert ports("Egress", "FleetSecurityGroup", CidrIp=addresses) == NFS_3 | NFS_4
    variables = RESOURCES["PlanMatrixFunction"]["Properties"]["Environment"]["Variables"]
    assert variables["MULTI_AZ_CIDR"] == {"Fn::If": ["HasMultiAz", addresses, ""]}, "plans without are refused"


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
