"""Roles enforced: the evaluator by itself, and calls of deployed functions."""

import json
from types import SimpleNamespace

import pytest
from support.running_cloud import function, role

from cloud.roles.dependents import needed, use_of_session
from cloud.roles.policies import Permission, about, decide, unknown_keys

BUCKET = "arn:aws:s3:::results"


def test_who_makes_a_file_system_of_s3_files_must_also_tag_it_and_pass_the_role():
    body = {"roleArn": "arn:aws:iam::123456789012:role/r", "tags": [{"key": "stack", "value": "mine"}]}

    asked = needed("s3files:CreateFileSystem", SimpleNamespace(path="/file-systems"), body, "123456789012", "us-east-1")

    assert [(action, resource) for action, resource, _ in asked] == [
        ("s3files:CreateFileSystem", "*"),
        ("s3files:TagResource", "arn:aws:s3files:us-east-1:123456789012:file-system/*"),
        ("iam:PassRole", "arn:aws:iam::123456789012:role/r"),
    ]


@pytest.mark.parametrize(("method", "decision"), [("GET", "allow"), ("HEAD", "allow"), ("PUT", "implicit deny")])
def test_a_role_that_may_open_sessions_that_read_cannot_write_to_a_directory_bucket(method, decision):
    reading = {"StringEquals": {"s3express:SessionMode": "ReadOnly"}}

    action, resource, context = use_of_session("tables--use1-az4--x-s3", method, "123456789012", "us-east-1")

    assert resource == "arn:aws:s3express:us-east-1:123456789012:bucket/tables--use1-az4--x-s3"
    assert decide([allow(action, resource, Condition=reading)], Permission(action, resource), context) == decision
    assert decide([allow(action, resource)], Permission(action, resource), context) == "allow"


def allow(action, resource="*", **more) -> dict:
    return {"Statement": [{"Effect": "Allow", "Action": action, "Resource": resource, **more}]}


OURS = {"StringEquals": {"aws:RequestTag/stack": "mine"}}
HERE = {"StringEquals": {"aws:RequestedRegion": "us-east-1"}}


@pytest.mark.parametrize(
    ("statements", "context", "unknown"),
    [
        ([allow("ec2:RunInstances", Condition=OURS)], {}, {"aws:RequestTag/stack"}),
        ([allow("ec2:RunInstances", Condition=OURS)], {"aws:requesttag/stack": "mine"}, set()),
        ([allow("ec2:RunInstances", Condition=HERE)], {"aws:requestedregion": "us-east-1"}, set()),
        ([allow("ec2:RunInstances", Condition=OURS), allow("ec2:*")], {}, set()),
        ([allow("ec2:StopInstances", Condition=OURS)], {}, set()),
    ],
)
def test_a_simulation_names_the_keys_without_which_nothing_is_allowed(statements, context, unknown):
    assert unknown_keys(statements, Permission("ec2:RunInstances", "*"), context) == unknown


