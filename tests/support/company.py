"""The policies of docs/deploy, put into force on the roles of a running local cloud."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from support.grants import granted
from support.runs import ROOT, Cloud

FOLDER = ROOT / "docs/deploy"


def document(name: str) -> dict[str, Any]:
    return dict(json.loads((FOLDER / f"{name}.json").read_text()))


def boundary() -> dict[str, Any]:
    """The boundary that allows the actions of all roles of the template, and no other."""
    actions = sorted({grant.action for grant in granted()})
    statement = {"Sid": "StorageMatrix", "Effect": "Allow", "Action": actions, "Resource": "*"}
    return {"Version": "2012-10-17", "Statement": [statement]}


def made(cloud: Cloud, name: str, policy: dict[str, Any]) -> str:
    """Create a policy in the account; its ARN."""
    answer = cloud.client("iam").create_policy(PolicyName=name, PolicyDocument=json.dumps(policy))
    return str(answer["Policy"]["Arn"])


def key(cloud: Cloud) -> str:
    """Create a key of KMS with its policy; its ARN."""
    policy = json.dumps(document("key-policy")).replace("eu-west-1", cloud.description["region"])
    return str(cloud.client("kms").create_key(Policy=policy, KeyUsage="ENCRYPT_DECRYPT")["KeyMetadata"]["Arn"])


@contextmanager
def bounded(cloud: Cloud, name: str, *policies: dict[str, Any]) -> Iterator[None]:
    """Set the statements of policies as permissions boundary of each role of the stack, in place of its former one."""
    iam = cloud.client("iam")
    statements = [statement for policy in policies for statement in policy["Statement"]]
    arn = made(cloud, name, {"Version": "2012-10-17", "Statement": statements})
    roles = [role["RoleName"] for role in iam.list_roles()["Roles"] if role["RoleName"].startswith("storage-matrix-")]
    before = {role: iam.get_role(RoleName=role)["Role"].get("PermissionsBoundary") for role in roles}
    for role in roles:
        iam.put_role_permissions_boundary(RoleName=role, PermissionsBoundary=arn)
    try:
        yield
    finally:
        for role, boundary in before.items():
            if boundary:
                known = boundary["PermissionsBoundaryArn"]
                iam.put_role_permissions_boundary(RoleName=role, PermissionsBoundary=known)
            else:
                iam.delete_role_permissions_boundary(RoleName=role)


if __name__ == "__main__":
    (FOLDER / "boundary.json").write_text(json.dumps(boundary(), indent=2) + "\n")
