"""All errors of a run. The class names are an interface: results, the command line and users see them.

The state machine matches two by their names: NotGranted, to try the plan again, and Throttled, to go on ending what
costs. It catches all others with States.ALL.
"""


class StorageMatrixError(Exception):
    """Something that stops a cell, a file system or the whole run."""


class QuotaExceeded(StorageMatrixError):
    """An account quota refuses the resource; waiting does not help, asking for a higher quota does."""


class PlanDiffers(StorageMatrixError):
    """A run's plan has other cells or another cost than the plan that a person agreed to."""


class NotGranted(StorageMatrixError):
    """AWS denies the planner a call. Right after a deployment IAM may lag; later the stack lacks the right."""


class Throttled(StorageMatrixError):
    """A service of AWS throttled a call for all attempts of its client, about a minute."""


class OverBudget(StorageMatrixError):
    """The worst case of a cell or file system would exceed budgetUsd, so it is not started."""


class ScheduleRefused(StorageMatrixError):
    """A scheduled run measures nothing: its matrix is missing or unlimited, or the one before still runs."""


class DeadlinePassed(StorageMatrixError):
    """A cell or file system would not finish before the run's deadline, so it is not started."""


class CapacityUnavailable(StorageMatrixError):
    """AWS has no such instances free in this Availability Zone just now."""


class LaunchThrottled(StorageMatrixError):
    """EC2 still throttles this account's calls after every retry."""


class LaunchRefused(StorageMatrixError):
    """EC2 refuses the launch for a reason other than quota or capacity."""


class CreationForbidden(StorageMatrixError):
    """A policy of the account or its organization forbids the creation, for example because of missing tags."""


class FileSystemFailed(StorageMatrixError):
    """A file system ended in a state from which it never becomes available."""


class FileSystemTimeout(StorageMatrixError):
    """A file system did not become available within the limit of its type."""


class FileSystemLeftBehind(StorageMatrixError):
    """A file system or its instance still exists after the limit for its deletion."""


class ImageFailed(StorageMatrixError):
    """A machine image could not be made, so nothing that boots it is measured."""


class RunEnded(StorageMatrixError):
    """The run has ended, so nothing more may be created for it."""


class CacheFailed(StorageMatrixError):
    """The instance that fills the cache ended before the cache was full."""


class BarrierTimeout(StorageMatrixError):
    """Some instances of a fleet were not ready to start in time."""


class GateForged(StorageMatrixError):
    """An instance opened a start barrier before the fleet was ready, or wrote an object that no agent writes."""


class InstanceFailed(StorageMatrixError):
    """An agent failed and reported the reason."""


class InstanceDied(StorageMatrixError):
    """An instance ended before its agent was done."""


class SpotInterrupted(StorageMatrixError):
    """EC2 took Spot instances back before their agents were done."""


class InstanceSilent(StorageMatrixError):
    """An instance runs, but its agent sends no heartbeat."""


class CellTimeout(StorageMatrixError):
    """A cell was not finished by its deadline."""


class InvalidSamples(StorageMatrixError):
    """An instance uploaded an invalid file of samples, or other samples than its job requires."""


class InvalidDocument(StorageMatrixError):
    """A document of a run does not match its type, so nothing is computed from it."""
