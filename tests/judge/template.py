"""The template as AWS gets it: expanded, its functions resolved, and each resource held against what AWS allows.

`sam validate --lint` leaves values alone that come from parameters, conditions and other resources. Here they are
computed, so that patterns, lengths and the table of prose see what a service would see.
"""

import copy
import hashlib
import ipaddress
import json
import logging
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import boto3
import regex
from botocore.model import Shape
from jsonschema import Draft7Validator, ValidationError, validators
from judge import prose, shapes
from judge.requests import model_of
from samtranslator.parser.parser import Parser
from samtranslator.translator.translator import Translator

from local.corrections import yaml_template

ROOT = Path(__file__).parents[2]
REGION, ACCOUNT = "eu-west-1", "123456789012"
# The two networks that the template can have, each with the other choices that make resources.
NETWORKS = {
    "own": {},
    "yours": {"VpcId": "vpc-0123456789abcdef0", "SubnetIds": "subnet-0aaaaaaaaaaaaaaa0,subnet-0bbbbbbbbbbbbbbb0",
              "MultiAzCidr": "172.31.0.0/16", "SessionManager": "true",
              "ExistingBucket": "their-bucket", "ExistingPrefix": "their/prefix",
              "PermissionsBoundaryArn": f"arn:aws:iam::{ACCOUNT}:policy/company/boundary", "RolePath": "/benchmarks/",
              "ImageParameterPath": "/golden/",
              "KmsKeyArn": f"arn:aws:kms:{REGION}:{ACCOUNT}:key/01234567-89ab-cdef-0123-456789abcdef",
              "Schedule": "cron(30 1 * * ? *)", "ScheduleTimezone": "Europe/Berlin",
              "ScheduledMatrix": "nightly", "ScheduledBaseline": "nightly",
              "NotifyEmail": "me@example.org", "NotifyTopicArn": f"arn:aws:sns:{REGION}:{ACCOUNT}:mine"},
}  # fmt: skip
PSEUDO_PARAMETERS = {
    "AWS::Region": REGION,
    "AWS::AccountId": ACCOUNT,
    "AWS::Partition": "aws",
    "AWS::URLSuffix": "amazonaws.com",
    "AWS::StackName": "storage-matrix",
    "AWS::StackId": f"arn:aws:cloudformation:{REGION}:{ACCOUNT}:stack/storage-matrix/0123",
}
NOTHING = {"Ref": "AWS::NoValue"}
# What `Ref` and `Arn` of a resource give; other resources' Ref is their name.
IDS = {
    "AWS::EC2::VPC": "vpc-0{}", "AWS::EC2::Subnet": "subnet-0{}", "AWS::EC2::SecurityGroup": "sg-0{}",
    "AWS::EC2::RouteTable": "rtb-0{}", "AWS::EC2::InternetGateway": "igw-0{}", "AWS::EC2::LaunchTemplate": "lt-0{}",
}  # fmt: skip
ARNS = {
    "AWS::IAM::ManagedPolicy": "arn:aws:iam::{account}:policy{path}{name}",
    "AWS::IAM::Role": "arn:aws:iam::{account}:role{path}{name}",
    "AWS::IAM::InstanceProfile": "arn:aws:iam::{account}:instance-profile{path}{name}",
    "AWS::S3::Bucket": "arn:aws:s3:::{name}",
    "AWS::DynamoDB::Table": "arn:aws:dynamodb:{region}:{account}:table/{name}",
    "AWS::Lambda::Function": "arn:aws:lambda:{region}:{account}:function:{name}",
    "AWS::Lambda::LayerVersion": "arn:aws:lambda:{region}:{account}:layer:{name}:1",
    "AWS::Logs::LogGroup": "arn:aws:logs:{region}:{account}:log-group:{name}:*",
    "AWS::StepFunctions::StateMachine": "arn:aws:states:{region}:{account}:stateMachine:{name}",
    "AWS::Events::Rule": "arn:aws:events:{region}:{account}:rule/{name}",
    "AWS::SNS::Topic": "arn:aws:sns:{region}:{account}:{name}",
    "AWS::SQS::Queue": "arn:aws:sqs:{region}:{account}:{name}",
}
REF_IS_ARN = (
    "AWS::IAM::ManagedPolicy", "AWS::Lambda::LayerVersion", "AWS::SNS::Topic", "AWS::StepFunctions::StateMachine"
)  # fmt: skip


