"""Verifying an account: what each step says of a good one, and of each way in which one can be broken."""

import io
import json
import re
import zipfile
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
from judge import definition
from support.grants import granted
from support.refusals import refusal, refusing

from cli.messages.errors import CommandError, ExitCode
from cli.target.deployment import Deployment
from cli.verify import (
    deployed,
    expectations,
    limits,
    measurements,
    pages,
    permissions,
    steps,
)
from cli.verify.checks import Verdict, required
from cli.verify.expectations import Evidence
from cli.verify.stack import SOURCES, Stack
from cli.verify.steps import Step
from local.corrections import yaml_template

OUTPUTS = {"StateMachineArn": "arn:aws:states:eu-west-1:111122223333:stateMachine:mine-run", "BucketName": "results"}
PLAN = replace(measurements.FLEET, counts=(4,)).planned("eu-west-1").plan
[CELL] = PLAN["cells"]


class Account(Deployment):
    """A deployment whose clients answer as told."""

    def client(self, service):
        """The answers of one service."""
        return self.endpoint[service]


def stack(outputs=OUTPUTS, sources=SOURCES, **answers):
    """The stack `mine`; each answer is a service with its operations."""
    services = {
        "cloudformation": described() | resources("LaunchFleetFunction", "LaunchFleetFunctionRole", "ResultsBucket"),
        "lambda": {"get_function_configuration": lambda **_: {
            "Environment": {"Variables": {"SUBNET_IDS": "subnet-a,subnet-b", "LAUNCH_TEMPLATE_ID": "lt-1"}}}},
    }  # fmt: skip
    for service, operations in answers.items():
        services[service] = {**services.get(service, {}), **operations}
    clients = {service: SimpleNamespace(**operations) for service, operations in services.items()}
    return Stack(Account("aws", "mine", "eu-west-1", clients, outputs), sources)


def described(**parameters):
    """CloudFormation's answer about a stack with these parameters."""
    listed = [{"ParameterKey": name, "ParameterValue": value} for name, value in parameters.items()]
    return {"describe_stacks": lambda **_: {"Stacks": [{"Parameters": listed}]}}


def resources(*names):
    """Its answer about the resources of the stack."""
    listed = [{"LogicalResourceId": name, "PhysicalResourceId": f"mine-{name}-1"} for name in names]
    pages = SimpleNamespace(paginate=lambda **_: [{"StackResourceSummaries": listed}])
    return {"get_paginator": lambda _: pages}


def validating(result, *diagnostics, partition="aws"):
    """Step Functions, which judges each definition so."""
    answer = {"result": result, "diagnostics": list(diagnostics), "truncated": False}
    validate = Mock(return_value=answer)
    return {"validate_state_machine_definition": validate, "meta": SimpleNamespace(partition=partition)}


def broken(checks):
    """What is broken, by what it is about."""
    return {check.what: check for check in checks if check.verdict is Verdict.BROKEN}


def other(checks):
    """What differs from what is assumed."""
    return {check.what: check for check in checks if check.verdict is Verdict.DIFFERS}


# --- definition -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("partition", ["aws", "aws-us-gov"])
def test_the_definition_is_asked_about_with_an_arn_in_each_place_that_the_template_fills(partition):
    answers = validating("OK", partition=partition)

    checks = deployed.definition(stack(stepfunctions=answers))

    assert broken(checks) == {}
    asked = answers["validate_state_machine_definition"].call_args.kwargs["definition"]
    assert "${" not in asked
    assert f"arn:{partition}:lambda:eu-west-1:123456789012:function:LaunchFleetFunction" in asked
    assert f'"arn:{partition}:states:::lambda:invoke"' in asked
    assert definition.problems(json.loads(asked)) == []


def test_a_definition_that_aws_would_refuse_is_broken_with_its_diagnostics():
    problem = {"severity": "ERROR", "code": "SCHEMA_VALIDATION_FAILED", "location": "/States/x", "message": "run twice"}

    checks = deployed.definition(stack(stepfunctions=validating("FAIL", problem)))

    [check] = broken(checks).values()
    assert "SCHEMA_VALIDATION_FAILED at /States/x: run twice" in check.seen


# --- deployed ---------------------------------------------------------------------------------------------------------


