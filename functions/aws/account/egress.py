"""Ask EC2 for the routes and endpoints of the stack's subnets, before anything exists."""

from botocore.exceptions import BotoCoreError, ClientError

from aws.stack import network
from aws.stack.clients import client
from aws.stack.environment import environment
from contract.retryable import reason_of
from matrix.input.matrix import Matrix
from matrix.plan import egress
from matrix.terms.documents.plan import PlanDocument
from matrix.terms.problems import Problem, Problems


def problems(plan: PlanDocument, matrix: Matrix) -> Problems:
    """Yield the parts of a plan that cannot work in the stack's subnets; one warning if EC2 cannot be asked."""
    region = environment().region
    try:
        yield from egress.problems(egress.of_subnets(client("ec2"), network.subnets(), region), plan, matrix, region)
    except (ClientError, BotoCoreError) as error:
        rule = f"could not be asked for routes and endpoints ({reason_of(error)})"
        yield Problem(
            egress.PATH, network.subnets(), rule, "see that they reach S3 and STS: docs/company.md", is_warning=True
        )
