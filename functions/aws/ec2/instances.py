"""EC2: launch the instances of a cell, ask for their states, end them."""

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import ClientError

from aws.ec2 import volume_mappings
from aws.stack import denials, encryption, network, tags
from aws.stack.clients import WANT_OF_CAPACITY, client, pages_of
from aws.stack.environment import environment
from matrix.plan import placing, quotas
from matrix.run.polling import ENDED_STATES
from matrix.terms.charges import ROOT_VOLUME_GIB
from matrix.terms.documents.parts import Fleet, Part, Volume
from matrix.terms.documents.plan import PlanDocument
from matrix.terms.errors import CapacityUnavailable, CreationForbidden, LaunchRefused, LaunchThrottled, QuotaExceeded
from storages.contracts.model import Quota
from storages.metrics import metrics_of

# EC2 advises batches of about 100; each is an idempotent call with its own client token.
BATCH = 100
# The error codes as RunInstances documents them.
_QUOTA = {
    "InstanceLimitExceeded", "VcpuLimitExceeded", "MaxSpotInstanceCountExceeded", "VolumeLimitExceeded",
    "MaxIOPSLimitExceeded", "AddressLimitExceeded",
}  # fmt: skip
# Another Availability Zone may still have capacity; Unsupported means that this zone does not offer the type at all.
_CAPACITY = WANT_OF_CAPACITY | {"Unsupported", "InsufficientFreeAddressesInSubnet", "SpotMaxPriceTooLow"}
_THROTTLED = {"RequestLimitExceeded", "InsufficientRequestLimit", "Throttling"}
# Terminate: the results are in the bucket already. One-time: EC2 must not launch a replacement by itself.
_SPOT = {
    "MarketType": "spot",
    "SpotOptions": {"SpotInstanceType": "one-time", "InstanceInterruptionBehavior": "terminate"},
}
# In the request, not in the launch template: mappings of a request may replace the template's, and then the image's
# own unencrypted root volume would be used.
_ROOT_VOLUME: dict[str, Any] = {"VolumeType": "gp3", "Encrypted": True, "DeleteOnTermination": True}
ALIVE = ("pending", "running", "stopping", "stopped", "shutting-down")


@dataclass(frozen=True)
class Boot:
    """The image of an instance, and whether its shutdown stops it (to create an image of it) or terminates it."""

    image_id: str
    root_device: str
    is_kept_when_done: bool = False


@dataclass(frozen=True)
class Launched:
    """The instances that run, and why they are fewer than asked for ('' if they are not)."""

    instances: list[str]
    shortfall: str


def launch(
    *, plan: PlanDocument, file_system: str, cell: str, storage: Part, fleet: Fleet,
    user_data: str, boot: Boot, work_volume: Volume | None = None, subnets: Sequence[str] | None = None,
) -> Launched:  # fmt: skip
    """Launch a fleet in the zones of its placement. A repeated call returns the same instances and launches none twice.

    If a zone has no capacity and the placement is `spread`, other zones are tried. A fleet below its quorum is
    terminated as a whole; the refusal is then raised as QuotaExceeded, CapacityUnavailable, LaunchThrottled,
    CreationForbidden or LaunchRefused.
    """
    count, instance_type = fleet["count"], fleet["instanceType"]
    least = placing.least(fleet.get("quorum"), count)
    launching = _Launching(
        request=_request(
            tags.tags(plan, file_system=file_system, cell=cell), storage, fleet, user_data, boot, work_volume
        ),
        scope=f"{environment().stack}/{plan['run']}/{file_system}/{cell}",
        has_quorum=least < count,
    )
    try:
        launching.place(placing.resolved(fleet.get("placement"), storage), count, subnets or network.subnets())
        if len(launching.instances) < least:
            raise launching.refusals[-1]
    except (ClientError, LaunchRefused) as error:
        terminate({*launching.instances, *of_file_system(plan["run"], file_system, cell)})
        if isinstance(error, ClientError):
            said = f"{count} × {instance_type} refused after {len(launching.instances)}"
            enough = f", {least} would have been enough" if least < count else ""
            raise _refusal(error, f"{said}{enough}", plan) from error
        raise
    # A crashed attempt may have launched in other zones, because capacity changes: terminate its instances.
    terminate(set(of_file_system(plan["run"], file_system, cell)) - set(launching.instances))
    missing = count - len(launching.instances)
    reasons = dict.fromkeys(denials.in_words(error) for error in launching.refusals)
    return Launched(launching.instances, "; ".join(reasons) if missing else "")