def packed(folder, **changed):
    """A folder as `sam package` uploads it; None for a file leaves it out."""
    files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*.*") if path.is_file()}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in {**files, **changed}.items():
            if content is not None:
                archive.writestr(name, content)
    return buffer.getvalue()


@pytest.fixture
def tree(tmp_path):
    """A small tree with a template, a function, an agent and a definition."""
    for path, text in {
        "template.yaml": """
            Globals: {Function: {CodeUri: functions/, MemorySize: 1024}}
            Resources:
              PlanMatrixFunction:
                {Type: 'AWS::Serverless::Function', Properties: {Timeout: 60, Role: !GetAtt Role.Arn}}
              AgentLayer: {Type: 'AWS::Serverless::LayerVersion', Properties: {ContentUri: agent/}}
              RunStateMachine:
                {Type: 'AWS::Serverless::StateMachine', Properties: {DefinitionUri: statemachine/run.asl.yaml}}
        """,
        "functions/plan_matrix.py": "PLAN = 1\n", "functions/matrix/prices.json": "{}",
        "agent/session.py": "LEAD = 1\n",
        "statemachine/run.asl.yaml": '{"StartAt": "Plan matrix"}',
    }.items():  # fmt: skip
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    return tmp_path


def of_tree(tree, change=lambda _: None, **objects):
    """The checks of a stack deployed from a tree, with changes of template and uploaded objects."""
    template = yaml_template.load((tree / "template.yaml").read_text())
    template["Globals"]["Function"].pop("CodeUri")
    resources = template["Resources"]
    resources["PlanMatrixFunction"] |= {"Metadata": {"SamResourceId": "PlanMatrixFunction"}}
    resources["PlanMatrixFunction"]["Properties"]["CodeUri"] = "s3://artifacts/functions"
    resources["AgentLayer"]["Properties"]["ContentUri"] = {"Bucket": "artifacts", "Key": "agent"}
    resources["RunStateMachine"]["Properties"]["DefinitionUri"] = "s3://artifacts/definition"
    change(template)
    stored = {
        "functions": packed(tree / "functions"), "agent": packed(tree / "agent"),
        "definition": (tree / "statemachine/run.asl.yaml").read_bytes(), **objects,
    }  # fmt: skip
    return list(deployed.checks(stack(
        sources=tree,
        cloudformation={"get_template": lambda **_: {"TemplateBody": json.dumps(template)}},
        s3={"get_object": lambda **request: {"Body": io.BytesIO(stored[request["Key"]])}},
    )))  # fmt: skip


def test_only_a_template_that_was_changed_is_named_by_the_path_of_each_change(tree):
    def change(template):
        template["Globals"]["Function"]["MemorySize"] = 512
        template["Resources"]["Extra"] = {"Type": "AWS::SNS::Topic"}
        del template["Resources"]["PlanMatrixFunction"]["Properties"]["Role"]

    assert {check.verdict for check in of_tree(tree)} == {Verdict.AS_ASSUMED}
    [check] = broken(of_tree(tree, change)).values()

    for path in ("Globals.Function.MemorySize", "Resources.Extra", "Resources.PlanMatrixFunction.Properties.Role"):
        assert path in check.seen


def test_code_of_another_tree_is_named_by_its_files(tree):
    stale = packed(tree / "functions", **{"plan_matrix.py": b"PLAN = 0\n", "matrix/prices.json": None})
    definition_of_old = b'{"StartAt": "Old"}'

    found = broken(of_tree(tree, functions=stale, definition=definition_of_old))

    assert found["functions"].seen == "matrix/prices.json is not deployed; plan_matrix.py differs"
    assert found["statemachine/run.asl.yaml"].seen == 'StartAt: "Plan matrix" here, "Old" deployed'


# --- limits -----------------------------------------------------------------------------------------------------------