@pytest.mark.parametrize(
    ("document", "action", "resource", "decision"),
    [
        (allow("s3:GetObject", f"{BUCKET}/a/*"), "s3:GetObject", f"{BUCKET}/a/b/c", "allow"),
        (allow("S3:getobject", f"{BUCKET}/a/*"), "s3:GetObject", f"{BUCKET}/a/b", "allow"),
        (allow("s3:GetObject", f"{BUCKET}/a/*"), "s3:GetObject", f"{BUCKET}/A/b", "implicit deny"),
        (allow("s3:Get*", f"{BUCKET}/a?c"), "s3:GetObject", f"{BUCKET}/abc", "allow"),
        (allow(["s3:PutObject"], [f"{BUCKET}/[a]"]), "s3:PutObject", f"{BUCKET}/a", "implicit deny"),
        (allow("s3:PutObject", f"{BUCKET}/${{aws:userid}}/*"), "s3:PutObject", f"{BUCKET}/AROA1:i-1/x", "allow"),
        (
            allow("s3:PutObject", f"{BUCKET}/${{aws:userid}}/*"),
            "s3:PutObject",
            f"{BUCKET}/AROA1:i-2/x",
            "implicit deny",
        ),
        (allow("s3:PutObject", f"{BUCKET}/${{unknown}}"), "s3:PutObject", f"{BUCKET}/unknown", "implicit deny"),
        (allow("s3:PutObject", f"{BUCKET}/${{*}}"), "s3:PutObject", f"{BUCKET}/*", "allow"),
        (allow("s3:PutObject", f"{BUCKET}/${{*}}"), "s3:PutObject", f"{BUCKET}/x", "implicit deny"),
        (allow("ec2:RunInstances", "arn:aws:ec2:*:*:instance/*"), "ec2:RunInstances", "*", "allow"),
        ({"Statement": {"Effect": "Allow", "NotAction": "iam:*", "Resource": "*"}}, "s3:GetObject", BUCKET, "allow"),
        (
            {"Statement": {"Effect": "Allow", "NotAction": "iam:*", "Resource": "*"}},
            "iam:PassRole",
            BUCKET,
            "implicit deny",
        ),
        (
            {"Statement": [*allow("s3:*")["Statement"], {"Effect": "Deny", "Action": "s3:Delete*", "Resource": "*"}]},
            "s3:DeleteObject",
            BUCKET,
            "explicit deny",
        ),
        (allow("s3:ListBucket", Condition={"StringLike": {"s3:prefix": "runs/*"}}), "s3:ListBucket", BUCKET, "allow"),
        (
            allow("s3:ListBucket", Condition={"StringLike": {"s3:prefix": "x/*"}}),
            "s3:ListBucket",
            BUCKET,
            "implicit deny",
        ),
        (
            allow("s3:ListBucket", Condition={"StringNotEquals": {"s3:prefix": "runs/1"}}),
            "s3:ListBucket",
            BUCKET,
            "implicit deny",
        ),
        (
            allow("ec2:TerminateInstances", Condition={"StringEquals": {"aws:ResourceTag/run": "1"}}),
            "ec2:TerminateInstances",
            "*",
            "allow",
        ),
    ],
)
def test_policies_are_evaluated_as_by_iam(document, action, resource, decision):
    context = {"aws:userid": "AROA1:i-1", "s3:prefix": "runs/1"}

    assert decide([document], Permission(action, resource), context) == decision


ONCE = {"Null": {"s3:if-none-match": "false"}}
EXACTLY_ONCE = {"StringEquals": {"s3:if-none-match": "*"}}
ALWAYS = allow("s3:PutObject")["Statement"]
NOTHING_TWICE = {
    "Effect": "Deny", "Action": "s3:PutObject", "Resource": "*",
    "Condition": {"Null": {"s3:if-none-match": "true"}},
}  # fmt: skip


@pytest.mark.parametrize(
    ("document", "header", "decision"),
    [
        (allow("s3:PutObject", Condition=ONCE), {"s3:if-none-match": "*"}, "allow"),
        (allow("s3:PutObject", Condition=ONCE), {}, "implicit deny"),
        ({"Statement": [*ALWAYS, NOTHING_TWICE]}, {"s3:if-none-match": "*"}, "allow"),
        ({"Statement": [*ALWAYS, NOTHING_TWICE]}, {}, "explicit deny"),
        # StringEquals knows no wildcards: the asterisk is the header's own.
        (allow("s3:PutObject", Condition=EXACTLY_ONCE), {"s3:if-none-match": "a"}, "implicit deny"),
    ],
)
def test_a_write_without_the_header_that_a_policy_asks_for_is_refused(document, header, decision):
    assert decide([document], Permission("s3:PutObject", f"{BUCKET}/gate"), header) == decision


TAGGED = {"Null": {"aws:RequestTag/storage:run": "false"}}


@pytest.mark.parametrize(
    ("keys", "decision"),
    [
        ({"aws:requesttag/": "", "aws:requesttag/storage:run": "r"}, "allow"),
        ({"aws:requesttag/": "", "aws:requesttag/other": "r"}, "implicit deny"),
        ({}, "allow"),  # nothing is known of the tags
    ],
)
def test_a_tag_that_is_known_to_be_missing_is_missed(keys, decision):
    document = allow("ec2:RunInstances", "*", Condition=TAGGED)

    assert decide([document], Permission("ec2:RunInstances", "arn:aws:ec2:r:a:instance/*"), keys) == decision


