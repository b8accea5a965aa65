"""Bake the images of a run: each call looks at what exists, by tags, and takes the next step."""

from functools import partial

from aws_lambda_powertools import Logger
from botocore.exceptions import BotoCoreError, ClientError

from aws.ec2 import images, instances, resources
from aws.fleet import launching, watching
from aws.records import bucket, table
from aws.records.plans import plan_of
from aws.run import budget, creations
from aws.stack import denials
from aws.stack.clock import now
from aws.stack.environment import environment
from aws.stack.retrying import NotYet, retried
from matrix.input.pace import BOOT_ALLOWANCE_S
from matrix.plan.images import fingerprint
from matrix.run.job import baking_job
from matrix.run.receipt import BUILDERS
from matrix.terms.charges import ROOT_VOLUME_GIB
from matrix.terms.documents.job import BakeRecord, JobCell
from matrix.terms.documents.plan import PlanDocument, PlanImage
from matrix.terms.errors import ImageFailed, StorageMatrixError
from matrix.terms.keys import Board, booted_image_key

USABLE = ("available", "pending")
# An instance needs 30 to 90 s to end. Two minutes in all; the sweep that follows the run waits longer.
END_PAUSES_S = (0.5, 1.0, 2.0, *[5.0] * 23)


def step(run: str) -> str:
    """Take the next step for each image of a run; return `baked` once all exist, else `baking`.

    Launch a builder, create the image once the builder has stopped, terminate the builder once the image is there. An
    image that another run has baked, or is baking, is taken. A repeated call does nothing twice.

    Raises OverBudget or DeadlinePassed before a builder exists, ImageFailed with its message if no image can result.
    After an error no builder remains: where one cannot be terminated, the sweep that follows the run does it.
    """
    plan = plan_of(run)
    try:
        is_baked = [_step(plan, planned) for planned in plan["images"] if planned["bake"]]
    except Exception:
        try:
            _end_builders(run)
        except (BotoCoreError, ClientError, NotYet):
            Logger().exception("builders are left to the sweep")
        raise
    return "baked" if all(is_baked) else "baking"


def settle(plan: PlanDocument) -> None:
    """Record the images that an ended run made: it may have been stopped before. Delete those that EC2 could not make.

    EC2 refuses a name that a failed image still has, so no later run could bake it.
    """
    for planned in plan.get("images", []):
        key = Board.of_image(plan["run"], planned["id"]).recipe
        recipe = bucket.read(key, BakeRecord) if planned["bake"] else None
        baked = images.find(recipe["fingerprint"]) if recipe else None
        if baked and baked.made_by == plan["run"]:
            if baked.state in USABLE:
                _note(plan["run"], planned["id"], baked)
            else:
                images.deregister(baked)


def _step(plan: PlanDocument, planned: PlanImage) -> bool:
    """Take the next step for an image; return whether it is available."""
    run, name = plan["run"], planned["id"]
    board = Board.of_image(run, name)
    recipe = _recipe(planned, board)
    baked = images.find(recipe["fingerprint"])
    if baked and baked.state == "available":
        booted = {"image_id": baked.id, "baked": True, "baked_by": baked.made_by, "snapshots": baked.snapshots}
        bucket.put(booted_image_key(run, name), {**booted, **recipe})
        if baked.made_by == run:
            _note(run, name, baked)
        instances.terminate(instances.of_file_system(run, BUILDERS, name))
        budget.settle_image(run, plan, planned)
        return True
    if baked and baked.state not in USABLE and baked.made_by == run:
        why = baked.reason or "no reason given"
        raise ImageFailed(f"{name}: EC2 could not make {baked.id} of its builder ({baked.state}: {why})")
    if now() > recipe["since"] + planned["deadline_s"]:
        state = baked.state if baked else "absent"
        raise ImageFailed(f"{name} was not baked within {planned['deadline_s']:.0f} s: {state}")
    if baked and baked.state == "pending":
        return False
    if bucket.get(board.fleet) is None:
        _launch_builder(plan, planned, recipe, board)
    else:
        _create_image(plan, planned, recipe, board)
    return False