def limited(
    vcpus=32.0, concurrency=1000.0, offered=("eu-west-1a", "eu-west-1b"),
    plan=lambda: {"accountPlanType": "PAID"},
    public_access=lambda: {"VpcBlockPublicAccessOptions": {"InternetGatewayBlockMode": "off"}},
    routes=({"DestinationCidrBlock": "0.0.0.0/0", "NatGatewayId": "nat-1"},), endpoints=(),
):  # fmt: skip
    """The checks of an account."""
    values = {"L-1216C47A": vcpus, "L-B99A9384": concurrency}
    types = [{"InstanceType": measurements.INSTANCE_TYPE, "VCpuInfo": {"DefaultVCpus": 1}}]
    zones = [{"SubnetId": f"subnet-{zone}", "VpcId": "vpc-1", "AvailabilityZone": f"eu-west-1{zone}"} for zone in "ba"]
    table = {"RouteTableId": "rtb-1", "VpcId": "vpc-1", "Associations": [{"Main": True}], "Routes": list(routes)}
    pages = {
        "describe_route_tables": [{"RouteTables": [table]}],
        "describe_vpc_endpoints": [{"VpcEndpoints": list(endpoints)}],
    }
    return list(limits.checks(stack(
        ec2={
            "describe_instance_types": lambda **_: {"InstanceTypes": types},
            "describe_subnets": lambda **_: {"Subnets": zones},
            "get_paginator": lambda call: SimpleNamespace(paginate=lambda **_: pages[call]),
            "describe_vpc_block_public_access_options": public_access,
            "describe_instance_type_offerings": lambda **_: {
                "InstanceTypeOfferings": [{"Location": zone} for zone in offered]},
        },
        freetier={"get_account_plan_state": plan},
        **{"service-quotas": {
            "get_service_quota": lambda **request: {"Quota": {"Value": values.get(request["QuotaCode"], 50.0)}}}},
    ), [PLAN]))  # fmt: skip


def blocked():
    """A region that lets nothing through internet gateways."""
    return {"VpcBlockPublicAccessOptions": {"InternetGatewayBlockMode": "block-bidirectional"}}


DENIED = refusing("AccessDeniedException")
GATEWAY = {"ServiceName": "com.amazonaws.eu-west-1.s3", "VpcEndpointType": "Gateway", "State": "available",
           "RouteTableIds": ["rtb-1"]}  # fmt: skip
STS = {"ServiceName": "com.amazonaws.eu-west-1.sts", "VpcEndpointType": "Interface", "State": "available",
       "VpcId": "vpc-1", "PrivateDnsEnabled": True}  # fmt: skip
TRANSIT = {"DestinationCidrBlock": "10.0.0.0/8", "TransitGatewayId": "tgw-1"}
UNSEEN = "none to be seen, unless another network has one"


@pytest.mark.parametrize(
    ("account", "stops", "differs"),
    [
        ({"vcpus": 5.0}, set(), set()),
        ({"vcpus": 1.0, "offered": ("eu-west-1b",)}, {"1 vCPUs", "not offered"}, set()),
        # Only spread fleets use the second zone, and a young Lambda is slow but works.
        ({"concurrency": 10.0, "offered": ("eu-west-1a",)}, set(), {"10 functions", "not offered"}),
        ({"plan": lambda: {"accountPlanType": "FREE"}}, {"FREE"}, set()),
        ({"plan": DENIED, "public_access": DENIED}, set(), {"not checked: AccessDeniedException"}),
        # The stack's VPC may be excluded, or have another way out.
        ({"public_access": blocked}, set(), {"block-bidirectional"}),
        ({"routes": ()}, {"no way"}, {"no way"}),
        ({"routes": (), "endpoints": (GATEWAY, STS)}, set(), set()),
        ({"routes": (), "endpoints": (GATEWAY, STS | {"PrivateDnsEnabled": False})}, {"no way"}, set()),
        ({"routes": (TRANSIT,)}, set(), {UNSEEN}),
    ],
)
def test_an_account_is_refused_for_what_no_run_can_do_without(account, stops, differs):
    checks = limited(**account)

    assert {check.seen for check in broken(checks).values()} == stops
    assert {check.seen for check in other(checks).values()} == differs
    assert all(check.fix for check in (*broken(checks).values(), *other(checks).values()))


# --- permissions ------------------------------------------------------------------------------------------------------


def simulated(monkeypatch, tmp_path, decide, **answers):
    """The checks of two calls of one role, and the requests to IAM."""
    calls = [
        {"role": "LaunchFleetFunctionRole", "action": "s3:PutObject",
         "resource": "arn:{partition}:s3:::{ResultsBucket}/runs/x"},
        {"role": "LaunchFleetFunctionRole", "action": "ec2:CreateTags", "resource": "*",
         "context": {"aws:requesttag/storage-matrix:stack": "{stack}"}},
    ]  # fmt: skip
    (tmp_path / "calls.json").write_text(json.dumps(calls))
    monkeypatch.setattr(permissions, "CALLS", tmp_path / "calls.json")
    asked = []

    def simulate(**request):
        asked.append(request)
        results = [{"EvalActionName": action, **decide(action)} for action in request["ActionNames"]]
        return {"EvaluationResults": results}

    return list(permissions.checks(stack(iam={"simulate_principal_policy": simulate}, **answers))), asked


