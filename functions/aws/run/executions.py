"""Executions of the state machine: their status, and the ARN of another run's execution."""

from aws.stack.clients import client, listed

# Step Functions is eventually consistent: an execution that it does not know counts as new while its run is younger.
# https://docs.aws.amazon.com/step-functions/latest/apireference/API_DescribeExecution.html
UNHEARD_OF_S = 600.0


def status(arn: str) -> str | None:
    """Return the status of an execution; None if Step Functions does not know it yet, or no longer (90 days)."""
    states = client("stepfunctions")
    try:
        return str(states.describe_execution(executionArn=arn)["status"])
    except states.exceptions.ExecutionDoesNotExist:
        return None


def is_running(arn: str) -> bool:
    """Return whether Step Functions reports that an execution runs."""
    return status(arn) == "RUNNING"


def sibling(arn: str, run: str) -> str:
    """Return the ARN of another run's execution of the same state machine."""
    return f"{arn.rpartition(':')[0]}:{run}"


def running(machine: str) -> list[str]:
    """Return the names of a state machine's executions that run."""
    found = listed("stepfunctions", "list_executions", "executions", stateMachineArn=machine, statusFilter="RUNNING")
    return [execution["name"] for execution in found]


def start(machine: str, run: str, matrix: str) -> bool:
    """Start a run; return False if a run of this name exists, because an event may be delivered twice.

    For a running execution with the same input, StartExecution succeeds again; for an ended one it raises
    ExecutionAlreadyExists (API reference, StartExecution).
    """
    states = client("stepfunctions")
    try:
        states.start_execution(stateMachineArn=machine, name=run, input=matrix)
    except states.exceptions.ExecutionAlreadyExists:
        return False
    return True
