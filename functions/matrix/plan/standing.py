"""Restrictions of a whole account by AWS that no quota shows."""

from collections.abc import Iterable

from matrix.terms.documents.plan import PlanWarning

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
    return {"path": "account", "value": mode, "message": message}


def warning_of_unasked(reasons: list[str]) -> PlanWarning | None:
    """Return a warning that a restriction could not be checked; EC2 decides at the launch."""
    if not reasons:
        return None
    message = "these settings of the account could not be asked for; where one forbids it, launches fail"
    return {"path": "account", "value": "; ".join(reasons), "message": f"{message}: {'; '.join(reasons)}"}
