"""Steps: the account's quotas and settings, all that is missing at once; launches that EC2 only checks."""

from collections.abc import Iterator, Sequence
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from cli.verify.checks import Check, assumed, required
from cli.verify.stack import Stack
from matrix.plan import egress, quotas
from matrix.plan.account import CONCURRENCY
from matrix.plan.quotas import request_line
from matrix.storages.base import Quota
from matrix.terms.documents.plan import PlanDocument

# maxConcurrentFileSystems is at most 40, and the sweep wants one more.
FUNCTIONS_AT_ONCE = 41
# Services that a Session Manager shell needs.
SHELL = ("ssm", "ssmmessages")


def checks(stack: Stack, plans: Sequence[PlanDocument]) -> Iterator[Check]:
    """Compare the needs of all measurements, one after another, with the account's quotas and zones."""
    types = sorted({cell["fleet"]["instanceType"] for plan in plans for cell in plan["cells"]})
    yield from _quotas(stack, plans, types)
    yield _concurrency(stack)
    # The local cloud emulates neither of the two.
    if stack.deployment.environment == "aws":
        yield _plan_of_account(stack)
        yield _public_access(stack)
    yield from _ways_out(stack)
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
            fix=f"ask for more: `{request_line(quota, amount)}`",
        )


def _concurrency(stack: Stack) -> Check:
    value = _value(stack, CONCURRENCY)
    return assumed(
        f"{CONCURRENCY.name} ({CONCURRENCY.service} {CONCURRENCY.code})",
        f"at least {FUNCTIONS_AT_ONCE} functions",
        f"{value:g} functions",
        is_so=value >= FUNCTIONS_AT_ONCE,
        fix="ask for 1,000, the usual default, or keep maxConcurrentFileSystems below it: throttled calls are "
        "repeated for about a minute, then a cell fails",
    )


def _plan_of_account(stack: Stack) -> Check:
    """Check that the account is not limited to the few instance types of AWS's Free plan.

    botocore finds the only endpoint, in us-east-1, from any region.
    https://docs.aws.amazon.com/aws-cost-management/latest/APIReference/API_freetier_GetAccountPlanState.html
    """
    what = "plan of the account (freetier GetAccountPlanState)"
    fix = "EC2 starts a few small types only: upgrade the account's plan in Billing and Cost Management"
    try:
        kind = stack.client("freetier").get_account_plan_state()["accountPlanType"]
    except (ClientError, BotoCoreError) as error:
        return _unchecked(what, "PAID", error, "nothing, if the account is older than July 2025 or was upgraded")
    return required(what, "PAID", kind, is_so=kind == "PAID", fix=fix)


def _public_access(stack: Stack) -> Check:
    """Check whether instances in a public subnet may reach AWS's APIs."""
    what, off = "VPC Block Public Access of the region", "off"
    try:
        options = stack.client("ec2").describe_vpc_block_public_access_options()["VpcBlockPublicAccessOptions"]
    except (ClientError, BotoCoreError) as error:
        return _unchecked(what, off, error, "see `aws ec2 describe-vpc-block-public-access-options`")
    mode = options.get("InternetGatewayBlockMode", off)
    fix = "instances cannot reach AWS's APIs by an internet gateway, unless the stack's VPC is excluded: exclude it"
    return assumed(what, off, mode, is_so=mode == off, fix=fix)


def _ways_out(stack: Stack) -> Iterator[Check]:
    """Check that instances in each subnet of the stack reach S3, STS and Amazon Linux's packages.

    With SessionManager, also the two services of its shell; without them only the shell fails.
    """
    region = stack.deployment.region or ""
    services = [*egress.CALLED, *(SHELL if stack.parameters.get("SessionManager") == "true" else ())]
    try:
        ways = egress.of_subnets(stack.client("ec2"), stack.subnets, region)
    except (ClientError, BotoCoreError) as error:
        yield _unchecked("ways out of the subnets", "S3 and STS are reached", error, "see docs/company.md")
        return
    for way in ways:
        reached = {service: way.reaches(service) for service in services}
        reached["packages of Amazon Linux"] = way.reaches_packages("al2023")
        for what, is_reached in reached.items():
            check = required if is_reached is False and what in egress.CALLED else assumed
            words = {True: "a way", False: "no way", None: "none to be seen, unless another network has one"}
            service = what if what in services else egress.OBJECTS
            yield check(
                f"{way.subnet} to {what}", "a way", words[is_reached], is_so=bool(is_reached),
                fix=f"create an endpoint: {egress.creation_of(service, way, region)}",
            )  # fmt: skip


def _unchecked(what: str, expected: str, error: ClientError | BotoCoreError, fix: str) -> Check:
    reason = error.response["Error"]["Code"] if isinstance(error, ClientError) else type(error).__name__
    return assumed(what, expected, f"not checked: {reason}", is_so=False, fix=fix)


def _value(stack: Stack, quota: Quota) -> float:
    client = stack.client("service-quotas")
    try:
        answer = client.get_service_quota(ServiceCode=quota.service, QuotaCode=quota.code)
    except ClientError as error:
        if error.response["Error"]["Code"] != "NoSuchResourceException":
            raise
        # Service Quotas returns only the default for a quota that was never raised for this account.
        answer = client.get_aws_default_service_quota(ServiceCode=quota.service, QuotaCode=quota.code)
    return float(answer["Quota"]["Value"])


def _zones(stack: Stack, instance_type: str) -> Iterator[Check]:
    """Check that the stack's zones offer an instance type. The first must: single-zone file systems are there."""
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
            fix="deploy with the parameter AvailabilityZones, three of: " + ", ".join(sorted(offered)),
        )


# --- launches that EC2 only checks (DryRun): template, image, type and subnet fit together ----------------------------

# Error codes of a dry run: the launch would succeed, and the user may not launch instances.
WOULD_LAUNCH, NOT_YOURS = "DryRunOperation", "UnauthorizedOperation"


def launches(stack: Stack, plan: PlanDocument) -> Iterator[Check]:
    """Request a dry run of a launch in each subnet of the stack; nothing is launched."""
    client = stack.client("ec2")
    cell = plan["cells"][0]
    planned = next(image for image in plan["images"] if image["id"] == cell["image"])
    image = stack.client("ssm").get_parameter(Name=planned["base_parameter"])["Parameter"]["Value"]
    template = stack.launch_settings["LAUNCH_TEMPLATE_ID"]
    for subnet in stack.subnets:
        what = f"{cell['fleet']['instanceType']} of {image} by {template} in {subnet}"
        try:
            client.run_instances(
                DryRun=True, MinCount=1, MaxCount=1, ImageId=image, InstanceType=cell["fleet"]["instanceType"],
                SubnetId=subnet, LaunchTemplate={"LaunchTemplateId": template},
            )  # fmt: skip
            code, message = "an answer", "EC2 took no notice of DryRun"
        except ClientError as error:
            code, message = error.response["Error"]["Code"], error.response["Error"]["Message"]
        if code == NOT_YOURS:
            advice = "you may not launch instances yourself; the functions' role was asked about in the step before"
            yield assumed(what, WOULD_LAUNCH, code, is_so=False, fix=advice)
        else:
            seen = code if code == WOULD_LAUNCH else f"{code}: {message}"
            yield required(what, WOULD_LAUNCH, seen, is_so=code == WOULD_LAUNCH, fix="fix what EC2 names")