OPTIONAL = {"NotifyFunctionRole", "ScheduleRole"}


def test_what_is_asked_of_optional_roles_is_what_the_template_grants_them():
    calls = json.loads(permissions.OPTIONAL_CALLS.read_text())
    # Uses of the stack's key are asked by the calls of other roles; logs are written by Lambda.
    expected = {
        (grant.role, grant.action)
        for grant in granted()
        if grant.role in OPTIONAL and not grant.action.startswith(("kms:", "logs:"))
    }

    assert {(call["role"], call["action"]) for call in calls} == expected
    for call in calls:
        resource = call["resource"].replace("{NotifyTopicArn}", "arn:aws:sns:eu-west-1:1:topic")
        for name, value in (("partition", "aws"), ("ResultsBucket", "mine-resultsbucket-1")):
            resource = resource.replace(f"{{{name}}}", value)
        resource = re.sub(r"{(\w+)}", r"mine-\1-1", resource)
        assert [grant for grant in granted() if grant.covers(call["role"], call["action"], resource)], call


def test_roles_that_only_some_stacks_have_are_asked_about_where_they_are(monkeypatch, tmp_path):
    names = [*OPTIONAL, "LaunchFleetFunctionRole", "ResultsBucket", "RunStateMachine"]
    given = {"ScheduledMatrix": "nightly", "NotifyTopicArn": "arn:aws:sns:eu-west-1:1:mine"}

    checks, asked = simulated(
        monkeypatch, tmp_path,
        lambda action: {"EvalDecision": "implicitDeny" if action == "sns:Publish" else "allowed"},
        cloudformation=described(**given) | resources(*names),
    )  # fmt: skip

    assert {check.what for check in checks} == {*OPTIONAL, "LaunchFleetFunctionRole"}
    assert broken(checks)["NotifyFunctionRole"].seen == "sns:Publish on arn:aws:sns:eu-west-1:1:mine: implicitDeny"
    about = {resource for request in asked for resource in request["ResourceArns"]}
    assert "arn:aws:s3:::mine-ResultsBucket-1/runs/verify/receipt.json" in about
    assert "arn:aws:states:eu-west-1:111122223333:stateMachine:mine-RunStateMachine-1" in about


@pytest.mark.parametrize("path", ["/", "/benchmarks/"])
def test_each_call_is_asked_with_the_names_and_tags_of_this_stack(monkeypatch, tmp_path, path):
    answers = {"cloudformation": described(RolePath=path)}
    arn = f"arn:aws:iam::111122223333:role{path}mine-LaunchFleetFunctionRole-1"

    checks, asked = simulated(monkeypatch, tmp_path, lambda _: {"EvalDecision": "allowed"}, **answers)

    assert [check.verdict for check in checks] == [Verdict.AS_ASSUMED]
    assert {request["PolicySourceArn"] for request in asked} == {arn}
    assert asked[0]["ResourceArns"] == ["arn:aws:s3:::mine-ResultsBucket-1/runs/x"]
    keys = {entry["ContextKeyName"]: entry["ContextKeyValues"] for entry in asked[1]["ContextEntries"]}
    assert keys["aws:requesttag/storage-matrix:stack"] == ["mine"]
    assert keys["aws:RequestedRegion"] == ["eu-west-1"]
    # A role is passed by its whole ARN; roles of AWS have a path of their own.
    passed = "arn:{partition}:iam::{account}:role/"
    assert permissions.filled(f"{passed}{{LaunchFleetFunctionRole}}", stack(**answers)) == arn
    of_efs = f"{passed}aws-service-role/elasticfilesystem.amazonaws.com/AWSServiceRole"
    assert "benchmarks" not in permissions.filled(of_efs, stack(**answers))