def _pattern(_: Any, pattern: str, value: Any, __: Any) -> Iterator[ValidationError]:
    """Patterns of AWS may have classes of Unicode, such as \\p{L}, which `re` does not know."""
    if isinstance(value, str) and not regex.search(pattern, value):
        yield ValidationError(f"{value!r} does not match {pattern!r}")


# CloudFormation makes texts of numbers, and truth of texts, where a property wants them.
Validator = validators.extend(
    Draft7Validator,
    {"pattern": _pattern},
    type_checker=Draft7Validator.TYPE_CHECKER.redefine(
        "string", lambda _, value: isinstance(value, (str, int, float))
    ).redefine("boolean", lambda _, value: isinstance(value, bool) or value in ("true", "false")),
)
# Which calls CloudFormation makes of a resource's properties, with the names that differ; others differ in case only.
CALLS: dict[str, tuple[str, str, dict[str, str]]] = {
    "AWS::CloudWatch::Alarm": ("cloudwatch", "PutMetricAlarm", {}),
    "AWS::DynamoDB::Table": ("dynamodb", "CreateTable", {}),
    "AWS::EC2::LaunchTemplate": ("ec2", "CreateLaunchTemplate", {}),
    "AWS::EC2::Route": ("ec2", "CreateRoute", {}),
    "AWS::EC2::RouteTable": ("ec2", "CreateRouteTable", {}),
    "AWS::EC2::SecurityGroup": ("ec2", "CreateSecurityGroup", {"GroupDescription": "Description"}),
    "AWS::EC2::SecurityGroupEgress": ("ec2", "AuthorizeSecurityGroupEgress", {}),
    "AWS::EC2::SecurityGroupIngress": ("ec2", "AuthorizeSecurityGroupIngress", {}),
    "AWS::EC2::Subnet": ("ec2", "CreateSubnet", {}),
    "AWS::EC2::VPC": ("ec2", "CreateVpc", {}),
    "AWS::EC2::VPCEndpoint": ("ec2", "CreateVpcEndpoint", {}),
    "AWS::Events::Rule": ("events", "PutRule", {}),
    "AWS::Scheduler::Schedule": ("scheduler", "CreateSchedule", {}),
    "AWS::IAM::InstanceProfile": ("iam", "CreateInstanceProfile", {}),
    "AWS::IAM::ManagedPolicy": ("iam", "CreatePolicy", {}),
    "AWS::IAM::Policy": ("iam", "PutRolePolicy", {}),
    "AWS::IAM::Role": ("iam", "CreateRole", {}),
    "AWS::Lambda::EventInvokeConfig": ("lambda", "PutFunctionEventInvokeConfig", {}),
    "AWS::Lambda::Function": ("lambda", "CreateFunction", {}),
    "AWS::Lambda::LayerVersion": ("lambda", "PublishLayerVersion", {}),
    "AWS::Lambda::Permission": ("lambda", "AddPermission", {}),
    "AWS::Logs::LogGroup": ("logs", "CreateLogGroup", {}),
    "AWS::S3::Bucket": ("s3", "CreateBucket", {"BucketName": "Bucket"}),
    "AWS::SNS::Topic": ("sns", "CreateTopic", {"TopicName": "Name"}),
    "AWS::SQS::Queue": ("sqs", "CreateQueue", {}),
    "AWS::StepFunctions::StateMachine": (
        "stepfunctions",
        "CreateStateMachine",
        {"StateMachineName": "name", "DefinitionString": "definition"},
    ),
}


