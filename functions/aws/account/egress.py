"""Ask EC2 for the routes and endpoints of the stack's subnets, before anything exists."""

from botocore.exceptions import BotoCoreError, ClientError

from aws.stack import network
from aws.stack.clients import client
from aws.stack.environment import environment
from contract.retryable import reason_of
from matrix.plan import egress
from matrix.plan.egress import WayOut
from matrix.terms.problems import Problem, Weight


def ways_out() -> tuple[list[WayOut], list[Problem]]:
    """Return the way out of each subnet of the stack; none, and a warning, if EC2 cannot be asked."""
    try:
        return egress.of_subnets(client("ec2"), network.subnets(), environment().region), []
    except (ClientError, BotoCoreError) as error:
        rule = f"could not be asked for routes and endpoints ({reason_of(error)})"
        fix = "see that they reach S3 and STS: docs/company.md"
        return [], [Problem(egress.PATH, network.subnets(), rule, fix, weight=Weight.NOTE)]