OF_ORGANIZATION = {"OrganizationsDecisionDetail": {"AllowedByOrganizations": False}}
OF_BOUNDARY = {"PermissionsBoundaryDecisionDetail": {"AllowedByPermissionsBoundary": False}}


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        ({"EvalDecision": "explicitDeny"}, Verdict.BROKEN),
        ({"EvalDecision": "implicitDeny", "OrganizationsDecisionDetail": {"AllowedByOrganizations": True}},
         Verdict.BROKEN),
        ({"EvalDecision": "implicitDeny", **OF_ORGANIZATION, **OF_BOUNDARY}, Verdict.BROKEN),
        # The simulator misjudges policies of the organization with conditions.
        ({"EvalDecision": "explicitDeny", **OF_ORGANIZATION}, Verdict.DIFFERS),
        ({"EvalDecision": "implicitDeny", "MissingContextValues": ["ec2:CreateAction"]}, Verdict.DIFFERS),
    ],
)  # fmt: skip
def test_a_denial_stops_where_the_role_or_its_boundary_denies(monkeypatch, tmp_path, answer, verdict):
    checks, _ = simulated(monkeypatch, tmp_path, lambda a: answer if "s3" in a else {"EvalDecision": "allowed"})

    [found] = [check for check in checks if check.verdict is not Verdict.AS_ASSUMED]
    assert (found.what, found.verdict) == ("LaunchFleetFunctionRole", verdict)
    assert "s3:PutObject" in found.seen


def conditions(node):
    """(operator, key) of each condition of a document's statements."""
    if isinstance(node, dict):
        for operator, keys in node.items() if set(node) <= OPERATORS else ():
            yield from ((operator, key) for key in keys)
        yield from (pair for value in node.values() for pair in conditions(value))
    elif isinstance(node, list):
        yield from (pair for value in node for pair in conditions(value))


TEXT = {"StringEquals", "StringNotEquals", "StringLike", "StringNotLike", "ArnEquals", "ArnLike", "Null"}
OPERATORS = TEXT | {"Bool", "ForAnyValue:StringEquals", "ForAllValues:StringEquals"}


def test_a_key_is_sent_with_the_type_by_which_the_template_compares_it():
    template = yaml_template.load((SOURCES / "template.yaml").read_text())["Resources"]
    compared = [(operator, key) for operator, key in conditions(template) if operator != "Null"]
    sent = {
        entry["ContextKeyName"]: entry["ContextKeyType"]
        for entry in permissions._entries({key.lower(): "true" for _, key in compared}, stack())
    }

    assert "Bool" in dict(compared)
    for operator, key in compared:
        kinds = {"Bool": "boolean", **dict.fromkeys(TEXT, "string")}
        assert sent[key.lower()] == kinds.get(operator, "stringList"), key
    assert sent["aws:SecureTransport"] == "boolean"


