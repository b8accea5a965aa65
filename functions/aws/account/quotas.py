"""Service quotas of the account: a plan that exceeds one is refused before any resource exists."""

from collections.abc import Callable
from functools import partial
from itertools import chain
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from aws.account import standing
from aws.ec2 import instances, recycle_bin
from aws.stack import denials
from aws.stack.clients import client, impatient_client
from aws.stack.environment import environment
from aws.storages.clouds import FILE_SYSTEMS
from matrix.plan import instance_limits, quotas
from matrix.plan.quotas import Need
from matrix.plan.recycle_bin import VOLUME
from matrix.terms.documents.plan import PlanDocument, PlanWarning
from matrix.terms.problems import InvalidMatrix, Problem, Weight

# DescribeInstanceTypes takes a hundred names.
TYPES_AT_ONCE = 100


def check(plan: PlanDocument, at_once: int) -> list[PlanWarning]:
    """Return warnings on a plan; raises QuotaExceeded with all quotas that are too low for it.

    An account on AWS's Free plan is refused too: no quota increase helps there.

    Quotas that could not be read become one warning: EC2, EFS and FSx check them again when a resource is created.
    """
    cells = [cell for cell in plan["cells"] if "taken_from" not in cell]
    # A fleet has an instance type, and so has a storage that is a file server.
    parts = [part for cell in cells for part in (cell["fleet"], cell["storage"])]
    builders = {image["builder"] for image in plan.get("images", []) if image["bake"]}
    named = builders | {part["instanceType"] for part in parts if "instanceType" in part}
    types, unknown = instance_types(sorted(named))
    vcpus = {name: description["VCpuInfo"]["DefaultVCpus"] for name, description in types.items()}
    unasked = [unknown] if unknown else []
    refusals: list[str | None] = []
    for need in quotas.needs(plan, vcpus, at_once):
        try:
            value = _value(need)
            in_use = _in_use(need)
        except (ClientError, BotoCoreError) as error:
            unasked.append(f"{need.quota.name} ({denials.reason(error)})")
            continue
        refusals.append(quotas.refusal(need, value, in_use))
    of_account, warnings = standing.check(types)
    refusals.append(of_account)
    quotas.refuse([refusal for refusal in refusals if refusal])
    # The plan has already warned about the types in its own table.
    described = {
        name: instance_limits.limits_of(description.get("EbsInfo", {}).get("EbsOptimizedInfo", {}))
        for name, description in types.items()
        if name not in instance_limits.known_limits()
    }
    warnings += instance_limits.warnings(
        instance_limits.volumes_of(cells), {name: limits for name, limits in described.items() if limits}
    )
    if unasked:
        given = "; ".join(unasked)
        message = f"these quotas could not be asked for; what exceeds one fails when it is created: {given}"
        warnings.append({"path": "quotas", "value": given, "message": message, "weight": Weight.NOTE})
    return warnings


def instance_types(names: list[str]) -> tuple[dict[str, dict[str, Any]], str]:
    """Return EC2's description of each instance type, and the reason where EC2 refused, else an empty string.

    Raises InvalidMatrix if EC2 does not know one of them.
    """
    descriptions: dict[str, dict[str, Any]] = {}
    try:
        for start in range(0, len(names), TYPES_AT_ONCE):
            answer = client("ec2").describe_instance_types(InstanceTypes=names[start : start + TYPES_AT_ONCE])
            descriptions |= {description["InstanceType"]: description for description in answer["InstanceTypes"]}
    except ClientError as error:
        if error.response["Error"]["Code"] == "InvalidInstanceType":
            # The message names those that do not exist, or that the region does not have.
            rule = f"cannot all be launched in {environment().region}: {error.response['Error']['Message']}"
            fix = "write types that `aws ec2 describe-instance-types` lists there"
            raise InvalidMatrix([Problem("instanceType", names, rule, fix)]) from error
        return descriptions, f"vCPUs of the instance types ({denials.reason(error)})"
    return descriptions, ""


def _value(need: Need) -> float:
    service_quotas = impatient_client("service-quotas")
    name = {"ServiceCode": need.quota.service, "QuotaCode": need.quota.code}
    try:
        answer = service_quotas.get_service_quota(**name)
    except ClientError as error:
        if denials.reason(error) != "NoSuchResourceException":
            raise
        # Service Quotas knows a quota that was never raised for this account by its default only.
        answer = service_quotas.get_aws_default_service_quota(**name)
    return float(answer["Quota"]["Value"])


def _in_use(need: Need) -> float:
    """Return how much of a quota the whole account uses now, other projects included."""
    uses: dict[str, Callable[[], float]] = {
        **{code: use for storage in FILE_SYSTEMS.values() for code, use in storage.in_use().items()},
        **{quota.code: partial(_of_volumes, kind, "Size", 1_024) for kind, quota in quotas.EBS_STORAGE.items()},
        **{quota.code: partial(_of_volumes, kind, "Iops") for kind, quota in quotas.EBS_IOPS.items()},
    }
    return uses.get(need.quota.code, lambda: instances.running_vcpus(need.quota))()


def _of_volumes(kind: str, name: str, unit: float = 1) -> float:
    """Return how much all volumes of a type have, with those that the Recycle Bin keeps: they count, too."""
    of_kind = [{"Name": "volume-type", "Values": [kind]}]
    kept = (volume for volume in recycle_bin.kept(VOLUME) if volume["VolumeType"] == kind)
    return sum(volume.get(name) or 0 for volume in chain(instances.volumes(of_kind), kept)) / unit
