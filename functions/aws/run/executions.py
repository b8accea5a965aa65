"""Executions of the state machine: their status, and the ARN of another run's execution."""

from dataclasses import dataclass

from aws.stack.clients import client, listed

# Step Functions is eventually consistent: an execution that it does not know counts as new while its run is younger.
# https://docs.aws.amazon.com/step-functions/latest/apireference/API_DescribeExecution.html
UNHEARD_OF_S = 600.0


@dataclass(frozen=True)
class Execution:
    arn: str
    name: str
    status: str


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


def before(arn: str, prefix: str) -> list[Execution]:
    """Return the executions with such names that started before this one, newest first, of the last 90 days.

    Of the same state machine. ListExecutions sorts them so, and may not list this one yet.
    """
    machine = arn.rpartition(":")[0].replace(":execution:", ":stateMachine:")
    found = [
        Execution(execution["executionArn"], execution["name"], execution["status"])
        for execution in listed("stepfunctions", "list_executions", "executions", stateMachineArn=machine)
        if execution["name"].startswith(prefix)
    ]
    arns = [execution.arn for execution in found]
    return found[arns.index(arn) + 1 :] if arn in arns else found


def given(arn: str) -> str:
    """Return the input of an execution."""
    return str(client("stepfunctions").describe_execution(executionArn=arn)["input"])
