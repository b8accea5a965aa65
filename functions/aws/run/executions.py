"""Whether the state machine is still at work on a run."""

from aws.stack.clients import client


def is_running(arn: str) -> bool:
    """Say whether an execution runs; one that Step Functions does not know (any more: after 90 days) does not."""
    states = client("stepfunctions")
    try:
        return bool(states.describe_execution(executionArn=arn)["status"] == "RUNNING")
    except states.exceptions.ExecutionDoesNotExist:
        return False


def sibling(arn: str, run: str) -> str:
    """Return the ARN of another run's execution of the same state machine."""
    return f"{arn.rpartition(':')[0]}:{run}"
