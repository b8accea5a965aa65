"""Read the actions of a request and its resources."""

import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from cloud.roles import dependents
from cloud.roles.policies import Permission
from local.corrections.clients import PARTITION
from local.corrections.requests import body_of

SERVICE_PREFIXES = {"monitoring": "cloudwatch"}
# The permission of a call is not always its name.
PERMISSIONS = {
    "lambda:Invoke": "lambda:InvokeFunction",
    "lambda:InvokeAsync": "lambda:InvokeFunction",
    "s3:HeadObject": "s3:GetObject",
    "s3:HeadBucket": "s3:ListBucket",
    "s3:ListObjects": "s3:ListBucket",
    "s3:ListObjectsV2": "s3:ListBucket",
    "s3:ListObjectVersions": "s3:ListBucketVersions",
    "s3:ListBuckets": "s3:ListAllMyBuckets",
    "s3:CreateMultipartUpload": "s3:PutObject",
    "s3:UploadPart": "s3:PutObject",
    "s3:CompleteMultipartUpload": "s3:PutObject",
    "s3:CopyObject": "s3:PutObject",
    "s3:UploadPartCopy": "s3:PutObject",
    "s3:DeleteObjects": "s3:DeleteObject",
    "s3express:ListDirectoryBuckets": "s3express:ListAllMyDirectoryBuckets",
}


DYNAMODB_ITEM_PERMISSIONS = {"Put": "PutItem", "Update": "UpdateItem", "Delete": "DeleteItem", "Get": "GetItem"}


@dataclass(frozen=True)
class Caller:
    """The role session that signed a request."""

    role: str
    role_arn: str
    arn: str
    userid: str
    account: str
    region: str
    service: str
    access_key: str = ""


def needed_permissions(response: Any, caller: Caller) -> list[tuple[Permission, dict[str, str]]]:
    """Return everything that a call needs, each permission with its own condition keys."""
    called = f"{caller.service}:{response._get_action()}"
    needed = dependents.needed(called, response, body_of(response), caller.account, caller.region)
    permissions = [(Permission(action, resource), context) for action, resource, context in needed]
    # The use of a key is checked in addition to the call's own action.
    if all(permission.action.startswith("kms:") for permission, _ in permissions):
        permissions = [(permission, {}) for permission in _permissions(response, caller)] + permissions
    return permissions


def _permissions(response: Any, caller: Caller) -> list[Permission]:
    """Return a call's own action on the resources that can be read from the request."""
    name = f"{caller.service}:{response._get_action()}"
    prefix = f"arn:{PARTITION}:{caller.service}:{caller.region}:{caller.account}:"
    parameters = body_of(response)
    if caller.service == "dynamodb":
        return _dynamodb_permissions(response._get_action(), parameters, prefix)
    return [Permission(PERMISSIONS.get(name, name), resource) for resource in _resources(response, parameters, prefix)]


def _dynamodb_permissions(action: str, parameters: dict, prefix: str) -> list[Permission]:
    def table(name: str) -> str:
        return name if name.startswith("arn:") else f"{prefix}table/{name}"

    if action in ("TransactWriteItems", "TransactGetItems"):
        return [
            Permission(f"dynamodb:{DYNAMODB_ITEM_PERMISSIONS.get(kind, kind)}", table(operation["TableName"]))
            for entry in parameters.get("TransactItems", [])
            for kind, operation in entry.items()
        ]
    if action in ("BatchWriteItem", "BatchGetItem"):
        return [Permission(f"dynamodb:{action}", table(name)) for name in parameters.get("RequestItems", {})]
    index = f"/index/{parameters['IndexName']}" if "IndexName" in parameters else ""
    resource = table(parameters["TableName"]) + index if "TableName" in parameters else "*"
    return [Permission(f"dynamodb:{action}", resource)]


def _resources(response: Any, parameters: dict, prefix: str) -> list[str]:
    """Return the ARNs that can be read from a request, else '*'."""
    path = unquote(getattr(response, "path", "") or response.uri)
    names: list[str | None]
    match prefix.split(":")[2]:
        case "lambda":
            match = re.search(r"/functions/([^/?]+)", path)
            names = [match[1] if match[1].startswith("arn:") else f"{prefix}function:{match[1]}"] if match else []
        case "elasticfilesystem" | "s3files" as service:
            # A query of S3 Files has the id, too; one of EFS filters a list.
            place = response.parsed_url.geturl() if service == "s3files" else path
            given = parameters.get("FileSystemId") or parameters.get("fileSystemId") or place
            match = re.search(r"fs-[0-9a-f]+", given)
            names = [f"{prefix}file-system/{match[0]}"] if match else []
        case "fsx":
            ids = parameters.get("FileSystemIds") or [parameters.get("FileSystemId")]
            names = [f"{prefix}file-system/{each}" for each in ids if each] or [parameters.get("ResourceARN")]
        case "cloudformation":
            # A stack's ARN ends in an id that the name does not contain.
            name = response._get_param("StackName") or ""
            names = [name if name.startswith("arn:") else f"{prefix}stack/{name}/0"] if name else []
        case "ec2":
            names = [f"{prefix}instance/{each}" for each in response._get_param("InstanceIds") or []]
        case "rbin":
            match = re.search(r"/rules/(\w+)", path)
            names = [f"{prefix}rule/{match[1]}"] if match else []
        case "servicequotas":
            names = [f"{prefix}{parameters.get('ServiceCode')}/{parameters.get('QuotaCode')}"]
        case "ssm":
            names = [
                _parameter_arn(prefix, each) for each in parameters.get("Names") or [parameters.get("Name")] if each
            ]
        case "logs" if parameters.get("logGroupName"):
            names = [f"{prefix}log-group:{parameters['logGroupName']}:*"]
        case _:
            named = ("stateMachineArn", "executionArn", "mapRunArn", "TopicArn", "ResourceARN", "resourceArn")
            names = [parameters.get(word) for word in named]
    return [name for name in names if name] or ["*"]


def _parameter_arn(prefix: str, name: str) -> str:
    """Return a parameter's ARN; the ARN of a public one contains no account."""
    partition, region = prefix.split(":")[1], prefix.split(":")[3]
    own = f"{prefix}parameter/{name.lstrip('/')}"
    return f"arn:{partition}:ssm:{region}::parameter{name}" if name.startswith("/aws/") else own
