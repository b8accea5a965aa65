"""Check account-wide restrictions before launch. Only the Free plan refuses a plan; the others are warnings."""

from collections.abc import Mapping
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from aws.stack import denials
from aws.stack.clients import impatient_client, session
from aws.stack.environment import environment
from matrix.plan import account
from matrix.terms.documents.plan import PlanWarning

# Its only endpoint. Other partitions know no such plan.
FREE_TIER_REGION, FREE_TIER_PARTITION = "us-east-1", "aws"


def check(types: Mapping[str, Mapping[str, Any]]) -> tuple[str | None, list[PlanWarning]]:
    """Return why the account cannot launch these types (by name EC2's description), or None, and warnings."""
    region = environment().region
    refusal, warnings, unasked = None, [], []
    # Accounts on the Free plan may start only eligible types, so ask only if another type is used.
    not_eligible = [name for name, description in types.items() if not description.get("FreeTierEligible")]
    if not_eligible and session().get_partition_for_region(region) == FREE_TIER_PARTITION:
        try:
            answer = impatient_client("freetier", FREE_TIER_REGION).get_account_plan_state()
            refusal = account.refusal_of_free_plan(answer.get("accountPlanType", ""), not_eligible)
        except (ClientError, BotoCoreError) as error:
            unasked.append(f"the account's plan ({denials.reason(error)})")
    try:
        options = impatient_client("ec2").describe_vpc_block_public_access_options()["VpcBlockPublicAccessOptions"]
        warnings.append(account.warning_of_public_access(options.get("InternetGatewayBlockMode", account.OFF)))
    except (ClientError, BotoCoreError) as error:
        unasked.append(f"VPC Block Public Access ({denials.reason(error)})")
    warnings.append(account.warning_of_unasked(unasked))
    return refusal, [warning for warning in warnings if warning]
