"""What a plan needs of the account: quotas beside AWS's defaults, with commands to raise them, and its settings."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from matrix.plan.quotas import (
    EBS_IOPS,
    EBS_STORAGE,
    STANDARD,
    STANDARD_SPOT,
    needs,
    request_line,
)
from matrix.storages.base import Quota
from matrix.storages.models import MODELS
from matrix.terms.documents.plan import PlanDocument, PlanWarning
from matrix.terms.problems import Weight

FREE, OFF = "FREE", "off"


def refusal_of_free_plan(kind: str, not_eligible: Iterable[str]) -> str | None:
    """Return why an account on AWS's Free plan cannot run a plan, if EC2 does not start the plan's types there.

    RunInstances answers "The specified instance type is not eligible for Free Tier".
    """
    types = sorted(not_eligible)
    if kind != FREE or not types:
        return None
    return (
        f"The account is on AWS's Free plan, where EC2 does not start {', '.join(types)}. Upgrade the account's plan in"
        " Billing and Cost Management."
    )


def warning_of_public_access(mode: str) -> PlanWarning | None:
    """Return a warning if VPC Block Public Access may cut instances off from AWS's APIs.

    Both modes block an instance that reaches the internet by an internet gateway without NAT, as in the stack's VPC.
    """
    if mode == OFF:
        return None
    message = (
        f"VPC Block Public Access of the region is {mode}: instances in the stack's own VPC cannot reach AWS's APIs and"
        " their cells fail, unless the VPC is excluded (aws ec2 create-vpc-block-public-access-exclusion)"
    )
    return {"path": "account", "value": mode, "message": message, "weight": Weight.NOTE}


def warning_of_unasked(reasons: list[str]) -> PlanWarning | None:
    """Return a warning that a restriction could not be checked; EC2 decides at the launch."""
    if not reasons:
        return None
    given = "; ".join(reasons)
    message = f"these settings of the account could not be asked for; where one forbids it, launches fail: {given}"
    return {"path": "account", "value": given, "message": message, "weight": Weight.NOTE}


# Each file system that is measured at the same time runs one function at a time, and so does the sweep.
CONCURRENCY = Quota("lambda", "L-B99A9384", "Concurrent executions", "functions")
# Subnets of the stack's own VPC have 12 bits for hosts (template.yaml); AWS keeps five addresses of each subnet.
# https://docs.aws.amazon.com/vpc/latest/userguide/subnet-sizing.html
ADDRESSES_OF_SUBNET = 2**12 - 5
# AWS's defaults in most regions, from published outputs of `aws service-quotas list-aws-default-service-quotas` (read
# November 2026). For other classes of instances the quota of most accounts is 0 before a request.
DEFAULTS: Mapping[Quota, float] = {
    STANDARD: 5, STANDARD_SPOT: 5, CONCURRENCY: 1_000,
    EBS_STORAGE["io2"]: 20, EBS_IOPS["io1"]: 300_000, EBS_IOPS["io2"]: 100_000,
    **{EBS_STORAGE[kind]: 50 for kind in ("gp2", "gp3", "io1", "sc1", "st1")},
    **{quota: quota.default for model in MODELS.values() for quota in model.traits.quotas if quota.default is not None},
}  # fmt: skip
# vCPUs of an instance by its size: two of a `large`, four for each x of an `xlarge`.
_SMALL = {"nano": 2, "micro": 2, "small": 2, "medium": 2, "large": 2, "xlarge": 4}
# vCPUs of the larger bare metal types; the number differs from family to family.
METAL_VCPUS = 128
_EXCEPTIONS = {"c4.8xlarge": 36, "d2.8xlarge": 36, "t2.nano": 1, "t2.micro": 1, "t2.small": 1}


@dataclass(frozen=True)
class AccountNeed:
    """A plan's largest use of a quota at one time, and AWS's default; None if the default is not known."""

    quota: Quota
    amount: float
    default: float | None

    @property
    def is_beyond(self) -> bool:
        """Whether the default is not known to be enough."""
        return self.default is None or self.amount > self.default

    @property
    def request(self) -> str:
        """The command that asks AWS for as much as the plan needs."""
        return request_line(self.quota, self.amount)


def account_needs(plan: PlanDocument, at_once: int) -> list[AccountNeed]:
    """Return the plan's use of each quota while `at_once` of its file systems are measured at the same time."""
    parts = [part for cell in plan["cells"] for part in (cell["fleet"], cell["storage"]) if "instanceType" in part]
    types = {*(part["instanceType"] for part in parts), *(image["builder"] for image in plan["images"])}
    vcpus = {instance_type: vcpus_of(instance_type) for instance_type in types}
    named = [AccountNeed(need.quota, need.amount, DEFAULTS.get(need.quota)) for need in needs(plan, vcpus, at_once)]
    functions = min(at_once, len(plan["file_systems"])) + 1
    return [*named, AccountNeed(CONCURRENCY, functions, DEFAULTS[CONCURRENCY])]


def addresses(plan: PlanDocument, at_once: int) -> int:
    """Return how many instances may be in one subnet at the same time: of each file system its largest fleet."""
    largest: dict[tuple[int, str], int] = {}
    for cell in plan["cells"]:
        key = (cell.get("launch", 1), cell["file_system"])
        largest[key] = max(largest.get(key, 0), int(cell["fleet"]["count"]))
    launches = {launch for launch, _ in largest}
    counts = [[count for (number, _), count in largest.items() if number == launch] for launch in launches]
    return max(sum(sorted(of_launch, reverse=True)[:at_once]) for of_launch in counts)


def vcpus_of(instance_type: str) -> int:
    """Return how many vCPUs an instance type has by the rule of its size; of bare metal about."""
    if instance_type in _EXCEPTIONS:
        return _EXCEPTIONS[instance_type]
    family, _, size = instance_type.partition(".")
    if number := re.fullmatch(r"(?:metal-)?([0-9]+)xl(?:arge)?", size):
        # HPC instances of AMD and Intel have one thread for each core.
        return (2 if re.fullmatch(r"hpc[0-9]+(a|id)", family) else 4) * int(number[1])
    if size == "medium" and not family.startswith("t"):
        return 1
    return _SMALL.get(size, METAL_VCPUS)
