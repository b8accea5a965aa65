"""The definition and the template by themselves: what `sam validate` does not see."""

import importlib
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from cloud.roles.policies import Permission, decide
from judge.template import ACCOUNT, ARNS, NETWORKS, made_up_name, our_resources

from local.corrections.yaml_template import load
from matrix.terms.errors import Throttled

ROOT = Path(__file__).parents[2]
DEFINITION = load((ROOT / "statemachine/run.asl.yaml").read_text())


class CloudFormationLoader(yaml.CSafeLoader):
    """YAML with CloudFormation's short tags, whose values are all that these tests look at."""


CloudFormationLoader.add_multi_constructor(
    "!", lambda loader, _tag, node: loader.construct_object(_untagged(node), deep=True)
)


def _untagged(node: yaml.Node) -> yaml.Node:
    kinds = {yaml.ScalarNode: "str", yaml.SequenceNode: "seq", yaml.MappingNode: "map"}
    return type(node)(f"tag:yaml.org,2002:{kinds[type(node)]}", node.value)


TEMPLATE = yaml.load((ROOT / "template.yaml").read_text(), CloudFormationLoader)


def machines(definition: dict[str, Any], name: str = "the run") -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the definition and each one nested in its Maps."""
    yield name, definition
    for state_name, state in definition["States"].items():
        if "ItemProcessor" in state:
            yield from machines(state["ItemProcessor"], state_name)


MACHINES = dict(machines(DEFINITION))
STATES = {name: state for machine in MACHINES.values() for name, state in machine["States"].items()}
# AWS's reference of managed policies, version 1, read November 2026.
BASIC_ARN = "arn:aws:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole"
BASIC = {"Statement": [{
    "Effect": "Allow", "Action": ["logs:CreateLogGroup", "logs:CreateLogStream", "logs:PutLogEvents"], "Resource": "*",
}]}  # fmt: skip
TASKS = {name: state for name, state in STATES.items() if state["Type"] == "Task"}
DELETIONS = ("Stop fleet", "Delete file system", "Check deleted")


def test_nothing_of_aws_ends_a_run_before_the_latest_deadline_that_a_matrix_may_have():
    most_hours = importlib.import_module("matrix.input.matrix").MAX_HOURS
    rules = TEMPLATE["Resources"]["DataBucket"]["Properties"]["LifecycleConfiguration"]["Rules"]
    [kept_days] = [rule["ExpirationInDays"] for rule in rules if "ExpirationInDays" in rule]

    # A time-out runs no Catch: its results would never be analysed. A day is for the clean-up and the analysis.
    assert DEFINITION["TimeoutSeconds"] >= (most_hours + 24) * 3600
    assert kept_days * 24 > most_hours


@pytest.mark.parametrize("name", TASKS)
def test_a_task_waits_for_its_function_to_end_and_not_much_longer(name):
    function = TASKS[name]["Arguments"]["FunctionName"].strip("${}")
    common = TEMPLATE["Globals"]["Function"]
    function_s = TEMPLATE["Resources"][function]["Properties"].get("Timeout", common["Timeout"])

    # Earlier, it would be called again while it still runs; without a limit, the task would wait as long as the run.
    assert function_s + 60 <= TASKS[name]["TimeoutSeconds"] <= 900 + 60


def test_no_state_names_a_partition_of_its_own():
    # "The resource belongs to a different partition from the running execution": States.Runtime, which nothing catches.
    assert {state["Resource"].split(":")[1] for state in TASKS.values()} == {"${Partition}"}
    assert TEMPLATE["Resources"]["RunStateMachine"]["Properties"]["DefinitionSubstitutions"]["Partition"] == (
        "AWS::Partition"
    )


@pytest.mark.parametrize("name", TASKS)
def test_a_task_retries_nothing_but_what_lambda_or_the_network_did(name):
    retry, *others = TASKS[name]["Retry"][name in DELETIONS :]

    of_lambda = set(retry["ErrorEquals"]) - {"States.Timeout"}
    assert all(error.startswith(("Lambda.", "Sandbox.", "Runtime.")) for error in of_lambda)
    # A new account has ten concurrent calls: those beyond are throttled, and tried again for about a minute.
    assert ("Lambda.TooManyRequestsException" in retry["ErrorEquals"]) is (name not in DELETIONS)
    assert 45 < longest_s(retry) < 90
    # Before anything exists, a denial may be that of a role that was granted its rights just now.
    denials = [["NotGranted", "Lambda.AccessDeniedException"]] if name == "Plan matrix" else []
    assert [other["ErrorEquals"] for other in others] == denials


@pytest.mark.parametrize("name", DELETIONS)
def test_a_deletion_outlasts_the_throttling_of_a_small_account(name):
    """Nobody else ends the fleet or file system of a run that goes on: it would cost until the run ends."""
    throttled = TASKS[name]["Retry"][0]

    assert throttled["ErrorEquals"] == ["Lambda.TooManyRequestsException", Throttled.__name__]
    assert 30 * 60 < longest_s(throttled) < 60 * 60


def longest_s(retry: dict[str, Any]) -> float:
    """The pauses of a retrier together, of each of which the jitter may take any part."""
    pauses_s = [retry["IntervalSeconds"] * retry["BackoffRate"] ** n for n in range(retry["MaxAttempts"])]
    assert retry["JitterStrategy"] == "FULL"
    return sum(min(pause_s, retry["MaxDelaySeconds"]) for pause_s in pauses_s)


def test_planning_waits_for_grants_that_iam_says_may_take_seconds():
    _, denied = TASKS["Plan matrix"]["Retry"]
    pauses_s = [denied["IntervalSeconds"] * denied["BackoffRate"] ** n for n in range(denied["MaxAttempts"])]

    assert 10 < sum(pauses_s) < 60


def test_a_choice_has_a_default_as_no_match_would_end_the_run_without_its_clean_up():
    choices = {name: state for name, state in STATES.items() if state["Type"] == "Choice"}

    assert choices
    assert [name for name, state in choices.items() if "Default" not in state] == []


def test_every_failure_once_a_file_system_exists_leads_to_its_deletion():
    states = MACHINES["Each file system"]["States"]
    caught = {
        name: [rule["Next"] for rule in state["Catch"] if rule["ErrorEquals"] == ["States.ALL"]]
        for name, state in states.items()
        if state["Type"] in ("Task", "Map")
    }

    ends = {
        "Record failed file system": "Delete file system",
        "Delete file system": "Record failed deletion",
        "Check deleted": "Record failed deletion",
        "Record failed deletion": "File system left behind",
    }
    for name, following in caught.items():
        assert following == [ends.get(name, "Record failed file system")], name
    assert states["Record failed file system"]["Next"] == "Delete file system"
    assert states["Record failed deletion"]["Next"] == "File system left behind"


def test_every_error_of_ours_that_the_definition_names_exists():
    errors = importlib.import_module("matrix.terms.errors")
    named = {error for state in STATES.values() for rule in state.get("Catch", []) for error in rule["ErrorEquals"]}

    assert {error for error in named if "." not in error} <= set(dir(errors))


def test_cfn_lint_accepts_the_definition_as_a_state_machine(tmp_path):
    # Behind DefinitionUri cfn-lint does not look; inside the template it knows the language.
    wrapped = {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Resources": {
            "Run": {
                "Type": "AWS::StepFunctions::StateMachine",
                "Properties": {
                    "RoleArn": "arn:aws:iam::123456789012:role/run",
                    # Its pattern of an ARN knows no substitution.
                    "Definition": json.loads(json.dumps(DEFINITION).replace("${Partition}", "aws")),
                    "DefinitionSubstitutions": dict.fromkeys(
                        TEMPLATE["Resources"]["RunStateMachine"]["Properties"]["DefinitionSubstitutions"],
                        "arn:aws:lambda:eu-west-1:123456789012:function:f",
                    )
                    | {"Partition": "aws"},
                },
            }
        },
    }
    (tmp_path / "wrapped.json").write_text(json.dumps(wrapped))

    done = subprocess.run(
        [Path(sys.executable).with_name("cfn-lint"), tmp_path / "wrapped.json"], capture_output=True, text=True
    )

    # Its schema lacks that MaxConcurrency, like all but a few fields of a Map, may be an expression in JSONata.
    findings = [line for line in done.stdout.splitlines() if re.match(r"[EWI]\d{4} ", line)]
    assert [line for line in findings if "max_concurrent_file_systems" not in line] == []


@pytest.mark.parametrize("network", NETWORKS)
def test_each_function_has_a_role_of_its_own_that_may_write_into_the_log_group_of_the_stack_and_into_no_other(network):
    """SAM's own policy allows more than that, and a denial wins (IAM guide, policy evaluation logic)."""
    made = our_resources(network)
    known = {BASIC_ARN: BASIC} | {
        ARNS[each["Type"]].format(
            account=ACCOUNT, path=each["Properties"].get("Path", "/"), name=made_up_name(each["Type"], name)
        ): each["Properties"]["PolicyDocument"]
        for name, each in made.items()
        if each["Type"] == "AWS::IAM::ManagedPolicy"
    }
    documents = {
        made_up_name("AWS::IAM::Role", name): [
            *(policy["PolicyDocument"] for policy in role["Properties"].get("Policies", ())),
            *(known[arn] for arn in role["Properties"].get("ManagedPolicyArns", ())),
        ]
        for name, role in made.items()
        if role["Type"] == "AWS::IAM::Role"
    }
    functions = [each["Properties"] for each in made.values() if each["Type"] == "AWS::Lambda::Function"]

    assert len(functions) == len({function["Role"] for function in functions}) > 15
    assert all("LoggingConfig" not in each.get("Properties", {}) for each in TEMPLATE["Resources"].values())
    for function in functions:
        own = f"arn:aws:logs:eu-west-1:123456789012:log-group:{function['LoggingConfig']['LogGroup']}"
        allowed = {
            (action, group)
            for action in ("CreateLogGroup", "CreateLogStream", "PutLogEvents", "DeleteLogGroup", "GetLogEvents")
            for group in (f"{own}:*", f"{own}:log-stream:a", f"{own}-2:log-stream:a", "arn:aws:logs:eu-west-1:1:a")
            if decide(documents[function["Role"].rpartition("/")[2]], Permission(f"logs:{action}", group), {})
            == "allow"
        }
        assert allowed == {
            (action, group)
            for action in ("CreateLogStream", "PutLogEvents")
            for group in (f"{own}:*", f"{own}:log-stream:a")
        }


