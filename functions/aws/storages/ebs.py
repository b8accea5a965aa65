"""EBS: each instance has its own volumes, created and deleted with it, so there is nothing to share.

Launch fleet attaches an existing volume. Nothing detaches it: EC2 does that when it terminates the instance, and keeps
a volume that was attached after the launch (EC2 guide, "Preserve data when an instance is terminated").
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from botocore.exceptions import ClientError

from aws.ec2.volume_mappings import DEVICES, devices_of
from aws.stack import denials, network
from aws.stack.clients import client
from aws.stack.environment import environment
from aws.stack.retrying import NotYet, retried
from aws.stack.tags import MAY_ATTACH, as_mapping
from aws.storages import reach
from aws.storages.base import CloudStorage, Refusal
from matrix.terms.documents.job import Mount
from matrix.terms.documents.parts import Part
from matrix.terms.errors import LaunchRefused

# EC2 refuses an id that does not exist, and omits a snapshot that is not shared with this account (DescribeSnapshots).
UNKNOWN = ("InvalidSnapshot.NotFound", "InvalidSnapshotID.Malformed")
UNKNOWN_VOLUME = ("InvalidVolume.NotFound", "InvalidVolumeID.Malformed", "InvalidParameterValue")
# EC2 attaches volumes only to a running instance, some ten seconds after its launch. It also refuses a volume that the
# instance of the cell before, which is being terminated, still has attached.
NOT_YET = ("IncorrectState", "IncorrectInstanceState", "VolumeInUse", "InvalidInstanceID.NotFound")
PAUSES_S = (2.0, *[4.0] * 70)
# EC2 is eventually consistent: its descriptions lack a new volume for some 20 seconds.
DESCRIBED_PAUSES_S = (2.0, *[4.0] * 14)


class Ebs(CloudStorage):
    def device(self, storage: Part) -> Mount:
        """Return how an instance opens its own volumes without a file system on them."""
        mount: Mount = {"kind": "ebs-device", "devices": list(devices_of(storage))}
        if storage.get("snapshotId"):
            mount["is_filled"] = True
        return mount

    def mount(self, _resource_id: str, storage: Part) -> Mount:
        """Return how an instance mounts its own volume, its own volumes as one, or the existing one."""
        if storage.get("volumeId"):
            return {"kind": "ebs-existing", "volumes": [storage["volumeId"]]}
        return {"kind": "ebs", "devices": list(devices_of(storage)), "fstype": "xfs"}

    def subnets(self, storage: Part) -> list[str]:
        """Return the subnets in which its instances may be: in an existing volume's zone, or those of fast restores."""
        if storage.get("fastSnapshotRestore"):
            zones = _fast_in(storage["snapshotId"])
            return [each for each in network.subnets() if network.availability_zone(each) in zones]
        if not storage.get("volumeId"):
            return network.subnets()
        [volume] = client("ec2").describe_volumes(VolumeIds=[storage["volumeId"]])["Volumes"]
        return [each for each in network.subnets() if network.availability_zone(each) == volume["AvailabilityZone"]]

    def attach(self, storage: Part, instances: Sequence[str]) -> None:
        """Attach the existing volume to the instance of the fleet; a repeated call changes nothing.

        Or see that the fleet's new volumes were restored fast. Raises LaunchRefused.
        """
        if storage.get("fastSnapshotRestore"):
            _refuse_lazy(storage["snapshotId"], instances)
        if not storage.get("volumeId"):
            return
        [instance], volume_id = instances, storage["volumeId"]

        def attached() -> None:
            [volume] = client("ec2").describe_volumes(VolumeIds=[volume_id])["Volumes"]
            if instance in {each["InstanceId"] for each in volume.get("Attachments", [])}:
                return  # by an attempt whose response was lost
            try:
                client("ec2").attach_volume(VolumeId=volume_id, InstanceId=instance, Device=DEVICES[0])
            except ClientError as error:
                if error.response["Error"]["Code"] not in NOT_YET:
                    raise
                raise NotYet(f"EC2 does not attach it: {error.response['Error'].get('Message', '')}") from error

        try:
            retried(f"attaching {volume_id} to {instance}", attached, PAUSES_S)
        except ClientError as error:
            raise LaunchRefused(f"{volume_id} was not attached to {instance}: {denials.describe(error)}") from error

    def refusals(self, storage: Part, account: str) -> Iterator[Refusal]:
        """Yield reasons why its snapshot or its existing volume cannot be used. Changes nothing."""
        if storage.get("volumeId"):
            yield from _refusals_of_volume(storage, account)
        elif storage.get("snapshotId"):
            yield from _refusals_of_snapshot(storage, account)


