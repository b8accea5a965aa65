"""CloudFormation resource types that moto does not know, each created by the service's own API."""

import contextlib
import json
from typing import Any

from moto.cloudformation import parsing
from moto.cloudformation.exceptions import UnformattedGetAttTemplateException
from moto.core.common_models import CloudFormationModel
from moto.ec2.models import ec2_backends
from moto.s3.exceptions import MissingBucket
from moto.s3.models import s3_backends

from local.corrections.clients import ACCOUNT, Operator
from local.corrections.networks import authorize_egress

_operator: Operator


def install(operator: Operator) -> None:
    """Make moto search for resource types again, because it collected its own at import."""
    global _operator  # noqa: PLW0603 - moto creates resources by class methods, which get no operator
    _operator = operator
    for cached in (parsing.get_model_list, parsing.get_model_map, parsing.get_name_type_map):
        cached.cache_clear()


class _ApiResource:
    """Common part of the types; a type adds its creation (id and attributes) and its deletion."""

    TYPE = ""
    NAME_PROPERTY = ""

    def __init__(self, name: str, properties: dict[str, Any], account: str, region: str) -> None:
        self.properties = properties
        self.physical_resource_id, self.attributes = self._make(name, properties, account, region)

    @classmethod
    def cloudformation_type(cls) -> str:
        return cls.TYPE

    @classmethod
    def cloudformation_name_type(cls) -> str:
        return cls.NAME_PROPERTY

    @classmethod
    def has_cfn_attr(cls, attr: str) -> bool:  # noqa: ARG003
        return True

    def get_cfn_attribute(self, name: str) -> Any:
        if name not in self.attributes:
            raise UnformattedGetAttTemplateException
        return self.attributes[name]

    @classmethod
    def create_from_cloudformation_json(cls, name: str, resource: dict, account: str, region: str, **_: Any) -> Any:
        return cls(name, resource.get("Properties", {}), account, region)

    @classmethod
    def update_from_cloudformation_json(
        cls,
        original_resource: Any,
        new_resource_name: str,
        cloudformation_json: dict,
        account_id: str,
        region_name: str,
    ) -> Any:
        original_resource._remove(region_name)
        name = original_resource.physical_resource_id if cls.NAME_PROPERTY else new_resource_name
        return cls(name, cloudformation_json.get("Properties", {}), account_id, region_name)

    def delete(self, account: str, region: str) -> None:  # noqa: ARG002
        self._remove(region)

    def _make(self, name: str, properties: dict, account: str, region: str) -> tuple[str, dict[str, Any]]:  # noqa: ARG002
        """Create the resource; by default there is nothing to do."""
        return name, {}

    def _remove(self, region: str) -> None:
        """Delete the resource; by default there is nothing to do."""


class BucketPolicy(_ApiResource, CloudFormationModel):
    """A bucket's policy, kept as it is given."""

    TYPE = "AWS::S3::BucketPolicy"

    def _make(self, name: str, properties: dict, account: str, region: str) -> tuple[str, dict[str, Any]]:  # noqa: ARG002
        policy = json.dumps(properties["PolicyDocument"]).encode()
        s3_backends[account]["aws"].put_bucket_policy(properties["Bucket"], policy)
        return f"{properties['Bucket']}-policy", {}

    def _remove(self, region: str) -> None:  # noqa: ARG002
        with contextlib.suppress(MissingBucket):  # the bucket may have been deleted before
            s3_backends[ACCOUNT]["aws"].delete_bucket_policy(self.properties["Bucket"])


class Schedule(_ApiResource, CloudFormationModel):
    """A schedule of EventBridge Scheduler; local/step_functions/events.py fires it."""

    TYPE = "AWS::Scheduler::Schedule"
    NAME_PROPERTY = "Name"

    def _make(self, name: str, properties: dict, account: str, region: str) -> tuple[str, dict[str, Any]]:  # noqa: ARG002
        answer = _operator.client("scheduler", region).create_schedule(**properties | {"Name": name})
        return name, {"Arn": answer["ScheduleArn"]}

    def _remove(self, region: str) -> None:
        _operator.client("scheduler", region).delete_schedule(Name=self.physical_resource_id)


class Alarm(_ApiResource, CloudFormationModel):
    """A metric alarm, which never fires here because nothing computes its metric."""

    TYPE = "AWS::CloudWatch::Alarm"


class EventInvokeConfig(_ApiResource, CloudFormationModel):
    """Destination of a function's failed asynchronous events. No event is retried here."""

    TYPE = "AWS::Lambda::EventInvokeConfig"


class TopicPolicy(_ApiResource, CloudFormationModel):
    """Permission to publish to a topic. Nothing publishes here."""

    TYPE = "AWS::SNS::TopicPolicy"


class SecurityGroupEgress(_ApiResource, CloudFormationModel):
    """One outbound rule."""

    TYPE = "AWS::EC2::SecurityGroupEgress"

    def _make(self, name: str, properties: dict, account: str, region: str) -> tuple[str, dict[str, Any]]:
        authorize_egress(ec2_backends[account][region], properties["GroupId"], properties)
        return name, {}