def test_results_outlive_the_stack_encrypted_and_private():
    bucket, table = TEMPLATE["Resources"]["ResultsBucket"], TEMPLATE["Resources"]["ResultsTable"]

    # A first deployment that fails shall leave neither; a deleted stack leaves both (CloudFormation, DeletionPolicy).
    assert bucket["DeletionPolicy"] == table["DeletionPolicy"] == "RetainExceptOnCreate"
    assert bucket["UpdateReplacePolicy"] == table["UpdateReplacePolicy"] == "Retain"
    assert "BucketEncryption" in bucket["Properties"]
    # S3 blocks public access to a new bucket and knows no ACL of it, unless it is told otherwise (since April 2023).
    for each in TEMPLATE["Resources"].values():
        if each["Type"] == "AWS::S3::Bucket":
            assert {"PublicAccessBlockConfiguration", "OwnershipControls", "AccessControl"}.isdisjoint(
                each["Properties"]
            )
    assert bucket["Properties"]["VersioningConfiguration"]["Status"] == "Enabled"
    # DynamoDB always encrypts; SSEEnabled takes a key of KMS, whose requests cost money (SSESpecification).
    assert table["Properties"]["SSESpecification"][::2] == ["HasKmsKey", "AWS::NoValue"]
    assert table["Properties"]["PointInTimeRecoverySpecification"]["PointInTimeRecoveryEnabled"] is True
    assert table["Properties"]["BillingMode"] == "PAY_PER_REQUEST"


