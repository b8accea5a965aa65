"""What Launch fleet and Populate cache have in common: put a job on the blackboard, launch instances that do it."""

from aws.ec2 import instances
from aws.ec2.instances import Boot
from aws.inventory import resources
from aws.records import bucket, table
from aws.records.plans import image_of
from aws.stack.clock import now
from aws.stack.environment import environment
from aws.stack.lending import OWN_FOLDER, lent
from matrix.input.pace import BOOT_ALLOWANCE_S
from matrix.run.job import JobMaker, user_data
from matrix.terms.documents.job import FleetRecord, Gate, JobCell, Mount
from matrix.terms.documents.parts import Fleet
from matrix.terms.documents.plan import PlanDocument
from matrix.terms.keys import Board

# The watchdog waits this long beyond the job's deadline: for the boot, the last upload and one more poll.
WATCHDOG_GRACE_S = BOOT_ALLOWANCE_S + 300


def launch(
    *, plan: PlanDocument, board: Board, cell: JobCell, purpose: str, fleet: Fleet,
    boot: Boot, mount: Mount, job: JobMaker,
) -> None:  # fmt: skip
    """Launch the instances for a job once; after a crash half-way, calling it again completes the same launch."""
    if bucket.get(board.fleet):
        return
    environ = environment()
    document = job(
        run=plan["run"], mount=mount, bucket=environ.bucket, environment=plan["environment"], now=now()
    )  # fmt: skip
    # A builder's job names what the workloads of all cells need; any other job takes it from the plan's image.
    if document["kind"] in ("measure", "populate"):
        document["provisions"] = image_of(plan, cell["image"])["provisions"]
    # The sweep ends instances past the run's deadline, so they must have uploaded their samples before it.
    document["deadline_at"] = min(document["deadline_at"], plan["deadline_at"])
    bucket.put_if_absent(board.job, document)
    gate: Gate = {"step": -1}
    bucket.put_if_absent(board.gate, gate)
    launched_at = now()
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
        ),
        root_gib=cell["root_volume_gib"],
    )
    for instance in launched.instances:
        table.record_resource(plan["run"], "instance", instance, file_system=cell["file_system"], cell=purpose)
    # Volumes come and go with their instances, so they are recorded now, while they exist.
    resources.record(plan["run"], purpose, cell["file_system"])
    record: FleetRecord = {
        "instances": launched.instances,
        "expected": fleet["count"],
        "shortfall": launched.shortfall,
        "launched_at": launched_at,
    }
    bucket.put(board.fleet, record)


def root_mount() -> Mount:
    """Return the mount of an instance that works on its root volume; in the local cloud that is a folder of its own."""
    return lent(OWN_FOLDER) or {"kind": "root"}