@pytest.mark.parametrize(
    ("stack", "decision"),
    [("ours", "allow"), ("theirs", "implicit deny"), (None, "implicit deny")],
)
def test_what_carries_another_value_of_a_tag_or_none_is_not_what_a_condition_names(stack, decision):
    condition = {"StringEquals": {"aws:ResourceTag/storage-matrix:stack": "ours"}}
    document = allow("ec2:TerminateInstances", "*", Condition=condition)
    tags = {"aws:resourcetag/": ""} | ({"aws:resourcetag/storage-matrix:stack": stack} if stack else {})

    assert decide([document], Permission("ec2:TerminateInstances", "arn:aws:ec2:r:a:instance/i-1"), tags) == decision


OURS, SESSION = "arn:aws:iam::123456789012:role/ours", "arn:aws:sts::123456789012:assumed-role/ours/i-1"


@pytest.mark.parametrize(
    ("effect", "principal", "decision"),
    [
        ("Allow", "*", "allow"),
        ("Allow", {"AWS": "*"}, "allow"),
        ("Allow", {"AWS": ["arn:aws:iam::123456789012:role/theirs", OURS]}, "allow"),
        ("Allow", {"AWS": SESSION}, "allow"),
        ("Allow", {"AWS": "arn:aws:iam::123456789012:role/theirs"}, "implicit deny"),
        ("Allow", {"AWS": "arn:aws:iam::123456789012:root"}, "implicit deny"),
        ("Allow", {"Service": "logging.s3.amazonaws.com"}, "implicit deny"),
        ("Deny", {"AWS": "123456789012"}, "explicit deny"),
        ("Deny", {"AWS": "arn:aws:iam::123456789012:root"}, "explicit deny"),
    ],
)
def test_a_policy_of_a_resource_is_about_its_principals(effect, principal, decision):
    statement = {"Effect": effect, "Principal": principal, "Action": "s3:GetObject", "Resource": f"{BUCKET}/*"}

    documents = [about({"Statement": statement}, OURS, SESSION)]

    assert decide(documents, Permission("s3:GetObject", f"{BUCKET}/a"), {}) == decision


CODE = """
import boto3, botocore
def handler(event, context):
    try:
        client = boto3.client(event["service"])
        answer = getattr(client, event["call"])(**event.get("with", {}))
        return {"ok": True, "userid": answer.get("UserId")}
    except botocore.exceptions.ClientError as err:
        return {"code": err.response["Error"]["Code"], "message": err.response["Error"]["Message"]}
"""
TRANSACTION = [
    {"Put": {"TableName": "ledger", "Item": {"PK": {"S": "a"}}}},
    {
        "Update": {
            "TableName": "ledger",
            "Key": {"PK": {"S": "b"}},
            "UpdateExpression": "SET x = :x",
            "ExpressionAttributeValues": {":x": {"S": "1"}},
        }
    },
]


OF_BUCKET = [
    {"Effect": "Deny", "Principal": "*", "Action": "s3:PutObject", "Resource": "arn:aws:s3:::guarded/own/sealed/*"},
    {
        "Effect": "Allow", "Principal": {"AWS": {"Fn::GetAtt": ["Role", "Arn"]}},
        "Action": "s3:PutObject", "Resource": "arn:aws:s3:::guarded/lent/*",
    },
    {
        "Effect": "Deny", "Principal": "*", "Action": "s3:*", "Resource": "arn:aws:s3:::guarded/*",
        "Condition": {"Bool": {"aws:SecureTransport": "false"}},
    },
]  # fmt: skip


