"""Corrections to moto's EC2 that a fleet launch depends on, and the hook that makes instances run something.

Corrected: ClientToken is honoured, until an instance launched with it has terminated; IOPS, throughput and
initialization rate of volumes are kept; there is a snapshot for local runs; the instance profile, shutdown behaviour
and network interface tags reach every instance, from the launch template too; terminating twice is harmless; an
instance is shutting down for some looks, and counts against the quota until it is terminated; only a free volume is
attached, and only to a running instance of its zone; DescribeSnapshots skips snapshots of public images (40 ms, four
times a run); the tags of one resource are not searched among those of all; the console output is the instance's own
output, not moto's sample text. Image and instance type validation is moto's own, switched on by environment variables
(see local/server.py).
"""

import base64
import hashlib
import threading
from collections.abc import Callable, Iterable
from typing import Any, Protocol

from moto.core.responses import ActionResult
from moto.core.utils import utcnow
from moto.ec2.exceptions import EC2ClientError
from moto.ec2.models import instances
from moto.ec2.models.elastic_block_store import EBSBackend, Snapshot
from moto.ec2.models.iam_instance_profile import IamInstanceProfileAssociationBackend
from moto.ec2.models.tags import TagBackend
from moto.ec2.responses.elastic_block_store import ElasticBlockStore
from moto.ec2.responses.general import General
from moto.ec2.responses.instances import InstanceResponse
from moto.ec2.utils import filter_dict_attribute_mapping, generic_filter

from local.corrections import fast_restores

NO_TOKEN = "ABCDE"  # noqa: S105 - what moto passes when a request has no ClientToken
PENDING, RUNNING, SHUTTING_DOWN, TERMINATED = 0, 16, 32, 48
RUN_TAG = "storage-matrix:run"
# So many descriptions, refused launches and refused attachments find an ended instance shutting down; on AWS that takes
# 30 to 90 s. Poll fleet and Stop fleet take three before the next cell is launched.
LOOKS = 5
# A completed snapshot of 8 GiB that this cloud has as soon as somebody asks for it.
LOCAL_SNAPSHOT = "snap-00000000000010ca1"
_launching = threading.local()
_looking = threading.Lock()


class Player(Protocol):
    """The program that acts as an instance."""

    def begin(self, instance: Any) -> None:
        """Bring a pending instance to life."""

    def end(self, instance: Any) -> None:
        """End an instance's processes; it becomes terminated afterwards."""

    def console(self, instance: Any) -> bytes:
        """Return the last that an instance has printed."""

    def close(self) -> None:
        """End all instances."""


def install(player: Player) -> None:
    """Apply all corrections."""
    _keep_volume_performance()
    _attach_to_what_runs()
    _associate_profiles_once()
    _leave_out_public_snapshots()
    fast_restores.install()
    _find_tags_of_one()
    note_described()
    _launch_idempotently(player)
    _terminate_through(player)
    _show_console(player)


def set_state(instance: Any, name: str, code: int) -> None:
    instance._state.name, instance._state.code = name, code


def _keep_volume_performance() -> None:
    """Keep the performance of a launch's volumes, which moto drops when it parses or when it creates them."""
    parse, add = InstanceResponse._parse_block_device_mapping, instances.Instance.add_block_device

    def parse_all(self: Any) -> list[dict[str, Any]]:
        mappings = parse(self)
        for mapping, requested in zip(mappings, self._get_param("BlockDeviceMappings", []), strict=True):
            for name in ("Throughput", "VolumeInitializationRate"):
                mapping["Ebs"][name] = requested.get("Ebs", {}).get(name)
        return mappings

    def add_with_performance(self: Any, size: int, device_path: str, *rest: Any, **named: Any) -> None:
        requested = getattr(_launching, "volumes", {}).get(device_path, {})
        backend, create = self.ec2_backend, self.ec2_backend.create_volume
        iops, throughput, rate = (requested.get(name) for name in ("Iops", "Throughput", "VolumeInitializationRate"))
        performance = {"iops": iops, "throughput": throughput, "initialization_rate": rate}
        whole = {name: int(value) if value else None for name, value in performance.items()}
        backend.create_volume = lambda **volume: create(**volume, **whole)
        try:
            add(self, size, device_path, *rest, **named)
        finally:
            del backend.create_volume

    InstanceResponse._parse_block_device_mapping = parse_all
    instances.Instance.add_block_device = add_with_performance


