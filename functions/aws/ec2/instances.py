"""EC2: launch the instances of a cell, ask for their states, end them."""

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import ClientError

from aws.ec2 import volume_mappings
from aws.records import table
from aws.stack import denials, encryption, network, tags
from aws.stack.clients import WANT_OF_CAPACITY, client, listed
from aws.stack.clock import now
from aws.stack.environment import environment
from aws.stack.retrying import NotYet, retried
from matrix.plan import placing, quotas
from matrix.run.polling import ENDED_STATES
from matrix.storages.base import Quota
from matrix.storages.models import metrics_of
from matrix.terms.charges import ROOT_VOLUME_GIB
from matrix.terms.documents.parts import Fleet, Part, Volume
from matrix.terms.documents.plan import PlanDocument
from matrix.terms.errors import (
    CapacityUnavailable,
    CreationForbidden,
    LaunchRefused,
    LaunchThrottled,
    QuotaExceeded,
    SpotInterrupted,
    StorageMatrixError,
)

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
_TAKEN_BACK = {"SpotInstanceTermination", "SpotInstanceShutdown"}
# State reasons of instances that a person or program has ended, also from within. For any other, EC2 ended them itself.
_ENDED_BY_SOMEBODY = {
    "Client.UserInitiatedShutdown", "Client.UserInitiatedHibernate", "Client.InstanceInitiatedShutdown",
    "Client.InstanceTerminated", "Server.ScheduledStop",
}  # fmt: skip
# https://docs.aws.amazon.com/ebs/latest/userguide/ebs-encryption-requirements.html
_KEY_REFUSED = ("Client.InternalError", "Client.InvalidKMSKey")
_KEY_ADVICE = (
    "if the account's default key for EBS is its own, the key's policy must let the stack's roles use it through EC2 "
    "(Launch fleet, Populate cache, Create file system, Bake images): kms:CreateGrant, kms:Decrypt, kms:DescribeKey, "
    "kms:GenerateDataKeyWithoutPlaintext, kms:ReEncrypt*"
)
# An ending instance keeps its volumes and addresses until it is terminated, mostly 30 to 90 s. Its vCPUs may count too:
# https://github.com/iterative/cml/issues/649 saw it, AWS's pages do not say it.
_FREED_BY_ENDING = _QUOTA | WANT_OF_CAPACITY | {"InsufficientFreeAddressesInSubnet"}
_ENDING = {"shutting-down", "stopping"}
# Five minutes in all, a third of the boot allowance of a cell.
ENDING_PAUSES_S = (1.0, 2.0, 4.0, *[5.0] * 58)
# The answer to a repeated call, if an instance of the first one has terminated meanwhile. EC2 does not document it;
# until 2025 the answer was that of the first call: https://github.com/boto/boto3/issues/4406.
_ENDED_SINCE = "IdempotentInstanceTerminated"
# EC2 is eventually consistent: so often a launch is tried again after all are terminated.
TRIES_AFTER_END = 3
# Until EC2 has found capacity, volumes and keys for the instances that it accepted: a minute.
PENDING_PAUSES_S = (0.25, 0.5, 1.0, 2.0, *[4.0] * 14)
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
    """The instances that run, why they are fewer than asked for ('' if they are not), and the time of the first."""

    instances: list[str]
    shortfall: str
    began_at: float  # epoch seconds


