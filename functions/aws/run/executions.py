"""Executions of the state machine: whether one runs, and the ARN of another run's."""

from aws.stack.clients import client


def is_running(arn: str) -> bool:
    """Say whether an execution runs. Step Functions forgets executions 90 days after their end: those do not run."""
    states = client("stepfunctions")
    try:
        return bool(states.describe_execution(executionArn=arn)["status"] == "RUNNING")
    except states.exceptions.ExecutionDoesNotExist:
        return False


def sibling(arn: str, run: str) -> str:
    """Return the ARN of another run's execution of the same state machine."""
    return f"{arn.rpartition(':')[0]}:{run}"