def _attach_to_what_runs() -> None:
    """Refuse to attach a volume as EC2 does; moto attaches any to any. Launches attach theirs past this call."""
    attach = ElasticBlockStore.attach_volume

    def attach_in_order(self: Any) -> Any:
        volume = self.ec2_backend.get_volume(self._get_param("VolumeId"))
        instance = self.ec2_backend.get_instance(self._get_param("InstanceId"))
        if volume.attachment is not None:
            look([volume.attachment.instance])
            raise EC2ClientError("VolumeInUse", f"{volume.id} is already attached to an instance")
        if instance._state.code != RUNNING:
            raise EC2ClientError("IncorrectState", f"Instance '{instance.id}' is not 'running'.")
        zone = instance._placement.zone
        if volume.zone.name != zone:
            raise EC2ClientError(
                "InvalidVolume.ZoneMismatch", f"The volume '{volume.id}' is not in the same availability zone as {zone}"
            )
        return attach(self)

    ElasticBlockStore.attach_volume = attach_in_order


def _associate_profiles_once() -> None:
    """Let a repeated launch (same ClientToken) associate the same profile again, which moto refuses."""
    associate = IamInstanceProfileAssociationBackend.associate_iam_instance_profile

    def associate_once(self: Any, instance_id: str, **profile: Any) -> Any:
        return self.iam_instance_profile_associations.get(instance_id) or associate(self, instance_id, **profile)

    IamInstanceProfileAssociationBackend.associate_iam_instance_profile = associate_once


def _leave_out_public_snapshots() -> None:
    """Leave snapshots of moto's 560 public images out of DescribeSnapshots, as moto ignores OwnerIds."""
    describe = EBSBackend.describe_snapshots
    public: dict[int, set[str]] = {}

    def describe_own(self: Any, snapshot_ids: list[str] | None = None, filters: Any = None) -> list[Any]:
        if snapshot_ids:
            if LOCAL_SNAPSHOT in snapshot_ids and LOCAL_SNAPSHOT not in self.snapshots:
                volume = self.create_volume(size=8, zone_name=f"{self.region_name}a")
                del self.volumes[volume.id]
                self.snapshots[LOCAL_SNAPSHOT] = Snapshot(self, LOCAL_SNAPSHOT, volume, "for local runs")
            return describe(self, snapshot_ids, filters)
        if id(self) not in public:
            images = [image for image in self.amis.values() if image.owner_id != self.account_id]
            public[id(self)] = {image.ebs_snapshot.id for image in images}
        own = [snapshot for snapshot in self.snapshots.values() if snapshot.id not in public[id(self)]]
        return generic_filter(filters, own) if filters else own

    EBSBackend.describe_snapshots = describe_own


def _find_tags_of_one() -> None:
    """Look the tags of one resource up by its id.

    moto matches a pattern with the ids of all tags that there ever were: 15 % of the processor time of many runs.
    """
    describe = TagBackend.describe_tags

    def describe_one(self: Any, filters: dict[str, list[str]] | None = None) -> list[dict[str, str]]:
        match filters:
            case {"resource-id": [str(name)], **rest} if not rest and "*" not in name and "?" not in name:
                alone = TagBackend()
                if name in self.tags:
                    alone.tags[name] = self.tags[name].copy()
                return describe(alone)
        return describe(self, filters)

    TagBackend.describe_tags = describe_one


def note_described() -> None:
    """Record for each instance that a query by run tag has described its volumes."""
    describe = EBSBackend.describe_volumes

    def describe_and_note(self: Any, volume_ids: list[str] | None = None, filters: Any = None) -> list[Any]:
        volumes = describe(self, volume_ids, filters)
        if f"tag:{RUN_TAG}" in (filters or {}):
            for volume in volumes:
                if volume.attachment:
                    volume.attachment.instance.local_is_described = True
        return volumes

    EBSBackend.describe_volumes = describe_and_note


def look(seen: Iterable[Any]) -> None:
    """Count a look at those of the instances that are shutting down; the last one finds them terminated."""
    with _looking:
        for instance in seen:
            if looks := getattr(instance, "local_looks", 0):
                instance.local_looks = looks - 1
                if looks == 1:
                    instance.end_termination()