def test_the_simulators_throttling_slows_verify_down(monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    kept = Deployment("aws", "mine", "eu-west-1", endpoint=None, access_key="a", secret_key="b")

    assert kept.client("iam").meta.config.retries["mode"] == "adaptive"
    assert kept.client("ec2").meta.config.retries["mode"] == "standard"


def test_the_calls_that_are_asked_name_nothing_of_one_stack_or_one_run():
    calls = json.loads(permissions.CALLS.read_text())
    logical = {"stack", "region", "account", "partition", "userid", *yaml_template.load(
        (SOURCES / "template.yaml").read_text())["Resources"]}  # fmt: skip

    assert len(calls) > 300
    for call in calls:
        text = json.dumps(call)
        assert "123456789012" not in text
        assert "us-east-1" not in text
        assert {part.partition("}")[0] for part in call["resource"].split("{")[1:]} <= logical


# --- the stack's key --------------------------------------------------------------------------------------------------

KEY = "arn:aws:kms:eu-west-1:111122223333:key/1"
USABLE_KEY = {"KeyState": "Enabled", "KeySpec": "SYMMETRIC_DEFAULT", "KeyUsage": "ENCRYPT_DECRYPT"}
OF_ACCOUNT = {"Effect": "Allow", "Principal": {"AWS": "arn:aws:iam::111122223333:root"}, "Action": "kms:*"}
OF_LOGS = {"Effect": "Allow", "Principal": {"Service": ["logs.eu-west-1.amazonaws.com"]}, "Action": "kms:Encrypt*"}


def of_key(metadata=None, *statements, key=KEY, **kms):
    """The checks of a stack with a key of this description and policy."""
    answers = {
        "cloudformation": described(KmsKeyArn=key),
        "kms": {
            "describe_key": lambda **_: {"KeyMetadata": metadata},
            "get_key_policy": lambda **_: {"Policy": json.dumps({"Statement": statements})},
            **kms,
        },
    }
    return list(permissions.key_checks(stack(**answers)))


OF_ADMIN = OF_ACCOUNT | {"Principal": {"AWS": "arn:aws:iam::111122223333:role/admin"}}
ELSEWHERE = OF_LOGS | {"Principal": {"Service": "logs.us-east-1.amazonaws.com"}}
UNASKED = {"describe_key": refusing("AccessDeniedException")}


@pytest.mark.parametrize(
    ("metadata", "statements", "stops", "differs"),
    [
        (USABLE_KEY, [OF_ACCOUNT, OF_LOGS], 0, 0),
        (USABLE_KEY | {"KeyState": "Disabled"}, [OF_ACCOUNT, OF_LOGS], 1, 0),
        (USABLE_KEY | {"KeySpec": "RSA_2048"}, [OF_ACCOUNT, OF_LOGS], 1, 0),
        (USABLE_KEY, [OF_ACCOUNT], 1, 0),
        (USABLE_KEY, [OF_ACCOUNT, OF_LOGS | {"Effect": "Deny"}], 1, 0),
        (USABLE_KEY, [OF_ACCOUNT, ELSEWHERE], 1, 0),
        (USABLE_KEY, [OF_ADMIN, OF_LOGS], 0, 1),
    ],
)
def test_a_key_must_be_enabled_and_open_to_the_logs(metadata, statements, stops, differs):
    checks = of_key(metadata, *statements)

    assert (len(broken(checks)), len(other(checks))) == (stops, differs)


def test_a_key_that_is_not_there_or_not_to_be_asked_about_stops_nothing():
    assert of_key(key="") == []
    assert [check.verdict for check in of_key(**UNASKED)] == [Verdict.DIFFERS]


# --- launches ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "verdict"),
    [
        ("DryRunOperation", Verdict.AS_ASSUMED),
        ("Unsupported", Verdict.BROKEN),
        ("UnauthorizedOperation", Verdict.DIFFERS),
    ],
)
def test_a_launch_is_tried_in_each_subnet(code, verdict):
    ssm = {"get_parameter": lambda **_: {"Parameter": {"Value": "ami-1"}}}

    checks = limits.launches(stack(ec2={"run_instances": refusing(code)}, ssm=ssm), PLAN)

    assert [check.verdict for check in checks] == [verdict] * 2


# --- expectations -----------------------------------------------------------------------------------------------------

STEP_COUNT = len(CELL["steps"])
STEPS = range(STEP_COUNT)
FLEET = [f"i-{number}" for number in range(4)]


def evidence(**changes):
    """A run of the fleet as it should be: launched at 1,000 s, ready at 1,060 s, steps every 20 s."""
    resources = [{"kind": "instance", "id": instance, "created_at": 1000.0} for instance in FLEET]
    good = {
        "plan": PLAN,
        "summary": {"cells": [{"id": CELL["id"], "state": "measured", "error": None, "actual_s": 100.0}]},
        "receipt": {"run": "r", "is_complete": True, "resources": resources, "sweep": {"at": 1.0, "remaining": 0},
                    "totals": {"gone": 8, "resources": 8, "cost_usd": PLAN["totals"]["cost_usd"]["expected"]}},
        "samples": [samples(instance) for instance in FLEET],
        "ready_at": {instance: {step: 1060.0 + 20 * step for step in STEPS} for instance in FLEET},
        "objects": dict.fromkeys(FLEET, 3 * len(STEPS) + 4),
        "denials": [],
    }  # fmt: skip
    return Evidence(**{**good, **changes})


def samples(instance, prepared_at=1050.0, skew_s=0.001, wait_s=2.5, count=STEP_COUNT):
    """What one instance has uploaded."""
    return {
        "cell": CELL["id"], "instance": {"id": instance}, "prepared": {"at": prepared_at},
        "samples": [{"step": step, "scheduled_at": 1060.0 + 20 * step + wait_s, "start_skew_s": skew_s}
                    for step in STEPS[:count]],
    }  # fmt: skip