def expanded(template: dict[str, Any], parameters: dict[str, str]) -> dict[str, Any]:
    """Return a template after its SAM transform, by AWS's own translator; local paths stand for uploaded archives."""
    logging.getLogger("samtranslator").setLevel(logging.ERROR)
    packaged = copy.deepcopy(template)
    uploaded = {"Bucket": "artifacts", "Key": "archive"}
    for resource in [packaged.get("Globals", {}).get("Function", {}), *packaged["Resources"].values()]:
        for name in ("CodeUri", "ContentUri", "DefinitionUri"):
            properties = resource.get("Properties", resource)
            if isinstance(properties.get(name), str):
                properties[name] = dict(uploaded)
    translator = Translator({}, Parser(), boto_session=boto3.session.Session(region_name=REGION))
    return translator.translate(sam_template=packaged, parameter_values=with_defaults(template, parameters))


def with_defaults(template: dict[str, Any], parameters: dict[str, str]) -> dict[str, str]:
    """Return the value of each declared parameter, as text."""
    declared = template.get("Parameters", {})
    return {
        name: str(parameter["Default"]) for name, parameter in declared.items() if "Default" in parameter
    } | parameters


@cache
def our_resources(network: str) -> dict[str, Any]:
    """Return the resources of template.yaml with all values resolved, in one of NETWORKS."""
    template = yaml_template.load((ROOT / "template.yaml").read_text())
    return Resolver(expanded(template, NETWORKS[network]), NETWORKS[network]).resources()


def made_up_id(kind: str, logical_id: str) -> str:
    """Return the id of a resource that EC2 numbers, of one of the types of IDS: the same one each time."""
    return IDS[kind].format(hashlib.sha256(logical_id.encode()).hexdigest()[:16])


def made_up_name(kind: str, logical_id: str) -> str:
    """Return what CloudFormation could call a resource that has no name of its own."""
    made = f"{PSEUDO_PARAMETERS['AWS::StackName']}-{logical_id}-1A2B3C4D5E6F"
    return made.lower() if kind == "AWS::S3::Bucket" else made