def _launch_idempotently(player: Player) -> None:
    run = instances.InstanceBackend.run_instances
    launches: dict[tuple[str, str, str], tuple[Any, Any]] = {}
    lock = threading.Lock()

    def run_once(
        self: Any, image_id: str, count: int, user_data: Any, security_group_names: list, **request: Any
    ) -> Any:
        token = request.get("client_token") or NO_TOKEN
        key = (self.account_id, self.region_name, token)
        # By its hash: user data has up to 16 KiB, and a launch is remembered as long as the cloud is up.
        script = hashlib.sha256(str(user_data).encode()).digest()
        parameters = (image_id, count, script, request.get("instance_type"), request.get("subnet_id"))
        with lock:  # a retry must find the launch of the first attempt even while that is still going on
            if token != NO_TOKEN and key in launches:
                reservation, first = launches[key]
                # Seen in 2025, not documented: https://github.com/boto/boto3/issues/4406
                if any(instance._state.code == TERMINATED for instance in reservation.instances):
                    raise EC2ClientError(
                        "IdempotentInstanceTerminated",
                        "The client token you have provided is associated with a terminated instance. Please use a "
                        "different client token.",
                    )
                if parameters != first:
                    raise EC2ClientError(
                        "IdempotentParameterMismatch",
                        "The client token you have provided is associated with a resource that was launched with a "
                        f"different set of parameters: {token}",
                    )
                return reservation
            template = _template(self, request)
            mappings = request.get("block_device_mappings") or template.get("BlockDeviceMappings") or []
            _launching.volumes = {mapping["DeviceName"]: mapping.get("Ebs", {}) for mapping in mappings}
            tags = dict(request.get("tags", {}))
            reservation = run(self, image_id, count, user_data, security_group_names, **request)
            launches[key] = (reservation, parameters)
        for instance in reservation.instances:
            _complete(self, instance, request, template, tags)
            set_state(instance, "pending", PENDING)
            player.begin(instance)
        return reservation

    instances.InstanceBackend.run_instances = run_once
    filter_dict_attribute_mapping["client-token"] = "client_token"


def _show_console(player: Player) -> None:
    """Answer GetConsoleOutput with the output of the instance's process."""

    def get_console_output(self: Any) -> ActionResult:
        instance = self.ec2_backend.get_instance(self._get_param("InstanceId"))
        printed = base64.b64encode(player.console(instance)).decode()
        return ActionResult({"InstanceId": instance.id, "Timestamp": utcnow(), "Output": printed})

    General.get_console_output = get_console_output


def _template(backend: Any, request: dict[str, Any]) -> dict[str, Any]:
    wanted = request.get("launch_template")
    return backend._get_template_from_args(wanted).data if wanted else {}


def _complete(backend: Any, instance: Any, request: dict, template: dict, tags: dict[str, dict[str, str]]) -> None:
    """Give an instance the settings that moto applies only to the first instance, or ignores in a launch template."""
    profile = template.get("IamInstanceProfile", {})
    name = request.get("iam_instance_profile_name") or profile.get("Name")
    arn = request.get("iam_instance_profile_arn") or profile.get("Arn")
    if name or arn:
        backend.associate_iam_instance_profile(
            instance.id, iam_instance_profile_name=name, iam_instance_profile_arn=arn
        )
    if not request.get("instance_initiated_shutdown_behavior") and "InstanceInitiatedShutdownBehavior" in template:
        instance.instance_initiated_shutdown_behavior = template["InstanceInitiatedShutdownBehavior"]
    if not request.get("metadata_options") and "MetadataOptions" in template:
        instance.metadata_options = instances.MetadataOptions(template["MetadataOptions"])
    for interface in instance.nics.values():
        interface.delete_on_termination = True  # as EC2 does with interfaces that a launch creates
        interface.add_tags(tags.get("network-interface", {}))


def _terminate_through(player: Player) -> None:
    terminate = instances.Instance.terminate

    def end(self: Any) -> None:
        reason = self.state_reason
        terminate(self)
        if reason.code:  # moto writes that a user ended it
            self.state_reason = reason

    def terminate_once(self: Any) -> Any:
        previous = instances.InstanceState(self._state.name, self._state.code)
        if self._state.code in (PENDING, RUNNING):
            set_state(self, "shutting-down", SHUTTING_DOWN)
            player.end(self)
        elif self._state.code not in (SHUTTING_DOWN, TERMINATED):
            terminate(self)
        return previous

    def shut_down(self: Any) -> None:
        if self._state.code != TERMINATED:
            set_state(self, "shutting-down", SHUTTING_DOWN)
            # It is never run again; instances stay in moto's lists, each with up to 16 KiB of user data.
            self.user_data = None
            self.local_looks = LOOKS

    instances.Instance.terminate = terminate_once
    instances.Instance.finish_termination = shut_down
    instances.Instance.end_termination = end
    for name in ("describe_instances", "get_reservations_by_instance_ids"):
        setattr(instances.InstanceBackend, name, _as_seen(getattr(instances.InstanceBackend, name)))


def _as_seen(describe: Callable[..., list[Any]]) -> Callable[..., list[Any]]:
    def describe_and_look(*arguments: Any, **named: Any) -> list[Any]:
        look(instance for reservation in describe(*arguments, **named) for instance in reservation.instances)
        return describe(*arguments, **named)

    return describe_and_look
