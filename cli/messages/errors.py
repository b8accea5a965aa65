"""How a command fails: one message, one piece of advice and an exit code. Never a traceback."""

from dataclasses import dataclass
from enum import IntEnum


class ExitCode(IntEnum):
    """The exit codes that scripts can rely on."""

    MEASURED = 0
    FAILED = 1
    BAD_INPUT = 2
    INTERRUPTED = 3
    OBJECTIVE_MISSED = 4
    OBJECTIVE_NOT_SHOWN = 5


@dataclass
class CommandError(Exception):
    """A command failed: the message, advice, and the exit code."""

    message: str
    advice: str = ""
    code: int = ExitCode.FAILED

    def __str__(self) -> str:
        return self.message


class NoLocalCloud(CommandError):
    """No local cloud is running here."""


class NoDeployment(CommandError):
    """The stack is not deployed, or it is a stack of something else."""


class NoAws(CommandError):
    """AWS is not set up on this machine."""


@dataclass
class UnknownRun(CommandError):
    """No run, cell or baseline has this name."""

    code: int = ExitCode.BAD_INPUT
    # DescribeExecution is eventually consistent, also for a run that was started just now.
    is_retryable = True


class UnreadableRun(CommandError):
    """A kept file of a run is damaged."""


class CloudDidNotStart(CommandError):
    """The local cloud ended before it was ready."""


class CloudIsRunning(CommandError):
    """Another local cloud is up in the same folder."""


class FunctionFailed(CommandError):
    """A Lambda function of the stack raised an error."""

    # The retry calls AWS again; if AWS still denies it, the new error names the action.
    is_retryable = True