class Resolver:
    """Computes what CloudFormation's functions give, with made-up ids for the resources."""

    def __init__(self, template: dict[str, Any], parameters: dict[str, str]) -> None:
        """`parameters` are those that differ from the template's defaults."""
        self._template = template
        self._values: dict[str, Any] = {**PSEUDO_PARAMETERS}
        for name, text in with_defaults(template, parameters).items():
            kind = template["Parameters"][name]["Type"]
            self._values[name] = json.loads(text) if kind == "Number" else text.split(",") if "List" in kind else text

    def resources(self) -> dict[str, Any]:
        """Return the resources whose conditions hold, by logical id."""
        return {
            name: {**resource, "Properties": self.value(resource.get("Properties", {}))}
            for name, resource in self._template["Resources"].items()
            if "Condition" not in resource or self._holds(resource["Condition"])
        }

    def value(self, node: Any) -> Any:
        """Return a value without CloudFormation's functions; members that are AWS::NoValue are left out."""
        if isinstance(node, list):
            return [value for value in map(self.value, node) if value != NOTHING]
        if not isinstance(node, dict) or node == NOTHING:
            return node
        if len(node) == 1:
            [(function, argument)] = node.items()
            if function == "Ref":
                return self._reference(argument)
            if function.startswith("Fn::"):
                return getattr(self, "_" + function[4:].lower())(argument)
        values = {name: self.value(child) for name, child in node.items()}
        return {name: value for name, value in values.items() if value != NOTHING}

    def _holds(self, condition: str) -> bool:
        return self._truth(self._template["Conditions"][condition])

    def _truth(self, node: Any) -> bool:
        [(function, argument)] = node.items()
        match function:
            case "Fn::Equals":
                first, second = map(self.value, argument)
                return bool(str(first) == str(second))
            case "Fn::Not":
                return not self._truth(argument[0])
            case "Fn::And":
                return all(map(self._truth, argument))
            case "Fn::Or":
                return any(map(self._truth, argument))
            case "Condition":
                return self._holds(argument)
        raise ValueError(f"{function} is not a function of conditions")

    def _reference(self, name: str) -> Any:
        if name in self._values:
            return self._values[name]
        kind = self._template["Resources"][name]["Type"]
        return self._arn(name) if kind in REF_IS_ARN else self._name(name)

    def _name(self, logical_id: str) -> str:
        """Return what a resource is called: by its property, else as CloudFormation calls it."""
        resource = self._template["Resources"][logical_id]
        if resource["Type"] in IDS:
            return made_up_id(resource["Type"], logical_id)
        kind = resource["Type"].rpartition("::")[2]
        for name in (f"{kind}Name", "Name", "LogGroupName", "LayerName"):
            if name in resource.get("Properties", {}):
                return str(self.value(resource["Properties"][name]))
        return made_up_name(resource["Type"], logical_id)

    def _arn(self, logical_id: str) -> str:
        resource = self._template["Resources"][logical_id]
        path = self.value(resource.get("Properties", {}).get("Path", NOTHING))
        return ARNS[resource["Type"]].format(
            account=ACCOUNT, region=REGION, path="/" if path == NOTHING else path, name=self._name(logical_id)
        )

    def _getatt(self, argument: Any) -> str:
        name, attribute = argument if isinstance(argument, list) else argument.split(".", 1)
        return self._arn(name) if attribute == "Arn" else self._name(name)

    def _if(self, argument: list[Any]) -> Any:
        return self.value(argument[1] if self._holds(argument[0]) else argument[2])

    def _join(self, argument: list[Any]) -> str:
        return str(argument[0]).join(map(str, self.value(argument[1])))

    def _select(self, argument: list[Any]) -> Any:
        return self.value(argument[1])[int(argument[0])]

    def _split(self, argument: list[Any]) -> list[str]:
        return str(self.value(argument[1])).split(argument[0])

    def _getazs(self, _: Any) -> list[str]:
        return [REGION + letter for letter in "abc"]

    def _cidr(self, argument: list[Any]) -> list[str]:
        block, count, host_bits = self.value(argument[0]), int(argument[1]), int(argument[2])
        subnets = ipaddress.ip_network(block).subnets(new_prefix=32 - host_bits)
        return [str(next(subnets)) for _ in range(count)]

    def _sub(self, argument: Any) -> str:
        text, own = (argument, {}) if isinstance(argument, str) else argument

        def replaced(match: re.Match[str]) -> str:
            name = match[1]
            if name.startswith("!"):
                return "${" + name[1:] + "}"
            if name in own:
                return str(self.value(own[name]))
            return self._getatt(name) if "." in name else str(self._reference(name))

        return re.sub(r"\$\{([^}]+)\}", replaced, text)


def refusals(resources: dict[str, Any]) -> list[str]:
    """Return what AWS would refuse of resources without functions, each as "logical id.property: problem"."""
    return [
        problem
        for name, resource in resources.items()
        for judge in (_of_schema, _of_call, prose.refusals_of_resource)
        for problem in judge(name, resource)
    ] + list(_of_attached_policies(resources))


