"""What AWS refuses and says so in prose only: one function for each rule, with the page that it stands on.

A rule judges the properties of a resource (by CloudFormation's type) or the parameters of a call ("service:Operation"),
and yields "path: problem" for what is wrong. botocore's models and CloudFormation's schemas have the rest, and so has
cfn-lint, by which `make lint` holds the template: what it refuses is no rule here.
"""

import base64
import binascii
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import moto.dynamodb.parsing

from matrix.fields import limits

AWS = "https://docs.aws.amazon.com/"
Check = Callable[[dict[str, Any]], Iterator[str]]


@dataclass(frozen=True)
class Rule:
    """One sentence of AWS's documentation: what it is about, where it stands, and a check of what breaks it."""

    subjects: tuple[str, ...]
    sources: tuple[str, ...]
    check: Check


RULES: list[Rule] = []


def rule(*subjects: str, source: str, more: tuple[str, ...] = ()) -> Callable[[Check], Check]:
    """Add a check to RULES; `more` are further pages, whole where they are not below AWS."""

    def added(check: Check) -> Check:
        pages = tuple(page if page.startswith("https:") else AWS + page for page in (source, *more))
        RULES.append(Rule(subjects, pages, check))
        return check

    return added


def measured(
    path: str, least: int, most: int, *subjects: str, source: str, size: Callable[[Any], int] = len, default: Any = None
) -> None:
    """Add a rule: what stands at a path, or else the default, has a size from `least` to `most`."""

    @rule(*subjects, source=source)
    def check(properties: dict[str, Any]) -> Iterator[str]:
        value = _at(path, properties, default)
        if value is not None and not least <= size(value) <= most:
            yield f"{path}: {size(value)} is not from {least} to {most:,}"


def named(path: str, pattern: str, *subjects: str, source: str) -> None:
    """Add a rule: a text, where it is there, matches a pattern."""

    @rule(*subjects, source=source)
    def check(properties: dict[str, Any]) -> Iterator[str]:
        text = _at(path, properties, None)
        if text is not None and not re.fullmatch(pattern, text):
            yield f"{path}: {text!r} has other characters than it may have, or is too short or too long"


def _at(path: str, properties: dict[str, Any], default: Any) -> Any:
    node: Any = properties
    for name in path.split("."):
        node = node.get(name, {})
    return default if node == {} else node


def refusals_of_resource(name: str, resource: dict[str, Any]) -> Iterator[str]:
    """Yield what the rules refuse of a resource's properties, which hold no functions any more."""
    for one in RULES:
        if resource["Type"] in one.subjects:
            yield from (f"{name}.{problem} ({one.sources[0]})" for problem in one.check(resource.get("Properties", {})))


def refusals_of_request(service: str, operation: str, parameters: dict[str, Any]) -> Iterator[str]:
    """Yield what the rules refuse of a call's parameters."""
    for one in RULES:
        if f"{service}:{operation}" in one.subjects:
            yield from (f"{operation}.{problem} ({one.sources[0]})" for problem in one.check(parameters))


# ======== EC2 ========
GROUP, GROUP_RULES = "AWS::EC2::SecurityGroup", ("AWS::EC2::SecurityGroupIngress", "AWS::EC2::SecurityGroupEgress")


