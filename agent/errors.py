"""Errors that can end an agent. The class name is an interface: it is the `error` of failed.json and of the cell.

No Retry or Catch of the state machine matches these names, because it sees the error of the function that read
failed.json.
"""

from __future__ import annotations


class Named:
    """Has the name that failed.json and the cell show."""

    @property
    def name(self) -> str:
        return type(self).__name__


class AgentError(Named, Exception):
    """Base of every expected failure; the message has the problem, the value and advice."""


class Interruption(Named, BaseException):
    """Base of interruptions that end the agent from outside, at any time.

    Not an Exception, like KeyboardInterrupt: botocore treats any Exception during a request as a network error and
    retries.
    """


class JobInvalid(AgentError):
    """job.json breaks its schema or asks for something that cannot be measured."""


class MetadataUnavailable(AgentError):
    """The instance metadata service did not answer, so the agent does not know who it is."""


class BlackboardUnavailable(AgentError):
    """S3 or STS refused a request, or did not answer after all retries."""


class ToolMissing(AgentError):
    """A program that a point needs, or the agent's AWS client, is not installed and could not be installed."""


class ProvisionFailed(AgentError):
    """A package or container image that the instance needs could not be installed, pulled or built."""


class ToolFailed(AgentError):
    """A program ended with a non-zero status."""


class DiskFull(ToolFailed):
    """A program ended because the disk that it wrote to was full."""


class ContainerNotEnded(AgentError):
    """A container could not be ended, and may disturb the next measurements."""


class WorkIncomplete(AgentError):
    """The tool reported success, but files or bytes are missing."""


class NumberMissing(AgentError):
    """The command ended well, but a number that the matrix declares as a metric is not in its output."""


class ReadBackWrong(AgentError):
    """The storage returned data that differ from the written ones."""


class MeasurementTooShort(AgentError):
    """The measured time is too short for the resolution of the tool's clock."""


class FiguresContradict(AgentError):
    """A tool's rate and its latencies cannot both be true, so neither is reported."""


class SourceDoesNotFit(AgentError):
    """The source data does not fit into half of the free memory, or onto the instance's own disk."""


class MountFailed(AgentError):
    """The storage did not appear or could not be mounted."""


class CacheMissing(AgentError):
    """A storage that is only read does not have the folder that cachePath names."""


class StorageReadOnly(AgentError):
    """The storage that the run works on is read-only."""


class RootSquashed(AgentError):
    """The storage's server maps root to another user, who may not do what the agent has to."""


class DeviceRefused(AgentError):
    """A disk to write raw is in use, holds data, or is none of this run's volumes."""


class BarrierTimeout(AgentError):
    """The gate of a step did not open in time."""


class GateForged(AgentError):
    """A gate has content that no agent of the fleet writes: too early, too far ahead, or unreadable."""


class DeadlinePassed(Interruption):
    """The cell's deadline passed before the last step ended."""


class Terminated(Interruption):
    """The instance, or somebody on it, asked the agent to end."""