def launch(
    *, plan: PlanDocument, file_system: str, cell: str, storage: Part, fleet: Fleet,
    user_data: str, boot: Boot, work_volume: Volume | None = None, subnets: Sequence[str] | None = None,
    is_connected: bool = False,
) -> Launched:  # fmt: skip
    """Launch a fleet in the zones of its placement. A repeated call returns the same instances and launches none twice.

    A launch refused for quota or capacity waits for instances of the stack that are ending. If a zone has no capacity
    and the placement is `spread`, other zones are tried. A fleet below its quorum is terminated as a whole; the refusal
    is then raised as QuotaExceeded, CapacityUnavailable, LaunchThrottled, SpotInterrupted, CreationForbidden or
    LaunchRefused. Instances of a fleet that `is_connected` may reach each other.
    """
    count, instance_type = fleet["count"], fleet["instanceType"]
    least = placing.least(fleet.get("quorum"), count)
    request = _request(
        tags.tags(plan, file_system=file_system, cell=cell), storage, fleet, user_data, boot, work_volume
    )
    if is_connected:
        request["SecurityGroupIds"] = os.environ["CONNECTED_SECURITY_GROUP_IDS"].split(",")
    launching = _Launching(
        run=plan["run"],
        request=request,
        scope=f"{environment().stack}/{plan['run']}/{file_system}/{cell}",
        has_quorum=least < count,
    )
    try:
        launching.place(placing.resolved(fleet.get("placement"), storage), count, subnets or network.subnets())
        if least < count:
            launching.drop_refused()
        if len(launching.instances) < least:
            raise launching.refusals[-1]
    except (ClientError, LaunchRefused) as error:
        terminate({*launching.instances, *of_file_system(plan["run"], file_system, cell)})
        if isinstance(error, ClientError):
            said = f"{count} × {instance_type} refused after {len(launching.instances)}"
            enough = f", {least} would have been enough" if least < count else ""
            if to_do := denials.advice(error, plan):
                raise CreationForbidden(f"{said}{enough}: {denials.describe(error)}; {to_do}") from error
            raise refusal(error, f"{said}{enough}") from error
        raise
    # A crashed attempt may have launched in other zones, because capacity changes: terminate its instances.
    terminate(set(of_file_system(plan["run"], file_system, cell)) - set(launching.instances))
    missing = count - len(launching.instances)
    reasons = dict.fromkeys(denials.describe(error) for error in launching.refusals)
    return Launched(launching.instances, "; ".join(reasons) if missing else "", launching.began_at)


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

    def __init__(self, run: str, request: dict[str, Any], scope: str, *, has_quorum: bool) -> None:
        self._request, self._scope, self._has_quorum = request, scope, has_quorum
        self._is_over = False
        self._pauses_s = _while_ending(run)
        self.began_at = now()
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

        def run() -> Any:
            if not self.instances:
                self.began_at = now()
            try:
                return client("ec2").run_instances(
                    **self._request, SubnetId=subnet, MinCount=size, MaxCount=size, ClientToken=token
                )
            except ClientError as error:
                if _code(error) in _FREED_BY_ENDING:
                    raise NotYet(denials.describe(error)) from error
                before = {"Name": "client-token", "Values": [token]}
                if _code(error) == _ENDED_SINCE and (launched := list(_describe([before]))):
                    return {"Instances": launched}
                raise

        try:
            answer = retried(f"launching {size} in {subnet}", run, self._pauses_s)
        except ClientError as error:
            self.refusals.append(error)
            if _code(error) not in _QUOTA | _CAPACITY | _THROTTLED:
                raise
            return _code(error)
        self.instances += [instance["InstanceId"] for instance in answer["Instances"]]
        return None

    def drop_refused(self) -> None:
        """Wait until EC2 has started the instances, and count those that it ended instead as refused."""

        def look() -> None:
            states_now = states(self.instances)
            if pending := [name for name in self.instances if states_now.get(name, "pending") == "pending"]:
                raise NotYet(f"{len(pending)} of {len(self.instances)} instances are pending")

        with suppress(NotYet):  # Poll fleet reports a later end
            retried("the start of the fleet", look, PENDING_PAUSES_S)
        ended = reasons_of_end(self.instances)
        lost = {name: why for name, why in ended.items() if is_of_ec2(why, has_started=False)}
        self.refusals += lost.values()
        self.instances = [name for name in self.instances if name not in lost]