def test_instances_have_no_port_open_but_to_lustre_no_key_and_only_the_safe_metadata_service():
    resources = TEMPLATE["Resources"]
    template = dict(resources["FleetLaunchTemplate"]["Properties"]["LaunchTemplateData"])

    ways_in = [
        resource["Properties"] for resource in resources.values() if resource["Type"].endswith("SecurityGroupIngress")
    ] + [
        way | {"GroupId": name}
        for name, resource in resources.items()
        if resource["Type"].endswith("::SecurityGroup")
        for way in resource["Properties"].get("SecurityGroupIngress", [])
    ]
    # NFS, and what NFS 3 asks before it mounts: the port mapper and FSx's mount daemon. And our own file servers. Only
    # the servers of Lustre call back. Servers of OpenZFS and Lustre reach each other.
    lustre = {(988, 988), (1018, 1023)}
    ports = {
        "FileSystemSecurityGroup": {(2049, 2049), (111, 111), (20001, 20003), *lustre},
        "FileServerSecurityGroup": {(7575, 7575)},
        "FleetSecurityGroup": lustre,
        "ConnectedSecurityGroup": {(1024, 65535)},
    }
    for group, allowed in ports.items():
        assert {(way["FromPort"], way["ToPort"]) for way in ways_in if way["GroupId"] == group} == allowed
    assert {way["GroupId"] for way in ways_in} == set(ports)
    callers = {
        "FleetSecurityGroup": {"FileSystemSecurityGroup"},
        "FileServerSecurityGroup": {"FleetSecurityGroup"},
        "ConnectedSecurityGroup": {"ConnectedSecurityGroup"},
    }
    for way in ways_in:
        allowed = callers.get(way["GroupId"], {"FleetSecurityGroup", "FileSystemSecurityGroup"})
        assert way["SourceSecurityGroupId"] in allowed
        if way["SourceSecurityGroupId"] == "FileSystemSecurityGroup":
            among = {(2049, 2049)} if way["GroupId"] == "FileSystemSecurityGroup" else set()
            assert (way["FromPort"], way["ToPort"]) in lustre | among
    server = dict(resources["FileServerLaunchTemplate"]["Properties"]["LaunchTemplateData"])
    assert server.pop("SecurityGroupIds") == ["FleetSecurityGroup", "FileServerSecurityGroup"]
    assert template.pop("SecurityGroupIds") == ["FleetSecurityGroup"]
    assert server == template
    # One hop: what runs in a container of an instance has no way to its credentials.
    assert template["MetadataOptions"] == {
        "HttpTokens": "required",
        "HttpPutResponseHopLimit": 1,
        "HttpEndpoint": "enabled",
    }
    assert template["InstanceInitiatedShutdownBehavior"] == "terminate"
    assert "KeyName" not in template
