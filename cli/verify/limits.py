"""Step: what the account allows, all that is missing at once, before anything is asked for twice."""

from collections.abc import Iterator, Sequence
from typing import Any

from botocore.exceptions import ClientError

from cli.verify.checks import Check, assumed, required
from cli.verify.stack import Stack
from matrix.plan import quotas
from matrix.plan.account import CONCURRENCY
from matrix.plan.quotas import Quota, request_line
from matrix.terms.documents.plan import PlanDocument

# maxConcurrentFileSystems is at most 40, and the sweep wants one more.
FUNCTIONS_AT_ONCE = 41


def checks(stack: Stack, plans: Sequence[PlanDocument]) -> Iterator[Check]:
    """Compare the needs of all measurements, one after another, with the account's quotas and zones."""
    types = sorted({cell["fleet"]["instanceType"] for plan in plans for cell in plan["cells"]})
    yield from _quotas(stack, plans, types)
    yield _concurrency(stack)
    for instance_type in types:
        yield from _zones(stack, instance_type)


def _quotas(stack: Stack, plans: Sequence[PlanDocument], types: list[str]) -> Iterator[Check]:
    described = stack.client("ec2").describe_instance_types(InstanceTypes=types)["InstanceTypes"]
    vcpus = {each["InstanceType"]: each["VCpuInfo"]["DefaultVCpus"] for each in described}
    most: dict[Quota, float] = {}
    for plan in plans:
        for need in quotas.needs(plan, vcpus, at_once=1):
            most[need.quota] = max(most.get(need.quota, 0.0), need.amount)
    for quota, amount in most.items():
        value = _value(stack, quota)
        yield required(
            f"{quota.name} ({quota.service} {quota.code})",
            f"at least {amount:g} {quota.unit}",
            f"{value:g} {quota.unit}",
            is_so=value >= amount,
            way_out=f"ask for more: `{request_line(quota, amount)}`",
        )


def _concurrency(stack: Stack) -> Check:
    value = _value(stack, CONCURRENCY)
    return assumed(
        f"{CONCURRENCY.name} ({CONCURRENCY.service} {CONCURRENCY.code})",
        f"at least {FUNCTIONS_AT_ONCE} functions",
        f"{value:g} functions",
        is_so=value >= FUNCTIONS_AT_ONCE,
        way_out="ask for 1,000, the usual default, or keep maxConcurrentFileSystems below it: throttled calls are "
        "repeated for about a minute, then a cell fails",
    )


def _value(stack: Stack, quota: Quota) -> float:
    client = stack.client("service-quotas")
    try:
        answer = client.get_service_quota(ServiceCode=quota.service, QuotaCode=quota.code)
    except ClientError as error:
        if error.response["Error"]["Code"] != "NoSuchResourceException":
            raise
        # A quota that was never raised for this account is known by its default only.
        answer = client.get_aws_default_service_quota(ServiceCode=quota.service, QuotaCode=quota.code)
    return float(answer["Quota"]["Value"])


def _zones(stack: Stack, instance_type: str) -> Iterator[Check]:
    """Yield whether the zones of the stack have a type: the first must, as file systems of one zone are there."""
    client = stack.client("ec2")
    subnets: list[dict[str, Any]] = client.describe_subnets(SubnetIds=stack.subnets)["Subnets"]
    zone_of = {subnet["SubnetId"]: subnet["AvailabilityZone"] for subnet in subnets}
    offered = {
        offering["Location"]
        for offering in client.describe_instance_type_offerings(
            LocationType="availability-zone", Filters=[{"Name": "instance-type", "Values": [instance_type]}]
        )["InstanceTypeOfferings"]
    }
    for number, subnet in enumerate(stack.subnets):
        zone = zone_of[subnet]
        check = required if number == 0 else assumed
        yield check(
            f"{instance_type} in {zone}",
            "offered",
            "offered" if zone in offered else "not offered",
            is_so=zone in offered,
            way_out="deploy with the parameter AvailabilityZones, three of: " + ", ".join(sorted(offered)),
        )