def _while_ending(run: str) -> Iterator[float]:
    """Yield pauses while instances of the stack are ending, and some more after that; none once the run has ended."""
    tries = TRIES_AFTER_END
    for pause_s in ENDING_PAUSES_S:
        ended = {"Name": "instance-state-name", "Values": [*_ENDING, "terminated"]}
        of_stack = {instance["State"]["Name"] for instance in _describe([*tags.of_runs(), ended])}
        tries = TRIES_AFTER_END if of_stack & _ENDING else tries - 1
        if not of_stack or tries < 0 or table.ended_at(run) is not None:
            return
        yield pause_s


def _code(error: ClientError) -> str:
    return error.response["Error"]["Code"]


def refusal(error: ClientError, said: str) -> StorageMatrixError:
    """Return a refusal of RunInstances, or a reason of an end, as the run's error, with advice."""
    what, code = f"{said}: {denials.describe(error)}", _code(error)
    if code in _QUOTA:
        return QuotaExceeded(f"{what}; ask for a higher quota in Service Quotas or lower the fleet's count")
    if code in _CAPACITY:
        return CapacityUnavailable(f"{what}; try another instance type, placement or time, or a lower quorum")
    if code in _THROTTLED:
        return LaunchThrottled(f"{what}; EC2 limits calls per second: lower maxConcurrentFileSystems or try later")
    if code in _TAKEN_BACK:
        return SpotInterrupted(f"{what}; measure again, choose another type, or leave out spot")
    return LaunchRefused(f"{what}; {_KEY_ADVICE}" if code.startswith(_KEY_REFUSED) else what)


def reasons_of_end(instances: Sequence[str]) -> dict[str, ClientError]:
    """Return why instances are ending or have ended, by id, each as if RunInstances had refused it.

    EC2 checks quotas of EBS and encryption keys only after RunInstances has answered, and may find no capacity then.
    """
    return {
        instance["InstanceId"]: _as_refusal(reason["Code"], reason.get("Message", ""))
        for instance in _by_ids(instances)
        if instance["State"]["Name"] in ENDED_STATES and (reason := instance.get("StateReason", {})).get("Code")
    }


def is_of_ec2(reason: ClientError, *, has_started: bool) -> bool:
    """Return whether EC2 refused an instance after its launch, or took it back later."""
    return _code(reason) in _TAKEN_BACK or (not has_started and _code(reason) not in _ENDED_BY_SOMEBODY)


def _as_refusal(code: str, message: str) -> ClientError:
    """Return a state reason such as `Client.VolumeLimitExceeded` as an answer with RunInstances' own code."""
    bare = code.partition(".")[2]
    known = bare if bare in _QUOTA | _CAPACITY | _TAKEN_BACK else code
    return ClientError({"Error": {"Code": known, "Message": message.removeprefix(f"{code}: ")}}, "RunInstances")


def states(instances: Sequence[str]) -> dict[str, str]:
    """Return EC2's state of each instance. One launched seconds ago may be absent, as EC2 is eventually consistent."""
    return {instance["InstanceId"]: instance["State"]["Name"] for instance in _by_ids(instances)}


def addresses(instances: Sequence[str]) -> dict[str, str]:
    """Return the private address of each instance that EC2 knows already."""
    described = _by_ids(instances)
    return {each["InstanceId"]: each["PrivateIpAddress"] for each in described if each.get("PrivateIpAddress")}


def tags_by_id(instances: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return the tags of each instance that EC2 knows already."""
    return {instance["InstanceId"]: tags.as_mapping(instance.get("Tags", [])) for instance in _by_ids(instances)}


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
    """Return EC2's description of every volume that passes the filters."""
    return listed("ec2", "describe_volumes", "Volumes", Filters=filters)


def delete_volume(volume: str) -> None:
    """Delete a volume that outlived its instance; a volume that no longer exists is not an error."""
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
    for reservation in listed("ec2", "describe_instances", "Reservations", Filters=filters):
        yield from reservation["Instances"]
