"""Ask EC2 for the routes and endpoints of the stack's subnets, before anything exists."""

from botocore.exceptions import BotoCoreError, ClientError

from aws.stack import network
from aws.stack.clients import client
from aws.stack.environment import environment
from contract.mending import reason_of
from matrix.input.matrix import Matrix
from matrix.plan import ways_out
from matrix.terms.documents.plan import PlanDocument
from matrix.terms.problems import Problem, Problems


def problems(plan: PlanDocument, matrix: Matrix) -> Problems:
    """Yield what of a plan cannot work in the stack's subnets; a warning where EC2 does not say."""
    region = environment().region
    try:
        yield from ways_out.problems(_ways(region), plan, matrix, region)
    except (ClientError, BotoCoreError) as error:
        rule = f"could not be asked for routes and endpoints ({reason_of(error)})"
        yield Problem(
            ways_out.PATH, network.subnets(), rule, "see that they reach S3 and STS: docs/company.md", disputed=True
        )


def _ways(region: str) -> list[ways_out.WayOut]:
    ec2, names = client("ec2"), network.subnets()
    subnets = ec2.describe_subnets(SubnetIds=names)["Subnets"]
    of_vpc = [{"Name": "vpc-id", "Values": sorted({subnet["VpcId"] for subnet in subnets})}]
    tables = [
        table
        for page in ec2.get_paginator("describe_route_tables").paginate(Filters=of_vpc)
        for table in page["RouteTables"]
    ]
    endpoints = [
        endpoint
        for page in ec2.get_paginator("describe_vpc_endpoints").paginate(Filters=of_vpc)
        for endpoint in page["VpcEndpoints"]
    ]
    by_name = {subnet["SubnetId"]: subnet for subnet in subnets}
    return ways_out.read((by_name[name] for name in names if name in by_name), tables, endpoints, region)