def _recipe(planned: PlanImage, board: Board) -> BakeRecord:
    """Return the recipe with its base image: that of the first call, also if a newer one is released meanwhile."""
    if known := bucket.read(board.recipe, BakeRecord):
        return known
    base = images.base_of(planned)
    recipe: BakeRecord = {
        "base_image_id": base,
        "fingerprint": fingerprint(planned["recipe"], base),
        "since": now(),
    }
    bucket.put_if_absent(board.recipe, recipe)
    return bucket.read(board.recipe, BakeRecord) or recipe


def _launch_builder(plan: PlanDocument, planned: PlanImage, recipe: BakeRecord, board: Board) -> None:
    run, name = plan["run"], planned["id"]
    budget.admit_image(run, plan, planned)
    waiting = [cell for cell in plan["cells"] if cell["image"] == name and "taken_from" not in cell]
    for file_system in {cell["file_system"] for cell in waiting}:
        table.set_file_system(run, file_system, "baking")
    # A job describes a cell, so the builder gets a cell with its root volume as the only storage.
    cell: JobCell = {
        "id": name,
        "image": name,
        "file_system": BUILDERS,
        "storage": {"type": "image"},
        "workload": {"type": "image"},
        "deadline_s": planned["deadline_s"],
        "ready_within_s": BOOT_ALLOWANCE_S,
        "root_volume_gib": ROOT_VOLUME_GIB,
    }
    launching.launch(
        plan=plan,
        board=board,
        cell=cell,
        purpose=name,
        fleet={"instanceType": planned["builder"], "count": 1, "placement": "spread"},
        boot=instances.Boot(recipe["base_image_id"], planned["root_device"], is_kept_when_done=True),
        mount=launching.root_mount(),
        job=partial(baking_job, cell=cell, recipe=planned["recipe"]),
    )


def _create_image(plan: PlanDocument, planned: PlanImage, recipe: BakeRecord, board: Board) -> None:
    """Create the image once the builder's agent is done and the builder has stopped: only then is its disk at rest."""
    run, name = plan["run"], planned["id"]
    try:
        watched = watching.watch(board)
    except StorageMatrixError as error:
        raise ImageFailed(f"{name}: {type(error).__name__}: {error}") from error
    if watched.progress.state != "finished":
        return
    [builder] = watched.fleet.instances
    state = instances.states([builder]).get(builder)
    if state == "terminated":
        raise ImageFailed(f"{name}: its builder {builder} was terminated before the image was made")
    if state == "stopped":
        # An image's name may have 128 characters, a stack's name too: 80 + 1 + the image's id + 1 + 12 fit.
        unique = f"{environment().stack[:80]}-{name}-{recipe['fingerprint'][:12]}"
        with creations.noted(run, _creation_of(name)), denials.explained(plan):
            images.create(plan, builder, unique, recipe["fingerprint"])


def _end_builders(run: str) -> None:
    """Terminate the builders of a run, also those of a launch that crashed half-way, and wait until they are gone."""
    instances.terminate(instances.of_file_system(run, BUILDERS))

    def look() -> None:
        if there := resources.verify(run, file_system=BUILDERS):
            raise NotYet(f"{len(there)} instances and volumes are still there")

    retried("the end of the builders", look, END_PAUSES_S)


def _note(run: str, name: str, baked: images.Baked) -> None:
    """Record an image of this run with its snapshots, which are kept."""
    facts = {"file_system": BUILDERS, "cell": name, "kept": True}
    for kind, kept in [("image", baked.id), *(("image-snapshot", snapshot) for snapshot in baked.snapshots)]:
        table.record_resource(run, kind, kept, **facts)
    # A function that crashed after CreateImage is called again, finds the image and creates none.
    table.end_creation(run, _creation_of(name))


def _creation_of(image: str) -> str:
    return f"the image {image}"