def _refusals_of_volume(storage: Part, account: str) -> Iterator[Refusal]:
    volume_id, environ = storage["volumeId"], environment()
    try:
        volumes = client("ec2").describe_volumes(VolumeIds=[volume_id])["Volumes"]
    except ClientError as error:
        if error.response["Error"]["Code"] not in UNKNOWN_VOLUME:
            raise
        volumes = []
    if not volumes:
        rule = f"EC2 has no such volume in {environ.region}"
        yield Refusal("volumeId", volume_id, rule, "write one that `aws ec2 describe-volumes` lists")
        return
    [volume] = volumes
    if refusal := reach.of_a_run("volumeId", volume_id, volume.get("Tags", [])):
        yield refusal
        return
    if volume["State"] != "available":
        where = ", ".join(each["InstanceId"] for each in volume.get("Attachments", []))
        rule = f"is {volume['State']}{f' by {where}' if where else ''}"
        yield Refusal("volumeId", volume_id, rule, "unmount and detach it, or write one that is available")
    if as_mapping(volume.get("Tags", [])).get(MAY_ATTACH) != environ.stack:
        rule = f"has no tag {MAY_ATTACH} = {environ.stack}, without which the stack's role may not attach it"
        tag = f"Key={MAY_ATTACH},Value={environ.stack}"
        yield Refusal("volumeId", volume_id, rule, f"aws ec2 create-tags --resources {volume_id} --tags {tag}")
    zones = [network.availability_zone(each) for each in network.subnets()]
    if volume["AvailabilityZone"] not in zones:
        rule = f"is in {volume['AvailabilityZone']}, and the stack has subnets in {', '.join(zones)} only"
        fix = "give the stack a subnet of that zone, or copy the volume by a snapshot"
        yield Refusal("volumeId", volume_id, rule, fix)
    is_sized = storage["volumeType"] in ("gp3", "io1", "io2")
    described = {
        "volumeType": volume["VolumeType"],
        "sizeGiB": volume["Size"],
        "iops": volume.get("Iops") if is_sized else None,
        "throughputMiBps": volume.get("Throughput") if volume["VolumeType"] == "gp3" else None,
    }
    yield from reach.otherwise(volume_id, storage, described)
    if volume["Encrypted"]:
        yield _of_key("volumeId", volume_id, volume | {"OwnerId": account}, account, environ.region)


def _refusals_of_snapshot(storage: Part, account: str) -> Iterator[Refusal]:
    snapshot_id, region = storage["snapshotId"], environment().region
    snapshot = _described(snapshot_id)
    if snapshot is None:
        rule = f"EC2 shows this account no such snapshot in {region}"
        fix = "write one that `aws ec2 describe-snapshots` lists there; one of another region has to be copied first"
        yield Refusal("snapshotId", snapshot_id, rule, fix)
        return
    if snapshot["State"] != "completed":
        why = f" ({snapshot['StateMessage']})" if snapshot.get("StateMessage") else ""
        fix = "write one that is completed, or wait until it is"
        yield Refusal("snapshotId", snapshot_id, f"is {snapshot['State']}{why}", fix)
    if snapshot.get("StorageTier") == "archive":
        fix = f"aws ec2 restore-snapshot-tier --snapshot-id {snapshot_id} --permanent-restore, which takes up to days"
        yield Refusal("snapshotId", snapshot_id, "is archived, and has to be restored first", fix)
    if snapshot["VolumeSize"] > storage["sizeGiB"]:
        rule = f"{snapshot_id} is of a volume of {snapshot['VolumeSize']} GiB, and no smaller one can be made from it"
        yield Refusal("sizeGiB", storage["sizeGiB"], rule, f"write {snapshot['VolumeSize']}")
    yield from _refusals_of_restore(storage)
    if snapshot["Encrypted"]:
        yield _of_key("snapshotId", snapshot_id, snapshot, account, region)


