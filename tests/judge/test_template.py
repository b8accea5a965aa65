"""The template, in either network, held against what AWS allows; part of `make lint`."""

import pytest
from judge import form, template

from local.corrections import yaml_template

SOURCE = yaml_template.load((template.ROOT / "template.yaml").read_text())


@pytest.mark.parametrize("network", template.NETWORKS)
def test_aws_refuses_nothing_of_the_templates_resources(network: str):
    resources = template.our_resources(network)

    assert len(resources) > 80
    assert template.refusals(resources) == []


@pytest.mark.parametrize(("characters", "refused"), [(76, set()), (77, {"RunStateMachine"})])
def test_a_stack_may_have_a_name_as_long_as_the_guide_says(monkeypatch, characters: int, refused: set[str]):
    """Of the names and policies that a stack's name is a part of, the state machine's name ends first."""
    monkeypatch.setitem(template.PSEUDO_PARAMETERS, "AWS::StackName", "s" * characters)
    given = template.NETWORKS["yours"]
    resources = template.Resolver(template.expanded(SOURCE, given), given).resources()

    assert {each.partition(".")[0] for each in template.refusals(resources)} == refused
    assert "has at most 76 characters" in (template.ROOT / "docs/aws.md").read_text()


def test_cloudformation_refuses_no_rule_of_the_template_before_and_after_its_transform():
    assert list(form.refusals(SOURCE)) == []
    assert list(form.refusals(template.expanded(SOURCE, {}))) == []


def test_a_roles_own_policies_and_those_attached_to_it_are_counted_together():
    """IAM's quota is for all inline policies of a role; each of these three is below it."""
    resources = dict(template.our_resources("yours"))
    statement = {
        "Effect": "Allow",
        "Action": "s3:GetObject",
        "Resource": ["arn:aws:s3:::a-bucket-with-a-name/key/*"] * 90,
    }
    document = {"Version": "2012-10-17", "Statement": [statement]}
    role = resources["InstanceShellPolicy"]["Properties"]["Roles"]
    for name in ("First", "Second"):
        properties = {"PolicyName": name, "Roles": role, "PolicyDocument": document}
        resources[name] = {"Type": "AWS::IAM::Policy", "Properties": properties}

    [refusal] = template.refusals(resources)

    assert refusal.startswith(f"{role[0]}: its 4 inline policies have ")
    assert refusal.endswith(", of 10,240")