@pytest.fixture(scope="module")
def function_name(cloud) -> str:
    """A function whose role may do little."""
    grants = [
        {"Effect": "Allow", "Action": ["s3:PutObject", "s3:DeleteObject"], "Resource": "arn:aws:s3:::guarded/own/*"},
        {"Effect": "Allow", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::guarded/*"},
        {"Effect": "Allow", "Action": ["dynamodb:PutItem"], "Resource": "arn:aws:dynamodb:*:*:table/ledger"},
        {"Effect": "Allow", "Action": "ec2:DescribeInstances", "Resource": "*"},
        {"Effect": "Allow", "Action": "elasticfilesystem:CreateFileSystem", "Resource": "*"},
        {"Effect": "Allow", "Action": "ec2:RunInstances", "Resource": "*", "Condition": TAGGED},
        {"Effect": "Allow", "Action": ["fsx:CreateFileSystem", "fsx:TagResource"], "Resource": "*"},
    ]
    key = {"AttributeName": "PK", "AttributeType": "S"}
    resources = {
        "Bucket": {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": "guarded"}},
        "BucketPolicy": {
            "Type": "AWS::S3::BucketPolicy",
            "Properties": {"Bucket": {"Ref": "Bucket"}, "PolicyDocument": {"Statement": OF_BUCKET}},
        },
        "Table": {
            "Type": "AWS::DynamoDB::Table",
            "Properties": {
                "TableName": "ledger",
                "BillingMode": "PAY_PER_REQUEST",
                "AttributeDefinitions": [key],
                "KeySchema": [{"AttributeName": "PK", "KeyType": "HASH"}],
            },
        },
        "Role": role(*grants),
        "Guarded": function(CODE, Timeout=20),
    }
    return cloud.deploy("guarded", {"Resources": resources, "Outputs": {"Name": {"Value": {"Ref": "Guarded"}}}})["Name"]


@pytest.fixture
def call(cloud, function_name):
    """What a call of AWS from within the function gives."""

    def invoke(service: str, operation: str, **parameters):
        event = {"service": service, "call": operation, "with": parameters}
        answer = cloud.client("lambda").invoke(FunctionName=function_name, Payload=json.dumps(event))
        return json.loads(answer["Payload"].read())

    return invoke


@pytest.mark.parametrize(
    ("service", "operation", "parameters", "code"),
    [
        ("s3", "put_object", {"Bucket": "guarded", "Key": "own/a", "Body": "x"}, None),
        ("s3", "put_object", {"Bucket": "guarded", "Key": "other/a", "Body": "x"}, "AccessDenied"),
        # what the bucket's own policy denies, and what it grants
        ("s3", "put_object", {"Bucket": "guarded", "Key": "own/sealed/a", "Body": "x"}, "AccessDenied"),
        ("s3", "put_object", {"Bucket": "guarded", "Key": "lent/a", "Body": "x"}, None),
        # each key of the body is asked for by itself
        ("s3", "delete_objects", {"Bucket": "guarded", "Delete": {"Objects": [{"Key": "own/a&b"}]}}, None),
        (
            "s3",
            "delete_objects",
            {"Bucket": "guarded", "Delete": {"Objects": [{"Key": "own/a"}, {"Key": "other/a"}]}},
            "AccessDenied",
        ),
        ("s3", "list_objects_v2", {"Bucket": "guarded"}, "AccessDenied"),
        # without s3:ListBucket an absent key is a denial, as on S3: code that waits for a 404 must notice here
        ("s3", "get_object", {"Bucket": "guarded", "Key": "absent"}, "AccessDenied"),
        ("dynamodb", "put_item", {"TableName": "ledger", "Item": {"PK": {"S": "a"}}}, None),
        ("dynamodb", "scan", {"TableName": "ledger"}, "AccessDeniedException"),
        ("dynamodb", "transact_write_items", {"TransactItems": TRANSACTION[:1]}, None),
        ("dynamodb", "transact_write_items", {"TransactItems": TRANSACTION}, "AccessDeniedException"),
        ("ec2", "describe_instances", {}, None),
        ("ec2", "describe_volumes", {}, "UnauthorizedOperation"),
        ("ec2", "terminate_instances", {"InstanceIds": ["i-1"]}, "UnauthorizedOperation"),
        ("efs", "describe_file_systems", {}, "AccessDenied"),
        ("fsx", "describe_file_systems", {}, "AccessDeniedException"),
        ("ssm", "get_parameter", {"Name": "/aws/service/x"}, "AccessDeniedException"),
        ("stepfunctions", "list_state_machines", {}, "AccessDeniedException"),
        ("sts", "get_caller_identity", {}, None),
    ],
)
def test_a_function_may_do_what_its_role_grants_and_gets_aws_error_otherwise(
    call, service, operation, parameters, code
):
    answer = call(service, operation, **parameters)

    assert answer.get("code") == code, answer


def policy(cloud, name: str, *statements: dict) -> str:
    """A policy of the account; its ARN."""
    document = json.dumps({"Version": "2012-10-17", "Statement": list(statements)})
    return cloud.client("iam").create_policy(PolicyName=name, PolicyDocument=document)["Policy"]["Arn"]


@pytest.fixture(scope="module")
def bounded(cloud) -> str:
    """A function whose role, below a path, has all rights of S3, and a boundary that leaves two."""
    boundary = policy(
        cloud, "boundary",
        {"Effect": "Allow", "Action": ["s3:PutObject", "s3:GetObject"], "Resource": "*"},
        {"Effect": "Deny", "Action": "s3:PutObject", "Resource": "arn:aws:s3:::*/denied/*"},
    )  # fmt: skip
    made = role({"Effect": "Allow", "Action": "s3:*", "Resource": "*"})
    made["Properties"] |= {"PermissionsBoundary": boundary, "Path": "/company/"}
    resources = {
        "Bucket": {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": "bounded"}},
        "Role": made,
        "Bounded": function(CODE, Timeout=20),
    }
    outputs = {"Name": {"Value": {"Ref": "Bounded"}}, "Role": {"Value": {"Fn::GetAtt": ["Role", "Arn"]}}}
    given = cloud.deploy("bounded", {"Resources": resources, "Outputs": outputs})
    assert ":role/company/" in given["Role"]
    return given["Name"]


@pytest.mark.parametrize(
    ("operation", "key", "denial"),
    [
        ("put_object", "a", None),
        ("delete_object", "a", "because no permissions boundary allows the s3:DeleteObject action"),
        ("put_object", "x/denied/a", "with an explicit deny in a permissions boundary"),
    ],
)
def test_a_role_may_do_no_more_than_its_permissions_boundary_allows(cloud, bounded, operation, key, denial):
    request = {"Bucket": "bounded", "Key": key}
    event = {"service": "s3", "call": operation, "with": request}
    answer = json.loads(
        cloud.client("lambda").invoke(FunctionName=bounded, Payload=json.dumps(event))["Payload"].read()
    )

    assert answer.get("code") == ("AccessDenied" if denial else None)
    lines = [json.loads(line) for line in (cloud.workdir / "iam-decisions.jsonl").read_text().splitlines()]
    decided = {line["decision"] for line in lines if line["resource"] == f"arn:aws:s3:::bounded/{key}"}
    assert (denial is None) == (decided == {"allow"})


def test_the_simulator_knows_a_role_by_its_path_and_its_boundary(cloud, bounded):
    iam = cloud.client("iam")
    [arn] = [each["Arn"] for each in iam.list_roles(PathPrefix="/company/")["Roles"]]

    def simulated(source: str, action: str) -> dict:
        asked = {"PolicySourceArn": source, "ActionNames": [action], "ResourceArns": ["arn:aws:s3:::bounded/a"]}
        return iam.simulate_principal_policy(**asked)["EvaluationResults"][0]

    denied = simulated(arn, "s3:DeleteObject")
    assert (denied["EvalDecision"], denied["PermissionsBoundaryDecisionDetail"]) == (
        "implicitDeny", {"AllowedByPermissionsBoundary": False},
    )  # fmt: skip
    assert simulated(arn, "s3:PutObject")["EvalDecision"] == "allowed"
    with pytest.raises(iam.exceptions.NoSuchEntityException):
        simulated(arn.replace("role/company/", "role/"), "s3:PutObject")


LAUNCH = {"ImageId": "ami-12c6146b", "InstanceType": "m6i.large", "MinCount": 1, "MaxCount": 1}
RUN_TAG = [{"Key": "storage:run", "Value": "r"}]
FSX = {"FileSystemType": "OPENZFS", "SubnetIds": ["subnet-1234567890abcdef0"], "StorageCapacity": 64}


@pytest.mark.parametrize(
    ("service", "operation", "parameters", "missing"),
    [
        ("efs", "create_file_system", {"CreationToken": "t", "Tags": RUN_TAG}, "elasticfilesystem:TagResource"),
        ("fsx", "create_file_system", FSX, "iam:CreateServiceLinkedRole"),
        ("ec2", "run_instances", LAUNCH, "ec2:RunInstances"),
        (
            "ec2", "run_instances",
            LAUNCH | {"TagSpecifications": [{"ResourceType": "instance", "Tags": RUN_TAG}]}, "ec2:CreateTags",
        ),
    ],
)  # fmt: skip
def test_a_call_needs_also_what_it_makes_aws_do_in_its_name(call, service, operation, parameters, missing):
    answer = call(service, operation, **parameters)

    assert f"is not authorized to perform: {missing} on" in answer["message"]