def _request(
    resource_tags: list[dict[str, str]], storage: Part, fleet: Fleet, user_data: str,
    boot: Boot, work_volume: Volume | None,
) -> dict[str, Any]:  # fmt: skip
    """Return the parameters that all RunInstances calls of a launch share."""
    root = _ROOT_VOLUME | {"VolumeSize": ROOT_VOLUME_GIB} | encryption.by_key()
    mappings = [{"DeviceName": boot.root_device, "Ebs": root}]
    if metrics_of(storage["type"]).has_volumes:
        mappings += volume_mappings.mappings_of(storage, fleet["instanceType"])
    if work_volume:
        mappings.append(volume_mappings.work_mapping(work_volume))
    kinds, weighting = ["instance", "volume", "network-interface"], fleet.get("bandwidthWeighting")
    if fleet.get("spot"):
        kinds.append("spot-instances-request")
    return {
        "LaunchTemplate": {"LaunchTemplateId": os.environ["LAUNCH_TEMPLATE_ID"], "Version": "$Latest"},
        "ImageId": boot.image_id,
        "InstanceType": fleet["instanceType"],
        "UserData": user_data,
        "BlockDeviceMappings": mappings,
        "TagSpecifications": [{"ResourceType": kind, "Tags": resource_tags} for kind in kinds],
        **({"InstanceInitiatedShutdownBehavior": "stop"} if boot.is_kept_when_done else {}),
        **({"InstanceMarketOptions": _SPOT} if fleet.get("spot") else {}),
        **({"NetworkPerformanceOptions": {"BandwidthWeighting": weighting}} if weighting else {}),
    }


class _Launching:
    """One attempt to launch a fleet: its running instances and the refused calls."""

    def __init__(self, request: dict[str, Any], scope: str, *, has_quorum: bool) -> None:
        self._request, self._scope, self._has_quorum = request, scope, has_quorum
        self._is_over = False
        self.instances: list[str] = []
        self.refusals: list[ClientError] = []

    def place(self, placement: str | Sequence[float], count: int, subnets: Sequence[str]) -> None:
        """Launch up to `count` instances; stop at a limit of the account, which holds in every zone."""
        try:
            wanted = placing.shares(placement, count, len(subnets))
        except ValueError as error:
            raise LaunchRefused(f"{error}; write fewer shares, or give the stack more subnets") from error
        is_spread = placement == "spread"
        # A zone with less than its share need not fail the fleet: other zones may have the rest.
        full = [
            subnet
            for subnet, share in zip(subnets, wanted, strict=False)
            if not self._fill(subnet, share, is_splitting=self._has_quorum or is_spread)
        ]
        for subnet in subnets if is_spread else []:
            if subnet not in full and len(self.instances) < count:
                self._fill(subnet, count - len(self.instances), is_splitting=True)

    def _fill(self, subnet: str, share: int, *, is_splitting: bool) -> bool:
        """Launch into one zone, halving the batch at each refusal; return whether the whole share was launched."""
        size, start = min(BATCH, share), 0
        while start < share and not self._is_over:
            size = min(size, share - start)
            refused = self._run(subnet, size)
            if refused is None:
                start += size
                continue
            # The account's limits hold in every zone. A smaller batch may still fit below them, where a quorum will do.
            is_for_all = refused in _THROTTLED or (refused in _QUOTA and not (self._has_quorum and size > 1))
            self._is_over = is_for_all or not is_splitting
            if size == 1:
                break
            size //= 2
        return start == share

    def _run(self, subnet: str, size: int) -> str | None:
        """Launch `size` instances or none; return the code of a refusal after which other zones or sizes may work."""
        # All in which calls of a launch differ is in the token: a retry repeats them, and EC2 sees no mismatch.
        name = f"{self._scope}/{subnet}/{len(self.instances)}/{size}"
        token = hashlib.sha256(name.encode()).hexdigest()
        try:
            answer = client("ec2").run_instances(
                **self._request, SubnetId=subnet, MinCount=size, MaxCount=size, ClientToken=token
            )
        except ClientError as error:
            self.refusals.append(error)
            if _code(error) not in _QUOTA | _CAPACITY | _THROTTLED:
                raise
            return _code(error)
        self.instances += [instance["InstanceId"] for instance in answer["Instances"]]
        return None


def _code(error: ClientError) -> str:
    return error.response["Error"]["Code"]


def _refusal(error: ClientError, said: str, plan: PlanDocument) -> Exception:
    what = f"{said}: {denials.in_words(error)}"
    if to_do := denials.advice(error, plan):
        return CreationForbidden(f"{what}; {to_do}")
    if _code(error) in _QUOTA:
        return QuotaExceeded(f"{what}; ask for a higher quota in Service Quotas or lower the fleet's count")
    if _code(error) in _CAPACITY:
        return CapacityUnavailable(f"{what}; try another instance type, placement or time, or a lower quorum")
    if _code(error) in _THROTTLED:
        return LaunchThrottled(f"{what}; EC2 limits calls per second: lower maxConcurrentFileSystems or try later")
    return LaunchRefused(what)


