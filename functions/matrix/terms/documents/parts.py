"""Types that several documents share: a fleet, a point, a range of costs, an error."""

from collections.abc import Mapping
from typing import Any, Literal, NotRequired, TypeAlias

from typing_extensions import TypedDict

# A storage by the fields of its type, as a matrix, a plan or a result has it. An old or a published one may lack some.
StorageFields: TypeAlias = Mapping[str, Any]
# A storage or workload of the matrix with its defaults, by the names of docs/matrix.schema.json; it has a `type`.
Part: TypeAlias = dict[str, Any]
# The settings of one point, by the agent's names: one value of each sweep of the workload.
Params: TypeAlias = dict[str, Any]


class Fleet(TypedDict):
    """The instances of a cell."""

    instanceType: str
    """EC2 instance type."""
    count: int
    """How many start at the same moment."""
    spot: NotRequired[bool]
    """Whether they are Spot instances."""
    placement: NotRequired[str | list[float]]
    """Availability Zones: "spread", "same-az", or shares."""
    quorum: NotRequired[float]
    """With how many they are measured where EC2 has no more: a share below 1, or a number."""
    bandwidthWeighting: NotRequired[str]
    """Bandwidth weighting: "ebs-1" or "vpc-1"."""
    ran: NotRequired[int]
    """How many of them ran where they were fewer (`quorum`); only where runs are compared."""
    architecture: NotRequired[str]
    """Instruction set of the processors."""


class Point(TypedDict):
    """One combination of a workload's sweeps."""

    id: str
    """Unique in its cell: p01, p02 …"""
    params: Params
    """Parameters for the agent."""
    label: NotRequired[str]
    """How it is called if its main parameters do not tell it from other points of the run, or as published."""


class Step(TypedDict):
    """One point in one repetition."""

    point: str
    """Id of the point."""
    repetition: int
    """Counted from 1."""


class CostRange(TypedDict):
    """US dollars: the least, the likeliest, the most."""

    low: float
    expected: float
    high: float


class MachineRates(TypedDict):
    """US dollars per hour of one instance and of one volume."""

    instance_hour: float
    root_volume_hour: float
    data_volume_hour: float
    work_volume_hour: NotRequired[float]
    """There where an instance has one beside the storage."""


class Volume(TypedDict):
    """An EBS volume as it comes, without IOPS or throughput provisioned."""

    volumeType: Literal["gp2", "gp3"]
    sizeGiB: int


class Failure(TypedDict):
    """Why there is no result, or none in full."""

    name: str
    """Class name of the error, or "skipped: budget", "skipped: deadline"."""
    message: str
    """The error, the value, and a fix."""
    subject: NotRequired[str]
    """What failed, where it is not the cell or file system that has the error: `file system efs-elastic`."""


class Emulation(TypedDict):
    """How fast a storage is that a local run only plays."""

    shared: bool
    iops: int
    """Of creates."""
    read_iops: float | None
    write_iops: float | None
    """None: not limited."""
    bytes_per_s: float
    """Of writes."""
    read_bytes_per_s: float
    unit_bytes: int
    create_s: float
    create_operations: int
    read_s: float
    write_s: float
    sync_s: float
    # Further properties of a storage (docs/matrix-format.md, emulated storages); absent if they are the default.
    times: NotRequired[float]
    tail_share: NotRequired[float]
    tail_s: NotRequired[float]
    stall_every: NotRequired[int]
    stall_s: NotRequired[float]
    change_after: NotRequired[int]
    change_times: NotRequired[float]
    noise: NotRequired[float]
    slow_times: NotRequired[float]


class Source(TypedDict):
    """The cell of an earlier run."""

    run: str
    cell: str


class Attempt(TypedDict):
    """Samples of a cell that an earlier run uploaded without a valid result."""

    run: str
    cell: str
    prefix: str
    """Where its samples lie in the bucket."""
    instances: int
    """How many uploaded samples."""
    error: Failure


class Provisions(TypedDict):
    """Software that a machine must have before measurements."""

    os: NotRequired[str]
    architecture: NotRequired[str]
    tools: NotRequired[list[str]]
    packages: NotRequired[list[str]]
    containers: NotRequired[list[str]]
    dockerfile: NotRequired[str | None]
