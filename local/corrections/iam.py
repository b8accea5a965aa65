"""IAM judges nothing here: moto's enforcement knows no conditions, and denies every ARN-scoped grant except S3's.

moto ignores a template's ManagedPolicyArns, changes of its roles' policies, and changes and ends of managed ones.
"""

import json
from typing import Any

from moto.iam.access_control import PermissionResult
from moto.iam.models import IAMBackend, ManagedPolicy, Role, iam_backends
from moto.s3.models import FakeBucket

from local.corrections.clients import PARTITION


def install() -> None:
    """Ignore the policies of buckets, load AWS's 1,500 managed policies once, and complete what templates make.

    moto ignores Condition: a Deny of plain HTTP would deny everything. It reads the managed policies for each
    partition, which costs 0.8 s of every start.
    """
    FakeBucket.get_permission = lambda _bucket, _action, _resource: PermissionResult.NEUTRAL
    load = IAMBackend._init_aws_policies
    IAMBackend._init_aws_policies = lambda self: load(self) if self.region_name == PARTITION else []
    _complete_roles_of_templates()
    _complete_policies_of_templates()


def _complete_roles_of_templates() -> None:
    make = Role.create_from_cloudformation_json.__func__

    def create(cls: Any, resource_name: str, cloudformation_json: dict, *given: Any, **more: Any) -> Any:
        role = make(cls, resource_name, cloudformation_json, *given, **more)
        _attach(role, {}, cloudformation_json["Properties"])
        return role

    def update(
        cls: Any,  # noqa: ARG001
        /,
        original_resource: Any,
        cloudformation_json: dict,
        **_: Any,
    ) -> Any:
        properties = cloudformation_json["Properties"]
        before = original_resource.made_of
        for name in {policy["PolicyName"] for policy in before.get("Policies", [])}:
            original_resource.policies.pop(name, None)
        for policy in properties.get("Policies", []):
            original_resource.put_policy(policy["PolicyName"], policy["PolicyDocument"])
        original_resource.permissions_boundary_arn = properties.get("PermissionsBoundary", "")
        _attach(original_resource, before, properties)
        return original_resource

    end = Role.delete_from_cloudformation_json.__func__

    def delete(cls: Any, resource_name: str, cloudformation_json: dict, account_id: str, region_name: str) -> None:
        iam_backends[account_id][PARTITION].get_role(resource_name).managed_policies.clear()
        end(cls, resource_name, cloudformation_json, account_id, region_name)

    Role.create_from_cloudformation_json = classmethod(create)
    Role.delete_from_cloudformation_json = classmethod(delete)
    Role.update_from_cloudformation_json = classmethod(update)


def _attach(role: Any, before: dict[str, Any], properties: dict[str, Any]) -> None:
    """Attach the managed policies that a template names, and detach those that it no longer names."""
    known = iam_backends[role.account_id][PARTITION].managed_policies
    old, new = (each.get("ManagedPolicyArns", []) for each in (before, properties))
    for arn in set(old) - set(new):
        role.managed_policies.pop(arn, None)
    for arn in new:
        known[arn].attach_to(role)
    role.made_of = properties


def _complete_policies_of_templates() -> None:
    make = ManagedPolicy.create_from_cloudformation_json.__func__

    def create(cls: Any, resource_name: str, cloudformation_json: dict, *given: Any, **more: Any) -> Any:
        properties = {"Path": "/", **cloudformation_json["Properties"]}
        return make(cls, resource_name, cloudformation_json | {"Properties": properties}, *given, **more)

    def update(
        cls: Any,  # noqa: ARG001
        /,
        original_resource: Any,
        cloudformation_json: dict,
        **_: Any,
    ) -> Any:
        [version] = [each for each in original_resource.versions if each.is_default]
        version.document = json.dumps(cloudformation_json["Properties"]["PolicyDocument"])
        return original_resource

    def delete(self: Any, account: str, region: str) -> None:  # noqa: ARG001
        backend = iam_backends[account][PARTITION]
        for role in backend.roles.values():
            role.managed_policies.pop(self.arn, None)
        backend.managed_policies.pop(self.arn, None)

    ManagedPolicy.create_from_cloudformation_json = classmethod(create)
    ManagedPolicy.update_from_cloudformation_json = classmethod(update)
    ManagedPolicy.delete = delete