def _of_attached_policies(resources: dict[str, Any]) -> Iterator[str]:
    """Yield each role whose own policies and those of AWS::IAM::Policy have too many characters together."""
    documents: dict[str, list[Any]] = {}
    for name, resource in resources.items():
        properties = resource.get("Properties", {})
        if resource["Type"] == "AWS::IAM::Role":
            own = [policy["PolicyDocument"] for policy in properties.get("Policies", [])]
            documents.setdefault(properties.get("RoleName", made_up_name("AWS::IAM::Role", name)), []).extend(own)
        if resource["Type"] == "AWS::IAM::Policy":
            for role in properties.get("Roles", []):
                documents.setdefault(role, []).append(properties["PolicyDocument"])
    for role, attached in documents.items():
        size = prose.characters(*attached)
        if len(attached) > 1 and size > prose.INLINE_CHARACTERS:
            yield f"{role}: its {len(attached)} inline policies have {size} characters, of 10,240"


def _of_schema(name: str, resource: dict[str, Any]) -> Iterator[str]:
    """Yield what CloudFormation's own schema of the resource's type refuses."""
    # 60 MB that few tests need
    from cfnlint.schema import ResourceNotFoundError
    from cfnlint.schema.manager import PROVIDER_SCHEMA_MANAGER

    try:
        schema = PROVIDER_SCHEMA_MANAGER.get_resource_schema(REGION, resource["Type"]).schema
    except ResourceNotFoundError:
        yield f"{name}: CloudFormation has no type {resource['Type']}"
        return
    properties = resource.get("Properties", {})
    for error in Validator(schema).iter_errors(properties):
        path = ".".join(map(str, error.absolute_path))
        yield f"{name}.{path}: {error.message[:300]}"
    for path in schema.get("readOnlyProperties", []):
        if path.removeprefix("/properties/") in properties:
            yield f"{name}.{path.removeprefix('/properties/')}: is set by AWS only"


def _of_call(name: str, resource: dict[str, Any]) -> Iterator[str]:
    """Yield what botocore's model of the call that makes the resource refuses of its properties."""
    if resource["Type"] not in CALLS:
        return
    service, operation, renamed = CALLS[resource["Type"]]
    shape = model_of(service).operation_model(operation).input_shape
    properties = {renamed.get(key, key): value for key, value in resource.get("Properties", {}).items()}
    if resource["Type"] == "AWS::IAM::Role":
        policies = properties.pop("Policies", [])
        put = model_of("iam").operation_model("PutRolePolicy").input_shape
        for index, policy in enumerate(policies):
            yield from _violations(put, policy, f"{name}.Policies[{index}]")
    yield from _violations(shape, properties, name)


def _violations(shape: Shape, properties: dict[str, Any], path: str) -> Iterator[str]:
    """Yield what a shape refuses of properties; required members that no property names, CloudFormation adds."""
    for problem in shapes.violations(shape, as_parameters(shape, properties), path):
        if not problem.endswith(": is required"):
            yield problem


def as_parameters(shape: Shape, value: Any) -> Any:
    """Return a property's value as the API takes it: its names of members, numbers as numbers, documents as text."""
    match shape.type_name, value:
        case "structure", dict():
            members = {name.lower(): name for name in shape.members}
            known = {members[name.lower()]: child for name, child in value.items() if name.lower() in members}
            return {
                name: as_parameters(shape.members[name], child)
                for name, child in known.items()
                if _is_same_kind(shape.members[name], child)
            }
        case "list", list():
            parameters: Any = [as_parameters(shape.member, child) for child in value]
        case "map", dict():
            parameters = {name: as_parameters(shape.value, child) for name, child in value.items()}
        case "string", dict():
            parameters = json.dumps(value, separators=(",", ":"))
        case "string", int() | float():
            parameters = str(value)
        case "integer" | "long", str() if re.fullmatch(r"-?\d+", value):
            parameters = int(value)
        case "boolean", "true" | "false":
            parameters = value == "true"
        case _:
            parameters = value
    return parameters


def _is_same_kind(shape: Shape, value: Any) -> bool:
    """Say whether a call takes a value in the form that the property has: some lists are maps, or objects, there."""
    kinds = {"structure": dict, "map": dict, "list": list}
    return isinstance(value, kinds[shape.type_name]) if shape.type_name in kinds else not isinstance(value, list)
