"""Every way a run can fail. The class names are an interface: results, the command line and users see them.

The state machine matches only NotGranted by its name, to try the plan again; it catches all others with States.ALL.
"""


class StorageMatrixError(Exception):
    """Something that stops a cell, a file system or the whole run."""


class QuotaExceeded(StorageMatrixError):
    """An account quota refuses the resource; waiting does not help, asking for a higher quota does."""


class PlanDiffers(StorageMatrixError):
    """The plan of a run is not the one that a person has agreed to: other cells, or another cost."""


class NotGranted(StorageMatrixError):
    """AWS denies the planner a call: seconds after a deployment it still may, later the stack's rights are too few."""


class OverBudget(StorageMatrixError):
    """The worst case of a cell or file system would take the run above budgetUsd, so it is not begun."""


class ScheduleRefused(StorageMatrixError):
    """A scheduled run is not started."""


class DeadlinePassed(StorageMatrixError):
    """A cell or file system would not be finished before the run's deadline, so it is not begun."""


class CapacityUnavailable(StorageMatrixError):
    """AWS has no such instances free in this Availability Zone just now."""


class LaunchThrottled(StorageMatrixError):
    """EC2 still throttles this account's calls after every retry."""


class LaunchRefused(StorageMatrixError):
    """EC2 refuses the launch for a reason other than quota or capacity."""


class CreationForbidden(StorageMatrixError):
    """A policy of the account or its organization forbids to create something, such as one that asks for tags."""


class FileSystemFailed(StorageMatrixError):
    """A file system ended in a state from which it never becomes available."""


class FileSystemTimeout(StorageMatrixError):
    """A file system was not available in the time that its type may take."""


class FileSystemLeftBehind(StorageMatrixError):
    """A file system or an instance of it is still there after the time that its deletion may take."""


class ImageFailed(StorageMatrixError):
    """A machine image could not be made, so nothing that boots it is measured."""


class RunEnded(StorageMatrixError):
    """The run has ended, so that nothing more may be created for it."""


class CacheFailed(StorageMatrixError):
    """The instance that fills the cache ended without having filled it."""


class BarrierTimeout(StorageMatrixError):
    """Some instances of a fleet were not ready to start in time."""


class GateForged(StorageMatrixError):
    """An instance opened a gate before the fleet was ready, or by what no agent of ours writes."""


class InstanceFailed(StorageMatrixError):
    """An agent gave up and said why."""


class InstanceDied(StorageMatrixError):
    """An instance ended before its agent was done."""


class SpotInterrupted(StorageMatrixError):
    """EC2 took Spot instances back before their agents were done."""


class InstanceSilent(StorageMatrixError):
    """An instance runs, but its agent gave no sign of life."""


class CellTimeout(StorageMatrixError):
    """A cell was not finished by its deadline."""


class InvalidSamples(StorageMatrixError):
    """What an instance uploaded is not a file of samples, or not the samples that its job asks for."""


class InvalidDocument(StorageMatrixError):
    """A document of a run does not hold what its type says; nothing is computed from it."""