def _fast_in(snapshot_id: str) -> set[str]:
    """Return the Availability Zones in which volumes from the snapshot are restored fast."""
    filters = [{"Name": "snapshot-id", "Values": [snapshot_id]}, {"Name": "state", "Values": ["enabled"]}]
    found = client("ec2").describe_fast_snapshot_restores(Filters=filters)["FastSnapshotRestores"]
    return {each["AvailabilityZone"] for each in found}


def _refusals_of_restore(storage: Part) -> Iterator[Refusal]:
    """Yield that volumes would be restored in another way than the matrix says. A rate takes the place of both."""
    snapshot_id, zones = storage["snapshotId"], {network.availability_zone(each) for each in network.subnets()}
    fast = zones & _fast_in(snapshot_id)
    if storage.get("fastSnapshotRestore") and not fast:
        rule = f"{snapshot_id} does not have it (state enabled) in {', '.join(sorted(zones))}"
        enable = f"aws ec2 enable-fast-snapshot-restores --source-snapshot-ids {snapshot_id} --availability-zones"
        fix = f"{enable} {min(zones)}, and wait: 60 minutes per TiB, then for its credits"
        yield Refusal("fastSnapshotRestore", True, rule, fix)
    elif fast and not storage.get("fastSnapshotRestore") and not storage.get("volumeInitializationRate"):
        rule = (
            f"has fast snapshot restore in {', '.join(sorted(fast))}, so its blocks are not loaded at first reads there"
        )
        yield Refusal("snapshotId", snapshot_id, rule, "write fastSnapshotRestore true, or copy the snapshot")


def _refuse_lazy(snapshot_id: str, instances: Sequence[str]) -> None:
    """Raise LaunchRefused if not all volumes of the instances were restored fast: a credit was missing."""
    filters = [{"Name": "snapshot-id", "Values": [snapshot_id]}]
    is_fast: dict[str, bool] = {}

    def described() -> None:
        for page in client("ec2").get_paginator("describe_volumes").paginate(Filters=filters):
            for volume in page["Volumes"]:
                for attachment in volume.get("Attachments", []):
                    is_fast[attachment["InstanceId"]] = bool(volume.get("FastRestored"))
        if missing := set(instances) - is_fast.keys():
            raise NotYet(f"EC2 describes no volume of {len(missing)} of {len(instances)} instances")

    try:
        retried(f"the volumes from {snapshot_id}", described, DESCRIBED_PAUSES_S)
    except NotYet as error:
        raise LaunchRefused(f"whether {snapshot_id} was restored fast is unknown: {error}") from error
    if lazy := [each for each in instances if not is_fast[each]]:
        raise LaunchRefused(
            f"{len(lazy)} of {len(instances)} volumes were made from {snapshot_id} without fast snapshot restore: it"
            " has too few credits; wait until CloudWatch shows enough as FastSnapshotRestoreCreditsBalance"
        )


def _described(snapshot_id: str) -> dict[str, Any] | None:
    """Return EC2's description of a snapshot, None if the account sees no snapshot of this id in the region."""
    try:
        snapshots = client("ec2").describe_snapshots(SnapshotIds=[snapshot_id])["Snapshots"]
    except ClientError as error:
        if error.response["Error"]["Code"] not in UNKNOWN:
            raise
        return None
    return snapshots[0] if snapshots else None


def _of_key(field: str, name: str, encrypted: Mapping[str, Any], account: str, region: str) -> Refusal:
    """Return that the stack has no grant for the key; it may need none if the key is the account's own aws/ebs.

    With a key that it may not use EC2 launches an instance and ends it at once.
    https://docs.aws.amazon.com/ebs/latest/userguide/ebs-encryption-requirements.html
    """
    key = encrypted.get("KmsKeyId", "a key")
    if encrypted["OwnerId"] != account:
        rule = f"is encrypted with {key} of account {encrypted['OwnerId']}, which no role of the stack may use"
        copy = f"--source-region {region} --source-snapshot-id {name} --region {region} --encrypted"
        return Refusal(field, name, rule, f"copy it with the account's own key: aws ec2 copy-snapshot {copy}")
    rule = f"is encrypted with {key}: unless that is aws/ebs, its policy has to let Launch fleet's role use it by EC2"
    fix = f"see KeyManager of aws kms describe-key --key-id {key}: AWS is aws/ebs"
    return Refusal(field, name, rule, fix, is_doubt=True)


cloud = Ebs()
