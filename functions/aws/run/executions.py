"""Executions of the state machine: whether one runs, and the ARN of another run's."""

from aws.stack.clients import client

# Step Functions is eventually consistent: an execution that it does not know counts as new while its run is younger.
# https://docs.aws.amazon.com/step-functions/latest/apireference/API_DescribeExecution.html
UNHEARD_OF_S = 600.0


def status(arn: str) -> str | None:
    """Return the status of an execution; None of one that Step Functions does not know yet, or any more (90 days)."""
    states = client("stepfunctions")
    try:
        return str(states.describe_execution(executionArn=arn)["status"])
    except states.exceptions.ExecutionDoesNotExist:
        return None


def is_running(arn: str) -> bool:
    """Say whether an execution runs, as far as Step Functions knows."""
    return status(arn) == "RUNNING"


def sibling(arn: str, run: str) -> str:
    """Return the ARN of another run's execution of the same state machine."""
    return f"{arn.rpartition(':')[0]}:{run}"


def running(machine: str) -> list[str]:
    """Return the names of a state machine's executions that run."""
    pages = client("stepfunctions").get_paginator("list_executions")
    found = pages.paginate(stateMachineArn=machine, statusFilter="RUNNING")
    return [execution["name"] for page in found for execution in page["executions"]]


def start(machine: str, run: str, matrix: str) -> bool:
    """Start a run; False where there was one of this name, as an event may come twice.

    Of a running execution with the same input Step Functions answers that it was started, of an ended one that it
    exists (API reference, StartExecution).
    """
    states = client("stepfunctions")
    try:
        states.start_execution(stateMachineArn=machine, name=run, input=matrix)
    except states.exceptions.ExecutionAlreadyExists:
        return False
    return True