def test_a_run_as_it_is_assumed_to_be_has_nothing_to_say():
    checks = list(expectations.compare(evidence()))

    assert {check.verdict for check in checks} == {Verdict.AS_ASSUMED}
    seen = {check.what.partition(",")[0]: check.seen for check in checks}
    assert seen["boot and packages"] == "50.0 s"
    assert seen["mount"] == "10.0 s"
    assert seen["last ready to common start"] == "2.5 s"
    assert seen["start skew"] == "1.0 ms"


def receipt(**changes):
    """The good receipt with changes."""
    return {**evidence().receipt, **changes}


CELL_NAME = f"cell {CELL['id']}"
DENIAL = "/aws/lambda/plan: AccessDenied"
FAILED = {"id": CELL["id"], "state": "failed", "actual_s": None,
          "error": {"name": "MountFailed", "message": "no route"}}  # fmt: skip
SLOW = {"id": CELL["id"], "state": "measured", "error": None, "actual_s": 999.0}
LEFT = receipt(is_complete=False, totals={"gone": 7, "resources": 8, "cost_usd": 0.01})


@pytest.mark.parametrize(
    ("changes", "stops", "what", "seen"),
    [
        ({"denials": [DENIAL]}, True, "denials in the logs of functions and instances", DENIAL),
        ({"receipt": LEFT}, True, "everything is gone", "1 resource still there"),
        ({"samples": [samples("i-0", count=2)]}, True, f"samples of {CELL['id']}", "2"),
        ({"summary": {"cells": [FAILED]}}, True, CELL_NAME, "failed: MountFailed: no route"),
        ({"samples": [samples(name, prepared_at=1300.0) for name in FLEET]}, False, "boot and packages", "300.0 s"),
        ({"samples": [samples(name, skew_s=-0.2) for name in FLEET]}, False, "start skew", "200.0 ms"),
        ({"samples": [samples(name, wait_s=40.0) for name in FLEET]}, False, "last ready to common start", "40.0 s"),
        ({"objects": dict.fromkeys(FLEET, 99)}, False, "objects that an instance puts", "99"),
        ({"receipt": receipt(totals={"gone": 8, "resources": 8, "cost_usd": 5.0})}, False, "cost on the receipt",
         "5.0000 USD"),
        ({"summary": {"cells": [SLOW]}}, False, "the whole cell", "999.0 s"),
    ],
)  # fmt: skip
def test_what_no_run_can_do_without_is_broken_and_another_figure_differs(changes, stops, what, seen):
    checks = list(expectations.compare(evidence(**changes)))

    found = broken(checks) if stops else other(checks)
    assert {name.partition(",")[0]: check.seen for name, check in found.items()}[what] == seen
    assert stops or broken(checks) == {}


def test_a_deployed_function_that_plans_other_cells_is_broken_and_other_prices_are_worth_a_word():
    dear = {**PLAN, "totals": {**PLAN["totals"], "cost_usd": {"low": 5, "expected": 6, "high": 7}}}

    assert set(broken(expectations.same_plan(PLAN, {**PLAN, "cells": []}))) == {"cells of the plan"}
    assert set(other(expectations.same_plan(PLAN, dear))) == {"cost by today's prices"}
    unknown = [*PLAN["warnings"], {"path": "quotas", "value": "", "message": "could not be asked for"}]
    assert set(other(expectations.same_plan(PLAN, {**PLAN, "warnings": unknown}))) == {"warning of the plan, quotas"}
    slow = [{"path": "fleet", "value": "", "message": "m7g.medium is slower than the volume of ebs: 3,000 IOPS"}]
    assert other(expectations.same_plan(PLAN, {**PLAN, "warnings": [*PLAN["warnings"], *slow]})) == {}


# --- order and pages ----------------------------------------------------------------------------------------------


def a_step(name, *checks, error=None):
    """A step that finds these checks."""

    def take():
        if error:
            raise error
        return checks

    return Step(name, f"proves {name}", take)


GOOD = required("x", "1", "1", is_so=True, fix="")
BAD = required("y", "1|2", "3", is_so=False, fix="mend it")


