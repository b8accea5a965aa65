"""The Recycle Bin, which moto lacks: rules, and the volumes and snapshots that they keep after their deletion.

EC2 then describes them no more; only the lists of the bin have them. A rule counts from its creation on, and its days
are days: nothing leaves the bin of a local run.
"""

import secrets
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from moto.core.base_backend import BackendDict
from moto.core.exceptions import ServiceException
from moto.core.responses import ActionResult, BaseResponse
from moto.core.utils import utcnow
from moto.ec2.models.elastic_block_store import EBSBackend
from moto.ec2.responses.elastic_block_store import ElasticBlockStore

from local.corrections.own_services import OwnBackend, register

SERVICE = "rbin"
Document = dict[str, Any]


class RecycleBinBackend(OwnBackend):
    """The rules of an account in a region."""

    URL = r"https?://rbin\.(.+)\.amazonaws\.com"

    def __init__(self, region_name: str, account_id: str) -> None:
        super().__init__(region_name, account_id)
        self.rules: dict[str, Document] = {}

    def days(self, kind: str, tags: dict[str, str]) -> int:
        """Return how many days a resource with these tags is kept; 0: it is not."""
        kept = [rule for rule in self.rules.values() if rule["ResourceType"] == kind and _keeps(rule, tags)]
        return max((rule["RetentionPeriod"]["RetentionPeriodValue"] for rule in kept), default=0)


def _keeps(rule: Document, tags: dict[str, str]) -> bool:
    def has(name: str) -> bool:
        return any(tags.get(tag["ResourceTagKey"]) == tag.get("ResourceTagValue") for tag in rule[name])

    return has("ResourceTags") if rule["ResourceTags"] else not has("ExcludeResourceTags")


# In the regions of EBS's snapshots, which moto knows under the name of EC2.
rbin_backends = BackendDict(RecycleBinBackend, "ec2")


class RecycleBinResponse(BaseResponse):
    """Answers, which moto writes by botocore's model."""

    def __init__(self) -> None:
        super().__init__(service_name=SERVICE)
        self.automated_parameter_parsing = True

    @property
    def rules(self) -> dict[str, Document]:
        """Those of the request's account and region."""
        return rbin_backends[self.current_account][self.region].rules

    def create_rule(self) -> ActionResult:
        """POST /rules."""
        name = secrets.token_hex(6)[:11]
        given = {each: self._get_param(each) for each in ("RetentionPeriod", "ResourceType")}
        tags = {each: self._get_param(each) or [] for each in ("ResourceTags", "ExcludeResourceTags")}
        self.rules[name] = {"Identifier": name, "Status": "available", **given, **tags}
        return ActionResult(self.rules[name])

    def list_rules(self) -> ActionResult:
        """POST /list-rules; without tags, as in AWS's answer."""
        kind, shown = self._get_param("ResourceType"), ("Identifier", "RetentionPeriod")
        of_kind = [rule for rule in self.rules.values() if rule["ResourceType"] == kind]
        return ActionResult({"Rules": [{name: rule[name] for name in shown} for rule in of_kind]})

    def get_rule(self) -> ActionResult:
        """GET /rules/{identifier}."""
        if rule := self.rules.get(self._get_param("Identifier")):
            return ActionResult(rule)
        raise ServiceException("ResourceNotFoundException", "There is no such rule.")


def install() -> None:
    """Make moto answer the service, and let deleted volumes and snapshots pass through the bin."""
    if hasattr(ElasticBlockStore, "list_volumes_in_recycle_bin"):
        return
    for kind, one, key in (("EBS_VOLUME", "volume", "VolumeId"), ("EBS_SNAPSHOT", "snapshot", "SnapshotId")):
        delete = getattr(EBSBackend, f"delete_{one}")
        setattr(EBSBackend, f"delete_{one}", _keeping(delete, kind, key))
        setattr(ElasticBlockStore, f"list_{one}s_in_recycle_bin", _listing(kind, f"{one.capitalize()}s"))
    register(SERVICE, rbin_backends, RecycleBinResponse)


def _keeping(delete: Callable[..., Any], kind: str, key: str) -> Callable[..., Any]:
    def delete_and_keep(self: Any, resource_id: str) -> Any:
        tags = {tag["key"]: tag["value"] for tag in self.describe_tags(filters={"resource-id": [resource_id]})}
        volume = self.volumes.get(resource_id)
        facts = {"VolumeType": volume.volume_type, "Size": volume.size, "Iops": volume.iops} if volume else {}
        deleted = delete(self, resource_id)
        if days := rbin_backends[self.account_id][self.region_name].days(kind, tags):
            times = {"RecycleBinEnterTime": utcnow(), "RecycleBinExitTime": utcnow() + timedelta(days=days)}
            _bin(self).setdefault(kind, []).append({key: resource_id, **facts, **times})
        return deleted

    return delete_and_keep


def _listing(kind: str, name: str) -> Callable[[Any], ActionResult]:
    return lambda request: ActionResult({name: _bin(request.ec2_backend).get(kind, [])})


def _bin(backend: Any) -> dict[str, list[Document]]:
    kept: dict[str, list[Document]] = backend.__dict__.setdefault("local_bin", {})
    return kept