def _rules_of_group(properties: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each rule of a security group with its path; the properties themselves where they are one rule."""
    if "GroupId" in properties:
        yield "", properties
    for kind in ("SecurityGroupIngress", "SecurityGroupEgress"):
        for index, entry in enumerate(properties.get(kind, [])):
            yield f"{kind}[{index}].", entry


def _names_group(entry: dict[str, Any]) -> bool:
    ends = ("SourceSecurityGroupId", "DestinationSecurityGroupId", "SourceSecurityGroupName")
    return any(name in entry for name in ends)


@rule(GROUP, *GROUP_RULES, source="AWSEC2/latest/APIReference/API_IpRange.html")
def descriptions_of_rules_have_few_characters(properties: dict[str, Any]) -> Iterator[str]:
    """A rule's text may have a-z, A-Z, 0-9, spaces and ._-:/()#,@[]+=&;{}!$*, at most 255."""
    for path, entry in _rules_of_group(properties):
        text = entry.get("Description")
        if text is not None and not re.fullmatch(r"[a-zA-Z0-9 ._\-:/()#,@\[\]+=&;{}!$*]{1,255}", text):
            yield f"{path}Description: {text!r} has characters that EC2 refuses, or is empty or too long"


@rule(GROUP, *GROUP_RULES, source="AWSEC2/latest/APIReference/API_UserIdGroupPair.html")
def descriptions_of_rules_between_groups_have_no_ampersand(properties: dict[str, Any]) -> Iterator[str]:
    """Of a rule that names a group the ampersand is not among the characters."""
    for path, entry in _rules_of_group(properties):
        if _names_group(entry) and "&" in entry.get("Description", ""):
            yield f"{path}Description: {entry['Description']!r} has an ampersand"


@rule(GROUP, source="AWSEC2/latest/APIReference/API_CreateSecurityGroup.html")
def groups_are_described_in_few_characters(properties: dict[str, Any]) -> Iterator[str]:
    """A group's text has the same characters, and a group's name does not begin with sg-."""
    text = properties.get("GroupDescription", "")
    if not re.fullmatch(r"[a-zA-Z0-9 ._\-:/()#,@\[\]+=&;{}!$*]{1,255}", text):
        yield f"GroupDescription: {text!r} has characters that EC2 refuses, or is empty or too long"
    if properties.get("GroupName", "").startswith("sg-"):
        yield "GroupName: begins with sg-"


@rule(GROUP, *GROUP_RULES, source="AWSEC2/latest/APIReference/API_IpPermission.html")
def ports_are_a_range(properties: dict[str, Any]) -> Iterator[str]:
    """Rules for TCP and UDP need a first and a last port, from 0 to 65535."""
    for path, entry in _rules_of_group(properties):
        if str(entry.get("IpProtocol")) not in ("tcp", "udp", "6", "17"):
            continue
        first, last = entry.get("FromPort"), entry.get("ToPort")
        if not (isinstance(first, int) and isinstance(last, int) and 0 <= first <= last <= 65_535):
            yield f"{path}FromPort: {first} to {last} is not a range of ports"


@rule("AWS::EC2::VPC", "AWS::EC2::Subnet", source="vpc/latest/userguide/vpc-cidr-blocks.html")
def networks_have_from_16_to_28_bits(properties: dict[str, Any]) -> Iterator[str]:
    """The block of a VPC or a subnet is from /16 to /28."""
    block = properties.get("CidrBlock", "")
    if not re.fullmatch(r"(\d{1,3}\.){3}\d{1,3}/(1[6-9]|2[0-8])", block) or any(
        int(part) > 255 for part in re.findall(r"\d+", block)[:4]
    ):
        yield f"CidrBlock: {block!r} is not a block from /16 to /28"


@rule("AWS::EC2::VPCEndpoint", source="AWSEC2/latest/APIReference/API_CreateVpcEndpoint.html")
def gateway_endpoints_have_route_tables_only(properties: dict[str, Any]) -> Iterator[str]:
    """Subnets and groups are for interface endpoints, route tables for gateway endpoints."""
    is_gateway = properties.get("VpcEndpointType", "Gateway") == "Gateway"
    for name in ("SubnetIds", "SecurityGroupIds", "PrivateDnsEnabled") if is_gateway else ("RouteTableIds",):
        if name in properties:
            yield f"{name}: is not for endpoints of type {properties.get('VpcEndpointType', 'Gateway')}"


@rule("AWS::EC2::LaunchTemplate", "ec2:RunInstances", source="AWSEC2/latest/UserGuide/user-data.html")
def user_data_has_16_kib(request: dict[str, Any]) -> Iterator[str]:
    """User data is base64 and has at most 16 KB before it is encoded."""
    text = request.get("LaunchTemplateData", request).get("UserData")
    if text is None:
        return
    try:
        size = len(base64.b64decode(text, validate=True))
    except (binascii.Error, ValueError):
        yield "UserData: is not base64"
        return
    if size > 16 * 1024:
        yield f"UserData: has {size} bytes, of 16,384"


@rule(
    "ec2:RunInstances",
    source="AWSEC2/latest/APIReference/API_RunInstances.html",
    # On no page that could be found: that MinCount may not be above MaxCount.
)
def counts_of_instances_are_a_range(request: dict[str, Any]) -> Iterator[str]:
    """MinCount is at least 1 and at most MaxCount."""
    if not 1 <= request.get("MinCount", 0) <= request.get("MaxCount", 0):
        yield f"MinCount: {request.get('MinCount')} to {request.get('MaxCount')} is not a range of counts"


@rule("ec2:RunInstances", source="AWSEC2/latest/APIReference/API_EbsBlockDevice.html")
def volumes_have_what_their_type_allows(request: dict[str, Any]) -> Iterator[str]:
    """Size, IOPS and throughput are within the limits of the volume's type, and only where it has them."""
    for index, mapping in enumerate(request.get("BlockDeviceMappings", [])):
        volume, path = mapping.get("Ebs", {}), f"BlockDeviceMappings[{index}].Ebs"
        kind = volume.get("VolumeType", "gp2")
        for name, allowed in (
            ("Iops", limits.EBS_IOPS.get(kind)),
            ("Throughput", limits.GP3_THROUGHPUT_MIBPS if kind == "gp3" else None),
            ("VolumeSize", limits.EBS_SIZE_GIB.get(kind)),
        ):
            if name in volume and not (allowed and allowed.least <= volume[name] <= allowed.most):
                yield f"{path}.{name}: {volume[name]} is not allowed for {kind} ({allowed})"
        if kind in ("io1", "io2") and "Iops" not in volume:
            yield f"{path}.Iops: is required for {kind}"


measured(
    "LaunchTemplateData.MetadataOptions.HttpPutResponseHopLimit", 1, 64, "AWS::EC2::LaunchTemplate", size=int,
    source="AWSEC2/latest/APIReference/API_InstanceMetadataOptionsRequest.html",
)  # fmt: skip
named(
    "ClientToken", r"[\x00-\x7f]{0,64}", "ec2:RunInstances", "ec2:CreateVolume", "ec2:CreateLaunchTemplate",
    source="AWSEC2/latest/APIReference/API_RunInstances.html",
)  # fmt: skip
named(
    "Name", r"[a-zA-Z0-9()\[\] ./\-'@_]{3,128}", "ec2:CreateImage",
    source="AWSEC2/latest/APIReference/API_CreateImage.html",
)  # fmt: skip


# ======== Tags ========
@rule(
    "AWS::EC2::VPC", "AWS::EC2::Subnet", "AWS::EC2::SecurityGroup", "AWS::EC2::RouteTable", "AWS::S3::Bucket",
    "AWS::DynamoDB::Table", "AWS::IAM::Role", "AWS::Lambda::Function", "AWS::Logs::LogGroup",
    "AWS::StepFunctions::StateMachine", "efs:CreateFileSystem", "fsx:CreateFileSystem", "ec2:RunInstances",
    "ec2:CreateImage", "ec2:CreateTags", source="tag-editor/latest/userguide/best-practices-and-strats.html",
)  # fmt: skip
def tags_are_what_all_services_take(request: dict[str, Any]) -> Iterator[str]:
    """At most 50 tags, keys of 1 to 128 characters that are not aws:'s own, values of at most 256, each key once."""
    lists = [request.get("Tags", []), *(spec.get("Tags", []) for spec in request.get("TagSpecifications", []))]
    # Lambda and Step Functions have a map or pairs of lower case in their APIs; CloudFormation has pairs for all.
    for tags in (tags for tags in lists if isinstance(tags, list)):
        keys = [tag.get("Key", "") for tag in tags]
        if len(keys) > 50:
            yield f"Tags: {len(keys)} are more than 50"
        yield from (f"Tags: {key!r} is there {n} times" for key, n in Counter(keys).items() if n > 1)
        for key, value in ((tag.get("Key", ""), str(tag.get("Value", ""))) for tag in tags):
            if key.lower().startswith("aws:"):
                yield f"Tags: {key!r} begins with aws:"
            if not 1 <= len(key) <= 128 or len(value) > 256:
                yield f"Tags: {key[:40]!r} or its value is empty or too long"
            if not re.fullmatch(r"[\w \-.:/=+@]*", key + value):
                yield f"Tags: {key!r}: {value!r} has other characters than letters, digits, spaces and _.:/=+-@"


# ======== Lambda ========
FUNCTION = "AWS::Lambda::Function"


@rule(FUNCTION, "lambda:CreateFunction", source="lambda/latest/dg/gettingstarted-limits.html")
def variables_have_4_kb_in_all(properties: dict[str, Any]) -> Iterator[str]:
    """All environment variables of a function have at most 4 KB."""
    variables = properties.get("Environment", {}).get("Variables", {})
    size = sum(len(f"{name}{value}".encode()) for name, value in variables.items())
    if size > 4096:
        yield f"Environment.Variables: have {size} bytes, of 4,096"


# But for functions on Lambda Managed Instances, of which there are none here.
measured(
    "Timeout", 1, 900, FUNCTION, "lambda:CreateFunction", size=int, source="lambda/latest/api/API_CreateFunction.html"
)
LAMBDA_LIMITS = "lambda/latest/dg/gettingstarted-limits.html"
measured("MemorySize", 128, 10_240, FUNCTION, "lambda:CreateFunction", size=int, source=LAMBDA_LIMITS)
measured("Payload", 0, 6 * 2**20, "lambda:Invoke", source=LAMBDA_LIMITS)


# ======== IAM ========
# What all inline policies of a role may have together.
INLINE_CHARACTERS = 10_240


def characters(*documents: dict[str, Any]) -> int:
    """Return how many characters policies have together as IAM counts them: white space is left out."""
    return sum(len(re.sub(r"\s", "", json.dumps(document))) for document in documents)


def _documents(properties: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the policies of a role or a policy with their path."""
    if "AssumeRolePolicyDocument" in properties:
        yield "AssumeRolePolicyDocument", properties["AssumeRolePolicyDocument"]
    for index, policy in enumerate(properties.get("Policies", [])):
        yield f"Policies[{index}].PolicyDocument", policy["PolicyDocument"]
    if "PolicyDocument" in properties:
        yield "PolicyDocument", properties["PolicyDocument"]


@rule("AWS::IAM::Role", source="IAM/latest/UserGuide/reference_iam-quotas.html")
def inline_policies_of_a_role_have_10240_characters(properties: dict[str, Any]) -> Iterator[str]:
    """All inline policies of a role together have at most 10,240 characters, not counting white space."""
    size = characters(*(one for path, one in _documents(properties) if path != "AssumeRolePolicyDocument"))
    if size > INLINE_CHARACTERS:
        yield f"Policies: have {size} characters, of 10,240"


@rule(
    "AWS::IAM::Role",
    "AWS::IAM::Policy",
    source="IAM/latest/APIReference/API_PutRolePolicy.html",
    more=("IAM/latest/APIReference/API_CreateRole.html",),
)
def policies_have_the_characters_of_latin_1(properties: dict[str, Any]) -> Iterator[str]:
    """Tab, line feed, carriage return and U+0020 to U+00FF."""
    for path, document in _documents(properties):
        if wrong := set(re.findall("[^\t\n\r\u0020-\u00ff]", json.dumps(document, ensure_ascii=False))):
            yield f"{path}: has {''.join(sorted(wrong))!r}"


IAM_QUOTAS = "IAM/latest/UserGuide/reference_iam-quotas.html"
measured("PolicyDocument", 0, 6_144, "AWS::IAM::ManagedPolicy", size=characters, source=IAM_QUOTAS)
# In an account that has asked for no more.
measured("ManagedPolicyArns", 0, 10, "AWS::IAM::Role", source=IAM_QUOTAS)
measured("AssumeRolePolicyDocument", 0, 2_048, "AWS::IAM::Role", size=characters, source=IAM_QUOTAS)


# ======== S3 ========
@rule(
    "AWS::S3::Bucket",
    source="AmazonS3/latest/API/API_LifecycleRule.html",
    more=(
        "AmazonS3/latest/API/API_LifecycleExpiration.html",
        "AmazonS3/latest/API/API_PutBucketLifecycleConfiguration.html",
    ),
)
def lifecycle_rules_do_something_under_a_name_of_their_own(properties: dict[str, Any]) -> Iterator[str]:
    """Ids are unique, each rule has an action, and days are positive."""
    rules = properties.get("LifecycleConfiguration", {}).get("Rules", [])
    ids = Counter(entry["Id"] for entry in rules if "Id" in entry)
    yield from (f"LifecycleConfiguration: the Id {name!r} is there {n} times" for name, n in ids.items() if n > 1)
    actions = re.compile(r"Expiration|Transition|AbortIncomplete|ExpiredObject")
    for entry in rules:
        path = f"LifecycleConfiguration.Rules.{entry.get('Id', '')[:40]}"
        if not any(actions.search(key) for key in entry):
            yield f"{path}: does nothing"
        for name, days in re.findall(r'"(\w*Days\w*)": (-?\d+)', json.dumps(entry)):
            if int(days) < 1:
                yield f"{path}.{name}: {days} is not positive"


measured(
    "Key", 1, 1_024, "s3:PutObject", "s3:GetObject", "s3:HeadObject", "s3:DeleteObject", "s3:CreateMultipartUpload",
    size=lambda key: len(key.encode()), source="AmazonS3/latest/userguide/object-keys.html",
)  # fmt: skip
measured(
    "Delete.Objects", 1, 1_000, "s3:DeleteObjects", source="AmazonS3/latest/API/API_DeleteObjects.html", default=()
)


# ======== DynamoDB ========
@rule("dynamodb:BatchWriteItem", source="amazondynamodb/latest/APIReference/API_BatchWriteItem.html")
def a_batch_writes_no_item_twice(request: dict[str, Any]) -> Iterator[str]:
    """Put and delete requests are for different items."""
    for table, writes in request.get("RequestItems", {}).items():
        keys = [
            json.dumps({name: row[name] for name in ("PK", "SK") if name in row}, sort_keys=True)
            for write in writes
            for row in [write.get("PutRequest", {}).get("Item") or write.get("DeleteRequest", {}).get("Key", {})]
        ]
        if len(set(keys)) < len(keys):
            yield f"RequestItems.{table}: writes an item twice"


@rule(
    "dynamodb:PutItem",
    "dynamodb:BatchWriteItem",
    "dynamodb:UpdateItem",
    source="amazondynamodb/latest/developerguide/Constraints.html",
)
def items_have_400_kb(request: dict[str, Any]) -> Iterator[str]:
    """An item has at most 400 KB, names included; what one call writes of it is a lower bound."""
    writes = [write for table in request.get("RequestItems", {}).values() for write in table]
    rows = [request.get("Item", {}), request.get("ExpressionAttributeValues", {})]
    rows += [write.get("PutRequest", {}).get("Item", {}) for write in writes]
    for row in rows:
        size = sum(len(name.encode()) + _bytes_of(value) for name, value in row.items())
        if size > 400 * 1024:
            yield f"Item: has {size} bytes, of 409,600"


def _bytes_of(attribute: dict[str, Any]) -> int:
    [(kind, value)] = attribute.items()
    match kind:
        case "M":
            return 3 + sum(len(name.encode()) + 1 + _bytes_of(member) for name, member in value.items())
        case "L":
            return 3 + sum(1 + _bytes_of(member) for member in value)
        case "SS" | "NS" | "BS":
            return sum(len(member) for member in value)
        case "S":
            return len(value.encode())
    return len(str(value))


@rule(
    "dynamodb:PutItem", "dynamodb:UpdateItem", "dynamodb:DeleteItem", "dynamodb:GetItem", "dynamodb:Query",
    "dynamodb:Scan",
    source="amazondynamodb/latest/developerguide/ReservedWords.html",
)  # fmt: skip
def reserved_words_are_not_names_of_attributes(request: dict[str, Any]) -> Iterator[str]:
    """An attribute that has the name of a reserved word stands in an expression by a placeholder."""
    # Those of the language of expressions itself.
    words = {"SET", "REMOVE", "ADD", "DELETE", "AND", "OR", "NOT", "BETWEEN", "IN", "SIZE", "CONTAINS"}
    for name, expression in request.items():
        if name.endswith("Expression") and isinstance(expression, str):
            for word in re.findall(r"(?<![#:\w])[A-Za-z_]\w*", expression):
                if word.upper() in _describe_reserved() - words:
                    yield f"{name}: {word} is a reserved word"


def _describe_reserved() -> set[str]:
    """Return the list of the guide, as moto ships it."""
    return set((Path(moto.dynamodb.parsing.__file__).parent / "reserved_keywords.txt").read_text().split())


# ======== Step Functions, EventBridge, CloudWatch ========
# No white space, brackets, wildcards, controls and none of "#%\^|~`$&,;:/.
PLAIN = r"[^\s<>{}\[\]?*\"#%\\^|~`$&,;:/\x00-\x1f\x7f-\x9f\ufffe\uffff\ud800-\udfff]*"
START_EXECUTION = "step-functions/latest/apireference/API_StartExecution.html"
named("StateMachineName", PLAIN, "AWS::StepFunctions::StateMachine", source=START_EXECUTION)
named("name", PLAIN, "stepfunctions:StartExecution", "stepfunctions:CreateStateMachine", source=START_EXECUTION)


@rule("stepfunctions:StartExecution", source="step-functions/latest/dg/service-quotas.html")
def inputs_are_256_kib_of_json(request: dict[str, Any]) -> Iterator[str]:
    """The input of an execution is JSON of at most 262,144 bytes of UTF-8."""
    text = request.get("input", "{}")
    if len(text.encode()) > 262_144:
        yield f"input: has {len(text.encode())} bytes, of 262,144"
    try:
        json.loads(text)
    except ValueError:
        yield "input: is not JSON"


@rule("AWS::Events::Rule", source="eventbridge/latest/userguide/eb-scheduled-rule-pattern.html")
def schedules_are_rates_or_crons(properties: dict[str, Any]) -> Iterator[str]:
    """rate(1 minute) or rate(n minutes), or cron with six fields."""
    schedule = properties.get("ScheduleExpression")
    if schedule is None:
        return
    rate = re.fullmatch(r"rate\((\d+) (minute|hour|day)(s?)\)", schedule)
    cron = re.fullmatch(r"cron\(((\S+ ){5}\S+)\)", schedule)
    if not cron and not (rate and int(rate[1]) >= 1 and (int(rate[1]) == 1) == (rate[3] == "")):
        yield f"ScheduleExpression: {schedule!r} is neither rate(value unit) nor cron(six fields)"
    # One of the two fields for days is a question mark.
    if cron and (cron[1].split()[2] == "?") == (cron[1].split()[4] == "?"):
        yield f"ScheduleExpression: {schedule!r} has no ? for one of its days"


@rule("AWS::Events::Rule", source="eventbridge/latest/userguide/eb-event-patterns.html")
def patterns_have_lists(properties: dict[str, Any]) -> Iterator[str]:
    """A pattern's values are lists, within objects."""

    def judged(node: Any, path: str) -> Iterator[str]:
        if isinstance(node, dict) and node:
            for name, child in node.items():
                yield from judged(child, f"{path}.{name}")
        elif not isinstance(node, list) or not node:
            yield f"{path}: {node!r} is not a list of values"

    if "EventPattern" in properties:
        yield from judged(properties["EventPattern"], "EventPattern")


# ======== File systems ========
@rule(
    "efs:CreateFileSystem",
    source="efs/latest/ug/API_CreateFileSystem.html",
    more=("https://repost.aws/knowledge-center/efs-choosing-correct-throughput-mode",),
    # On no page that could be found: that a figure is refused in the other modes.
)
def efs_has_throughput_where_it_is_provisioned(request: dict[str, Any]) -> Iterator[str]:
    """A figure is required in mode provisioned and refused in others; maxIO is neither for One Zone nor for elastic."""
    mode = request.get("ThroughputMode", "bursting")
    if (mode == "provisioned") != ("ProvisionedThroughputInMibps" in request):
        yield f"ProvisionedThroughputInMibps: {'is required' if mode == 'provisioned' else 'is refused'} in mode {mode}"
    if request.get("PerformanceMode") == "maxIO" and (mode == "elastic" or "AvailabilityZoneName" in request):
        yield "PerformanceMode: maxIO is neither for elastic throughput nor for One Zone"


ZFS_OLD, ZFS_NEW = (64, 128, 256, 512, 1024, 2048, 3072, 4096), (160, 320, 640, 1280, 2560, 3840, 5120, 7680, 10240)
ZFS_THROUGHPUTS = {
    "SINGLE_AZ_1": ZFS_OLD, "SINGLE_AZ_HA_1": ZFS_OLD,
    "SINGLE_AZ_2": ZFS_NEW, "SINGLE_AZ_HA_2": ZFS_NEW, "MULTI_AZ_1": ZFS_NEW,
}  # fmt: skip


@rule(
    "fsx:CreateFileSystem",
    source="fsx/latest/APIReference/API_CreateFileSystemOpenZFSConfiguration.html",
    # On no page that could be found: the throughputs of the two types with a standby in one zone (HA), and the counts
    # of subnets.
)
def zfs_has_a_throughput_of_its_deployment_type(request: dict[str, Any]) -> Iterator[str]:
    """Throughputs are those of the type; a Multi-AZ system has two subnets, of which one is preferred, others one."""
    if request.get("FileSystemType") != "OPENZFS":
        return
    configuration = request.get("OpenZFSConfiguration", {})
    kind, throughput = configuration.get("DeploymentType"), configuration.get("ThroughputCapacity")
    if throughput not in ZFS_THROUGHPUTS.get(kind, ()):
        yield f"OpenZFSConfiguration.ThroughputCapacity: {throughput} is none of {kind}"
    is_multi = kind == "MULTI_AZ_1"
    if len(request.get("SubnetIds", [])) != (2 if is_multi else 1):
        yield f"SubnetIds: {request.get('SubnetIds')} for {kind}"
    if is_multi and configuration.get("PreferredSubnetId") not in request.get("SubnetIds", []):
        yield "OpenZFSConfiguration.PreferredSubnetId: is none of the subnets"


@rule(
    "fsx:CreateFileSystem",
    source="fsx/latest/APIReference/API_CreateFileSystem.html",
    more=("fsx/latest/APIReference/API_DiskIopsConfiguration.html",),
    # On no page that could be found: the 400,000 IOPS (the page has 200,000 for each pair of servers), that AUTOMATIC
    # takes no figure.
)
def zfs_has_from_64_gib_on(request: dict[str, Any]) -> Iterator[str]:
    """From 64 to 524,288 GiB, and from 3 IOPS for each GiB to 400,000 (the highest of any deployment type)."""
    if request.get("FileSystemType") != "OPENZFS":
        return
    size = request.get("StorageCapacity", 0)
    if request.get("StorageType") == "INTELLIGENT_TIERING":
        settings = request.get("OpenZFSConfiguration", {})
        if size or "DiskIopsConfiguration" in settings or settings.get("DeploymentType") != "MULTI_AZ_1":
            yield "StorageType: INTELLIGENT_TIERING has neither capacity nor IOPS, and is MULTI_AZ_1"
        return
    if not 64 <= size <= 524_288:
        yield f"StorageCapacity: {size} GiB is not from 64 to 524,288"
    disk = request.get("OpenZFSConfiguration", {}).get("DiskIopsConfiguration", {})
    if disk.get("Mode") == "USER_PROVISIONED" and not 3 * size <= disk.get("Iops", 0) <= 400_000:
        yield f"OpenZFSConfiguration.DiskIopsConfiguration.Iops: {disk.get('Iops')} is not from {3 * size} to 400,000"
    if disk.get("Mode") == "AUTOMATIC" and "Iops" in disk:
        yield "OpenZFSConfiguration.DiskIopsConfiguration.Iops: is for USER_PROVISIONED only"


LUSTRE_VERSIONS = {
    "SCRATCH_1": ("2.10", "2.12", "2.15"), "SCRATCH_2": ("2.10", "2.12", "2.15"),
    "PERSISTENT_1": ("2.10", "2.12", "2.15"), "PERSISTENT_2": ("2.12", "2.15"),
}  # fmt: skip
LUSTRE_THROUGHPUTS = {"PERSISTENT_1": (50, 100, 200), "PERSISTENT_2": (125, 250, 500, 1_000)}


@rule(
    "fsx:CreateFileSystem",
    source="fsx/latest/APIReference/API_CreateFileSystemLustreConfiguration.html",
    more=("fsx/latest/APIReference/API_CreateFileSystem.html",),
)
def lustre_is_named_by_type_and_version(request: dict[str, Any]) -> Iterator[str]:
    """FSx refuses neither, but makes SCRATCH_1 without a type, and 2.10, which newer clients do not mount."""
    if request.get("FileSystemType") != "LUSTRE":
        return
    if "DeploymentType" not in request.get("LustreConfiguration", {}):
        yield "LustreConfiguration.DeploymentType: is not written, which makes SCRATCH_1"
    if "FileSystemTypeVersion" not in request:
        yield "FileSystemTypeVersion: is not written, which makes 2.10"


@rule(
    "fsx:CreateFileSystem",
    source="fsx/latest/APIReference/API_CreateFileSystemLustreConfiguration.html",
    more=("fsx/latest/APIReference/API_CreateFileSystemLustreMetadataConfiguration.html",),
)
def lustre_is_made_as_its_deployment_type_allows(request: dict[str, Any]) -> Iterator[str]:
    """It has one subnet; keys and backups are for persistent types, metadata IOPS for PERSISTENT_2 of version 2.15."""
    if request.get("FileSystemType") != "LUSTRE":
        return
    settings, version = request.get("LustreConfiguration", {}), request.get("FileSystemTypeVersion", "2.10")
    kind, metadata = settings.get("DeploymentType", "SCRATCH_1"), settings.get("MetadataConfiguration", {})
    if len(request.get("SubnetIds", [])) != 1:
        yield f"SubnetIds: {request.get('SubnetIds')}"
    if version not in LUSTRE_VERSIONS[kind]:
        yield f"FileSystemTypeVersion: {version} is none of {kind}"
    if kind.startswith("SCRATCH"):
        has_backups = settings.get("AutomaticBackupRetentionDays") or settings.get("CopyTagsToBackups")
        if has_backups or "KmsKeyId" in request:
            yield f"LustreConfiguration: keys and backups are not for {kind}"
    if metadata and (kind, version) != ("PERSISTENT_2", "2.15"):
        yield "LustreConfiguration.MetadataConfiguration: needs PERSISTENT_2 and version 2.15"
    if metadata and (metadata["Mode"] == "USER_PROVISIONED") != ("Iops" in metadata):
        yield "LustreConfiguration.MetadataConfiguration: Iops are for USER_PROVISIONED, which needs them"
    if metadata.get("Iops", 1_500) not in (1_500, 3_000, 6_000, *range(12_000, 192_001, 12_000)):
        yield f"LustreConfiguration.MetadataConfiguration.Iops: {metadata['Iops']} cannot be provisioned"


def _is_lustre_on(request: dict[str, Any], *, tiering: bool) -> bool:
    is_tiering = request.get("StorageType") == "INTELLIGENT_TIERING"
    return request.get("FileSystemType") == "LUSTRE" and is_tiering is tiering


@rule("fsx:CreateFileSystem", source="fsx/latest/APIReference/API_CreateFileSystem.html")
def lustre_on_ssd_has_a_capacity_and_a_throughput_of_its_type(request: dict[str, Any]) -> Iterator[str]:
    """Its throughput is that of each TiB; a throughput capacity and a read cache are of Intelligent-Tiering."""
    if not _is_lustre_on(request, tiering=False):
        return
    settings, size = request.get("LustreConfiguration", {}), request.get("StorageCapacity", 0)
    kind, each_tib = settings.get("DeploymentType", "SCRATCH_1"), settings.get("PerUnitStorageThroughput")
    step = 3_600 if kind == "SCRATCH_1" else 2_400
    if size not in (1_200, 2_400) and (size <= 0 or size % step):
        yield f"StorageCapacity: {size} is not 1200, 2400 or a multiple of {step}"
    if each_tib not in LUSTRE_THROUGHPUTS.get(kind, (None,)):
        yield f"LustreConfiguration.PerUnitStorageThroughput: {each_tib} is none of {kind}"
    if "ThroughputCapacity" in settings or "DataReadCacheConfiguration" in settings:
        yield "LustreConfiguration: ThroughputCapacity and DataReadCacheConfiguration are of INTELLIGENT_TIERING"


@rule(
    "fsx:CreateFileSystem",
    source="fsx/latest/APIReference/API_CreateFileSystemLustreConfiguration.html",
    more=("fsx/latest/APIReference/API_LustreReadCacheConfiguration.html",),
)
def lustre_on_tiering_has_a_throughput_a_cache_and_metadata_iops(request: dict[str, Any]) -> Iterator[str]:
    """It is PERSISTENT_2 without a capacity; its read cache may have 32 to 131,072 GiB for each 4000 MB/s."""
    if not _is_lustre_on(request, tiering=True):
        return
    settings = request.get("LustreConfiguration", {})
    throughput, cache = settings.get("ThroughputCapacity", 0), settings.get("DataReadCacheConfiguration", {})
    fixed = "StorageCapacity" in request or "PerUnitStorageThroughput" in settings
    if fixed or settings.get("DeploymentType") != "PERSISTENT_2":
        yield "StorageType: INTELLIGENT_TIERING is PERSISTENT_2, without capacity and throughput for each TiB"
    if not 0 < throughput <= 2_000_000 or throughput % 4_000:
        yield f"LustreConfiguration.ThroughputCapacity: {throughput} is not a multiple of 4000"
    mode, gib = cache.get("SizingMode"), cache.get("SizeGiB")
    if mode is None or (mode == "USER_PROVISIONED") != (gib is not None):
        yield "LustreConfiguration.DataReadCacheConfiguration: SizeGiB is for USER_PROVISIONED, which needs it"
    least, most = (limit * throughput // 4_000 for limit in (32, 131_072))
    if gib is not None and not least <= gib <= most:
        yield f"LustreConfiguration.DataReadCacheConfiguration.SizeGiB: {gib} is not from {least} to {most}"
    if settings.get("MetadataConfiguration", {}).get("Iops") not in (6_000, 12_000):
        yield "LustreConfiguration.MetadataConfiguration.Iops: of INTELLIGENT_TIERING they are 6000 or 12000"


ONTAP_THROUGHPUTS = {"SINGLE_AZ_2": (1_536, 3_072, 6_144), "MULTI_AZ_2": (384, 768, 1_536, 3_072, 6_144)}


@rule("fsx:CreateFileSystem", source="fsx/latest/APIReference/API_CreateFileSystemOntapConfiguration.html")
def ontap_has_what_its_pairs_have(request: dict[str, Any]) -> Iterator[str]:
    """Capacity, throughput and IOPS are those of its 1 to 12 pairs of servers, of which a Multi-AZ system has one."""
    if request.get("FileSystemType") != "ONTAP":
        return
    settings, size, subnets = request["OntapConfiguration"], request.get("StorageCapacity", 0), request["SubnetIds"]
    kind, pairs, disk = (
        settings["DeploymentType"],
        settings.get("HAPairs", 1),
        settings.get("DiskIopsConfiguration", {}),
    )
    is_multi = kind == "MULTI_AZ_2"
    if not 1 <= pairs <= (1 if is_multi else 12):
        yield f"OntapConfiguration.HAPairs: {pairs} for {kind}"
    if settings.get("ThroughputCapacityPerHAPair") not in ONTAP_THROUGHPUTS.get(kind, ()):
        yield f"OntapConfiguration.ThroughputCapacityPerHAPair: is none of {kind}"
    if not 1_024 * pairs <= size <= 524_288 * pairs:
        yield f"StorageCapacity: {size} is not 1024 to 524288 for each pair"
    if disk and (disk.get("Mode") == "USER_PROVISIONED") != ("Iops" in disk):
        yield "OntapConfiguration.DiskIopsConfiguration: Iops are for USER_PROVISIONED, which needs them"
    if "Iops" in disk and not min(3 * size, 200_000 * pairs) <= disk["Iops"] <= 200_000 * pairs:
        yield f"OntapConfiguration.DiskIopsConfiguration.Iops: {disk['Iops']} is not from 3 per GiB to 200,000 a pair"
    if len(subnets) != (2 if is_multi else 1) or (is_multi and settings.get("PreferredSubnetId") not in subnets):
        yield f"SubnetIds: {subnets} for {kind}, whose preferred subnet is one of its two"