def test_the_first_broken_step_is_the_last():
    begun = []
    chain = [a_step("one", GOOD), a_step("two", GOOD, BAD), a_step("three", GOOD)]

    outcomes = list(steps.take(chain, lambda step: begun.append(step.name), lambda _: None))

    assert begun == ["one", "two"]
    document = pages.to_document(stack().deployment, outcomes, at=0.0)
    assert (document["is_good"], [step["verdict"] for step in document["steps"]]) == (
        False, ["as assumed", "broken", "not reached"],
    )  # fmt: skip
    assert "| two | y | 1\\|2 | 3 | broken |" in pages.to_markdown(document)
    assert [outcome.verdict for outcome in outcomes] == [Verdict.AS_ASSUMED, Verdict.BROKEN, None]


@pytest.mark.parametrize(
    "error", [refusal("ExpiredToken"), CommandError("your AWS credentials have expired", "log in")]
)
def test_an_error_in_a_step_is_broken_and_explained(error):
    [outcome] = steps.take([a_step("one", error=error)], lambda _: None, lambda _: None)

    [check] = outcome.checks
    assert check.verdict is Verdict.BROKEN
    assert "expired" in check.seen
    assert "log in" in check.fix


def test_an_interruption_is_not_a_finding_but_the_end():
    stopped = CommandError("stopped", "", ExitCode.INTERRUPTED)

    with pytest.raises(CommandError, match="stopped"):
        list(steps.take([a_step("one", error=stopped), a_step("two", GOOD)], lambda _: None, lambda _: None))


@pytest.mark.parametrize(("completed_by", "sweeps"), [(1, 1), (3, 3), (99, 6)])
def test_a_sweep_that_comes_too_early_is_asked_again_for_a_while(monkeypatch, completed_by, sweeps):
    pauses, asked = [], []
    monkeypatch.setattr(measurements.time, "sleep", pauses.append)
    service = SimpleNamespace(
        deployment=SimpleNamespace(environment="aws"),
        reap=asked.append,
        document=lambda *_: {"is_complete": len(asked) >= completed_by},
    )

    measurements.complete_receipt(service, "r")

    assert asked == ["r"] * sweeps
    assert all(pause == 10 for pause in pauses)


def test_steps_go_from_free_to_dear_below_one_dollar_and_optional_ones_only_when_asked_for():
    asked = stack(cloudformation=described(ExistingBucket="mine", ExistingPrefix="tables"))
    usual, *whole = (steps.steps_of(asked, wanted) for wanted in (None, "fsx", "mountpoint"))

    assert [step.usd > 0 for step in usual] == [False] * 6 + [True] * 4
    assert sum(step.usd for step in usual) < 1
    for steps_, name in zip(whole, ("fsx", "mountpoint"), strict=True):
        assert [step.name for step in steps_] == [*(step.name for step in usual), name]
        assert steps_[-1].usd > 0
    [cell] = measurements.on_mountpoint(asked).planned("eu-west-1").plan["cells"]
    assert (cell["storage"]["bucket"], cell["storage"]["prefix"]) == ("mine", "tables")
    with pytest.raises(CommandError, match="may read no bucket"):
        steps.steps_of(stack(), "mountpoint")


def test_two_cells_follow_each_other_on_more_vcpus_than_a_new_account_has_at_once():
    plan = measurements.FLEET.planned("eu-west-1").plan

    counts = [cell["fleet"]["count"] for cell in plan["cells"]]
    assert len(counts) == 2
    assert max(counts) <= 5 < sum(counts)  # vCPUs, one of each instance


# --- the command ------------------------------------------------------------------------------------------------------


def test_nobody_is_charged_without_being_asked(cloud, moto_server, monkeypatch, matrix):
    monkeypatch.setattr("cli.commands.verify.deployment.deployed_stack", lambda *_: stack().deployment)

    said = matrix("verify", "--stack", "mine")

    assert said.exit_code == 2
    assert "cost money and nobody can be asked here" in said.stderr
    assert not Path("verification.md").exists()


def test_a_stack_that_is_not_there_ends_red_after_the_definition_with_both_pages(monkeypatch, matrix):
    nothing = stack(outputs={}, stepfunctions=validating("OK")).deployment
    monkeypatch.setattr("cli.commands.verify.deployment.deployed_stack", lambda *_: nothing)

    said = matrix("verify", "--stack", "mine", "--yes", "--json")

    assert said.exit_code == 1
    shown = json.loads(said.stdout)
    assert json.loads(Path("verification.json").read_text()) == shown
    assert [step["verdict"] for step in shown["steps"]][:3] == ["as assumed", "broken", "not reached"]
    assert "**deployed, stack mine**" in Path("verification.md").read_text()
