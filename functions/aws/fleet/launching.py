"""Shared by Launch fleet and Populate cache: put a job on the blackboard and launch its instances."""

import secrets
from collections.abc import Callable, Sequence
from contextlib import suppress

from aws.ec2 import instances, resources
from aws.ec2.instances import Boot
from aws.ec2.volume_mappings import WORK_DEVICE, devices_of
from aws.records import bucket, table
from aws.records.plans import image_of
from aws.run import creations
from aws.stack.clock import now
from aws.stack.environment import environment
from aws.stack.retrying import NotYet, retried
from matrix.input.pace import BOOT_ALLOWANCE_S
from matrix.run.job import JobMaker, user_data
from matrix.run.polling import ENDED_STATES
from matrix.storages.models import metrics_of
from matrix.terms.documents.job import BarrierRecord, FleetRecord, FleetVolumes, JobCell, JobDocument, Mount, Roster
from matrix.terms.documents.parts import Fleet
from matrix.terms.documents.plan import PlanDocument
from matrix.terms.grouping import grouped
from matrix.terms.keys import Board

# The watchdog waits this long beyond the job's deadline: for the boot, the last upload and one more poll.
WATCHDOG_GRACE_S = BOOT_ALLOWANCE_S + 300
# EC2 is eventually consistent: for some 20 seconds, new volumes may be missing from its descriptions, or lack their
# tags or their instance. An instance with a short job may end seconds after its boot.
# https://docs.aws.amazon.com/ec2/latest/devguide/eventual-consistency.html
PAUSES_S = (1.0, 2.0, *[4.0] * 7)


def launch(
    *, plan: PlanDocument, board: Board, cell: JobCell, purpose: str, fleet: Fleet,
    boot: Boot, mount: Mount, job: JobMaker,
    subnets: Sequence[str] | None = None, attach: Callable[[Sequence[str]], None] | None = None,
    storage_zone: str | None = None,
) -> None:  # fmt: skip
    """Launch the instances for a job once; after a crash half-way, calling it again completes the same launch.

    `subnets` are the allowed subnets, by default all of the stack; `attach` attaches existing volumes to the instances;
    `storage_zone` is the Availability Zone of a storage that is in one.
    """
    if bucket.get(board.fleet):
        return
    environ = environment()
    document = job(
        run=plan["run"], mount=mount, bucket=environ.bucket, environment=plan["environment"], now=now()
    )  # fmt: skip
    # A builder's job lists the provisions of all cells; any other job takes them from the plan's image.
    if document["kind"] in ("measure", "populate"):
        document["provisions"] = image_of(plan, cell["image"])["provisions"]
    add_work_mount(document, cell)
    # The sweep ends instances past the run's deadline, so they must have uploaded their samples before it.
    document["deadline_at"] = min(document["deadline_at"], plan["deadline_at"])
    bucket.put_if_absent(board.job, document)
    is_connected = document["barrier"] is not None and cell["workload"].get("on") == "leader"
    nonce = _nonce(board) if document["barrier"] is not None else ""
    facts = {"file_system": cell["file_system"], "cell": purpose}
    with creations.noted(plan["run"], f"the instances of {purpose} on {cell['file_system']}"):
        launched = instances.launch(
            plan=plan,
            file_system=cell["file_system"],
            cell=purpose,
            storage=cell["storage"],
            fleet=fleet,
            boot=boot,
            user_data=user_data(
                bucket=environ.bucket,
                agent_key=plan["agent_key"],
                job_key=board.job,
                region=environ.region,
                lifetime_s=cell["deadline_s"] + WATCHDOG_GRACE_S,
                nonce=nonce,
            ),
            work_volume=cell.get("work_volume"),
            subnets=subnets,
            is_connected=is_connected,
        )
        table.record_resources(plan["run"], (("instance", instance, facts) for instance in launched.instances))
    if attach:
        attach(launched.instances)
    if nonce:
        roster: Roster = {"instances": launched.instances}
        if is_connected:
            roster["addresses"] = _addresses(launched.instances)
        bucket.put(board.barrier(nonce).roster, roster)
    volumes: FleetVolumes = {"volumes": _record_volumes(plan["run"], purpose, cell, launched.instances)}
    if cell["workload"].get("device"):
        # An agent writes only to raw disks that this document lists as its own.
        bucket.put(board.volumes, volumes)
    record: FleetRecord = {
        "instances": launched.instances,
        "expected": fleet["count"],
        "shortfall": launched.shortfall,
        "launched_at": launched.began_at,
    }
    if storage_zone:
        record["storage_zone"] = storage_zone
    bucket.put(board.fleet, record)


def _record_volumes(run: str, purpose: str, cell: JobCell, launched: Sequence[str]) -> dict[str, list[str]]:
    """Record the volumes of a fleet now: they are deleted with their instances, and EC2 then no longer describes them.

    Stop waiting if all instances have ended. Return the ids of the data volumes by instance.
    """
    of_storage = len(devices_of(cell["storage"])) if metrics_of(cell["storage"]["type"]).has_volumes else 0
    of_instance = 1 + of_storage + ("work_volume" in cell)
    expected = len(launched) * of_instance
    volumes: list[resources.Resource] = []

    def look() -> None:
        described = resources.record(run, purpose, cell["file_system"])
        volumes[:] = [each for each in described if each.kind == "volume" and "instance" in each.facts]
        if len(volumes) < expected and not _have_ended(launched):
            raise NotYet(f"EC2 describes {len(volumes)} of {expected} volumes with their instance")

    # Without the last of them the fleet measures all the same: `retried` has logged how many are missing.
    with suppress(NotYet):
        retried(f"the volumes of {purpose}", look, PAUSES_S)
    return grouped(
        (volume.facts["instance"], volume.id)
        for volume in volumes
        if volume.facts.get("is_data") and "instance" in volume.facts
    )


def _addresses(launched: Sequence[str]) -> dict[str, str]:
    """Return the private addresses of instances, in their order, once EC2 describes them all."""

    def described() -> dict[str, str]:
        known = instances.addresses(launched)
        if missing := set(launched) - known.keys():
            raise NotYet(f"EC2 describes no address of {len(missing)} of {len(launched)} instances")
        return {instance: known[instance] for instance in launched}

    return retried("the addresses of the fleet", described, PAUSES_S)


def _have_ended(launched: Sequence[str]) -> bool:
    states = instances.states(launched)
    return all(states.get(instance) in ENDED_STATES for instance in launched)


def _nonce(board: Board) -> str:
    """Return the launch's secret name. A repeated launch gets the same, because its user data must be equal."""
    drawn: BarrierRecord = {"nonce": secrets.token_hex(16)}
    bucket.put_if_absent(board.barrier_nonce, drawn)
    return (bucket.read(board.barrier_nonce, BarrierRecord) or drawn)["nonce"]


def root_mount() -> Mount:
    """Return the mount of an instance that works on its root volume."""
    return {"kind": "root"}


def add_work_mount(document: JobDocument, cell: JobCell) -> None:
    """Add the mount of the cell's work volume to a job, if the cell has one."""
    if "work_volume" in cell:
        document["work_mount"] = {"kind": "ebs", "devices": [WORK_DEVICE], "fstype": "xfs"}
