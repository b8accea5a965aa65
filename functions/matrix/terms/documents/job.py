"""job.json: the work of every instance of a fleet, from the mount to the last sample; records of fleets and images."""

from typing import Literal, NotRequired

from typing_extensions import TypedDict

from matrix.terms.documents.parts import Emulation, Part, Point, Provisions, Step, Volume


class BakeRecord(TypedDict):
    """recipe.json: the recipe of a baked image."""

    base_image_id: str
    fingerprint: str
    """The same for images of the same recipe and base image."""
    since: float
    """Epoch seconds when the run first asked for it."""


class BootedImage(TypedDict):
    """booted/<image>.json: the image that all instances of a run boot."""

    image_id: str
    baked: bool
    baked_by: NotRequired[str]
    """The run that baked it."""
    snapshots: NotRequired[list[str]]
    base_image_id: NotRequired[str]
    fingerprint: NotRequired[str]
    since: NotRequired[float]


class JobCell(TypedDict):
    """The part of a plan's cell that a job needs. Instances that measure nothing get an artificial one."""

    id: str
    file_system: str
    storage: Part
    workload: Part
    image: NotRequired[str]
    ready_within_s: float
    deadline_s: float
    root_volume_gib: int
    work_volume: NotRequired[Volume]
    emulation: NotRequired[Emulation]


class BarrierRule(TypedDict):
    """How a fleet meets before each step."""

    poll_s: float
    """How often an instance looks for the gate."""
    margin_s: float
    """From the opening of a gate to the common start."""
    request_s: float
    """How long one request about a gate may take."""
    timeout_s: float
    """How long it waits for the others."""


class FileServerAddress(TypedDict):
    """address.json: where a file server listens, as it says itself."""

    host: str
    """Its address within the VPC."""
    port: int
    token: str
    """What a reader of this run must say."""


class ExportedTo(TypedDict):
    """Where files of a file system become objects."""

    bucket: str
    mark: str
    """The key of the object that says below which prefix."""
    region: str


class Mount(TypedDict):
    """How an instance gets at its storage. `{instance_id}` and `{userid}` stand for its own names."""

    kind: str
    """root, or the module of agent/mounts that mounts it, such as instance-store; the others follow from it."""
    devices: NotRequired[list[str]]
    """ebs: device names of its volumes."""
    volumes: NotRequired[list[str]]
    """ebs-existing: the ids of the volumes that Launch fleet attaches."""
    is_read_only: NotRequired[bool]
    """Of a storage that exists: whether nothing is written to it, and the folders of steps are on another disk."""
    is_filled: NotRequired[bool]
    """ebs-device: whether a snapshot has filled the volumes, so that they are only read."""
    fstype: NotRequired[str]
    """ebs, instance-store: the file system that is made on them."""
    precondition: NotRequired[int]
    """instance-store: how often all disks are written before."""
    source: NotRequired[str]
    """NFS: server and path of the mount."""
    options: NotRequired[str]
    """NFS: options of the mount. mountpoint: options of mount-s3 without dashes."""
    stripes: NotRequired[list[str]]
    """lustre: options of `lfs setstripe` that say how new files are spread."""
    read_ahead_kib: NotRequired[int]
    """nfs: how far the kernel reads ahead."""
    exported_to: NotRequired[ExportedTo]
    """s3-files that a run has made, also where the local cloud lends a folder in its place."""
    bucket: NotRequired[str]
    """s3, mountpoint."""
    prefix: NotRequired[str]
    """s3, mountpoint: below which it may write."""
    region: NotRequired[str]
    """s3, mountpoint."""
    client: NotRequired[str]
    """s3: by which program objects are read."""
    host: NotRequired[str]
    """file-server: where it listens."""
    port: NotRequired[int]
    """file-server."""
    token: NotRequired[str]
    """file-server: what a reader of this run must say."""
    folder: NotRequired[str]
    """On a storage that exists: the folder that stands for it, made and removed by those who mount it."""
    path: NotRequired[str]
    """directory: a folder of the machine, which the local cloud lends."""
    is_made_by_agent: NotRequired[bool]
    """Of a directory: whether the agent makes it, since no service of the local cloud does."""
    by_subnet: NotRequired[dict[str, "Mount"]]
    """Where a storage is several file systems, in place of all other fields: that of an instance, by its subnet."""


class JobDocument(TypedDict):
    """The work of every instance of a fleet, from the mount to the last sample. Instances cannot write it."""

    schema: int
    kind: Literal["measure", "populate", "serve", "bake"]
    run: str
    cell: str
    """Id of the cell, or purpose of the instance."""
    environment: str
    bucket: str
    """Where it uploads to."""
    prefix: str
    """Below which its folder lies."""
    deadline_at: float
    """Epoch seconds when the agent gives up."""
    heartbeat_s: float
    ready_within_s: float
    storage: Part
    mount: Mount
    work_mount: NotRequired[Mount]
    """Volume for data outside of the storage. Without it the root volume is used."""
    workload: Part
    emulation: NotRequired[Emulation]
    instances: int
    """Of the fleet, this one included."""
    barrier: BarrierRule | None
    """None for an instance alone."""
    points: list[Point]
    steps: list[Step]
    provisions: Provisions


class FleetRecord(TypedDict):
    """fleet.json: the launched instances."""

    instances: list[str]
    expected: int
    shortfall: NotRequired[str]
    """Why they are fewer than expected; empty where they are not."""
    launched_at: float
    """Epoch seconds."""
    storage_zone: NotRequired[str]
    """Availability Zone of a storage that is in one."""


class FleetVolumes(TypedDict):
    """volumes.json: which disks the agents of a fleet may write as they are."""

    volumes: dict[str, list[str]]
    """Ids of the data volumes that were launched with each instance, by its id."""


class BarrierRecord(TypedDict):
    """meeting.json: by which secret name the instances of a launch meet."""

    nonce: str
    """32 hexadecimal digits."""


class Roster(TypedDict):
    """roster.json: who meets."""

    instances: list[str]
    addresses: NotRequired[dict[str, str]]
    """Private addresses of a connected fleet by instance, the leader first."""


class Gate(TypedDict):
    """gates/0000.json: when all begin a step. Written once."""

    step: int
    start_at: float
    """Epoch seconds."""
    opener: str
    """Who says that it has opened it: the `aws:userid` of an instance, or Poll fleet."""
