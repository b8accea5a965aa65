"""EBS: each instance brings its own volumes, made and deleted with it, so there is nothing to share."""

from collections.abc import Iterator, Mapping
from typing import Any

from botocore.exceptions import ClientError

from aws.ec2.volume_mappings import devices_of
from aws.stack.clients import client
from aws.stack.environment import environment
from matrix.terms.documents.job import Mount
from matrix.terms.documents.parts import Part
from storages.contracts.cloud import Refusal

# EC2 refuses an id that is nobody's, and leaves out one that is not shared with this account (DescribeSnapshots).
UNKNOWN = ("InvalidSnapshot.NotFound", "InvalidSnapshotID.Malformed")


def device(storage: Part) -> Mount:
    """Return how an instance gets at its own volumes without a file system on them."""
    return {"kind": "ebs-device", "devices": list(devices_of(storage))}


def mount(storage: Part) -> Mount:
    """Return how an instance mounts its own volume, or its own volumes as one."""
    return {"kind": "ebs", "devices": list(devices_of(storage)), "fstype": "xfs"}


def refusals(storage: Part, account: str) -> Iterator[Refusal]:
    """Yield why no volume of the storage can be made from its snapshot. Nothing is made or changed."""
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
    if snapshot["Encrypted"]:
        yield _of_key(snapshot, account, region)


def _described(snapshot_id: str) -> dict[str, Any] | None:
    """Return what EC2 says of a snapshot, None where the account sees none of this id in the region."""
    try:
        snapshots = client("ec2").describe_snapshots(SnapshotIds=[snapshot_id])["Snapshots"]
    except ClientError as error:
        if error.response["Error"]["Code"] not in UNKNOWN:
            raise
        return None
    return snapshots[0] if snapshots else None


def _of_key(snapshot: Mapping[str, Any], account: str, region: str) -> Refusal:
    """Return that the stack has no grant of the key, and may need none where it is the account's own aws/ebs.

    With a key that it may not use EC2 launches an instance and ends it at once.
    https://docs.aws.amazon.com/ebs/latest/userguide/ebs-encryption-requirements.html
    """
    snapshot_id, key = snapshot["SnapshotId"], snapshot.get("KmsKeyId", "a key")
    if snapshot["OwnerId"] != account:
        rule = f"is encrypted with {key} of account {snapshot['OwnerId']}, which no role of the stack may use"
        copy = f"--source-region {region} --source-snapshot-id {snapshot_id} --region {region} --encrypted"
        return Refusal(
            "snapshotId", snapshot_id, rule, f"copy it with the account's own key: aws ec2 copy-snapshot {copy}"
        )
    rule = f"is encrypted with {key}: unless that is aws/ebs, its policy has to let Launch fleet's role use it by EC2"
    fix = f"see KeyManager of aws kms describe-key --key-id {key}: AWS is aws/ebs"
    return Refusal("snapshotId", snapshot_id, rule, fix, is_doubt=True)