def states(instances: Sequence[str]) -> dict[str, str]:
    """Return EC2's state of each instance. One launched seconds ago may be absent, as EC2 is eventually consistent."""
    return {instance["InstanceId"]: instance["State"]["Name"] for instance in _by_ids(instances)}


def tags_by_id(instances: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return the tags of each instance that EC2 knows already."""
    return {instance["InstanceId"]: tags.as_mapping(instance.get("Tags", [])) for instance in _by_ids(instances)}


def interrupted(instances: Sequence[str]) -> list[str]:
    """Return the Spot instances that EC2 took back; EC2 still describes them for about an hour."""
    return [
        instance["InstanceId"]
        for instance in _by_ids(instances)
        if instance.get("StateReason", {}).get("Code")
        in {"Server.SpotInstanceTermination", "Server.SpotInstanceShutdown"}
    ]


def reasons_of_end(instances: Sequence[str]) -> list[str]:
    """Return EC2's reasons why instances are ending or have ended, each once: 200 instances mostly share one."""
    ended = (instance for instance in _by_ids(instances) if instance["State"]["Name"] in ENDED_STATES)
    reasons = (instance.get("StateReason", {}).get("Message") for instance in ended)
    return list(dict.fromkeys(reason for reason in reasons if reason))


def _by_ids(instances: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Describe by a filter, which takes 200 values: one unknown id in InstanceIds would fail the whole call."""
    for start in range(0, len(instances), 200):
        yield from _describe([{"Name": "instance-id", "Values": list(instances[start : start + 200])}])


def of_file_system(run: str, file_system: str, cell: str | None = None) -> list[str]:
    """Return the ids of a file system's (or its cell's) instances that are not yet terminated, found by their tags."""
    filters = tags.of_part(run, file_system, cell)
    alive = {"Name": "instance-state-name", "Values": list(ALIVE)}
    return [instance["InstanceId"] for instance in _describe([*filters, alive])]


def tagged() -> Iterator[tuple[str, dict[str, str]]]:
    """Yield (id, tags) of every instance of any run of this stack that is not yet terminated."""
    alive = {"Name": "instance-state-name", "Values": list(ALIVE)}
    for instance in _describe([*tags.of_runs(), alive]):
        yield instance["InstanceId"], tags.as_mapping(instance["Tags"])


def of_run(run: str, file_system: str | None = None, cell: str | None = None) -> Iterator[dict[str, Any]]:
    """Yield EC2's description of every instance of a run or a part of it, including those of the last hour."""
    yield from _describe(tags.of_part(run, file_system, cell))


def tagged_volumes() -> Iterator[tuple[str, str, dict[str, str]]]:
    """Yield (id, state, tags) of every volume of any run of this stack."""
    for volume in volumes(tags.of_runs()):
        yield volume["VolumeId"], volume["State"], tags.as_mapping(volume["Tags"])


def volumes(filters: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield EC2's description of every volume that passes the filters."""
    for page in pages_of("describe_volumes", Filters=filters):
        yield from page["Volumes"]


def delete_volume(volume: str) -> None:
    """Delete a volume that outlived its instance; a volume that no longer exists is no error."""
    try:
        client("ec2").delete_volume(VolumeId=volume)
    except ClientError as error:
        if error.response["Error"]["Code"] != "InvalidVolume.NotFound":
            raise


def terminate(instances: Iterable[str]) -> None:
    """Terminate instances; ids unknown to EC2 (not yet, or no longer) are skipped."""
    ids = list(instances)
    for start in range(0, len(ids), 1000):
        _terminate(ids[start : start + 1000])


def _terminate(ids: list[str]) -> None:
    try:
        client("ec2").terminate_instances(InstanceIds=ids)
    except ClientError as error:
        if _code(error) != "InvalidInstanceID.NotFound":
            raise
        if len(ids) == 1:
            return
        # EC2 terminates none of them if it does not know one; its message names the unknown ids.
        unknown = set(re.findall(r"\bi-[0-9a-f]+", error.response["Error"]["Message"])) & set(ids)
        if not unknown:
            raise
        if known := [instance for instance in ids if instance not in unknown]:
            _terminate(known)


def running_vcpus(quota: Quota) -> float:
    """Return the vCPUs that count against a quota: of all pending or running instances of the account."""
    alive = [{"Name": "instance-state-name", "Values": ["pending", "running"]}]
    counted = (instance for instance in _describe(alive) if _quota_of(instance) == quota)
    cpus = [instance["CpuOptions"] for instance in counted if "CpuOptions" in instance]
    return float(sum(cpu["CoreCount"] * cpu["ThreadsPerCore"] for cpu in cpus))


def _quota_of(instance: Mapping[str, Any]) -> Quota:
    return quotas.class_of(instance["InstanceType"], is_spot=instance.get("InstanceLifecycle") == "spot")


def _describe(filters: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for page in pages_of("describe_instances", Filters=filters):
        for reservation in page["Reservations"]:
            yield from reservation["Instances"]
