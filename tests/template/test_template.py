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
