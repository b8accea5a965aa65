"""Bake an image: find it, or launch a builder instance, let its agent install everything, and create the image."""

from functools import partial

from aws.ec2 import images, instances, resources
from aws.fleet import launching, watching
from aws.records import bucket, table
from aws.records.plans import image_of, plan_of
from aws.run import budget, creations
from aws.stack import denials
from aws.stack.clock import now
from aws.stack.environment import environment
from matrix.input.pace import BOOT_ALLOWANCE_S
from matrix.plan.images import fingerprint
from matrix.run.job import baking_job
from matrix.run.receipt import BUILDERS
from matrix.terms.charges import ROOT_VOLUME_GIB
from matrix.terms.documents.job import BakeRecord, JobCell
from matrix.terms.documents.plan import PlanDocument, PlanImage
from matrix.terms.errors import ImageFailed, StorageMatrixError
from matrix.terms.keys import Board, booted_image_key


def begin(run: str, image: str) -> str:
    """Return `baked` if the image exists, else launch a builder and return `baking`; a second call launches nothing.

    Raises OverBudget or DeadlinePassed before any resource exists.
    """
    plan = plan_of(run)
    planned = image_of(plan, image)
    board = Board.of_image(run, image)
    base = images.base_of(planned)
    recipe: BakeRecord = {
        "base_image_id": base,
        "fingerprint": fingerprint(planned["recipe"], base),
        "since": now(),
    }
    bucket.put_if_absent(board.recipe, recipe)
    recipe = _recipe(board)
    state = _adopt(plan, planned, images.find(recipe["fingerprint"]), recipe)
    if state != "absent":
        return "baked" if state == "baked" else "baking"
    budget.admit_image(run, plan, planned)
    waiting = [cell for cell in plan["cells"] if cell["image"] == image and "taken_from" not in cell]
    for file_system in {cell["file_system"] for cell in waiting}:
        table.set_file_system(run, file_system, "baking")
    # A job describes a cell, so the builder gets a cell with its root volume as the only storage.
    cell: JobCell = {
        "id": image,
        "image": image,
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
        purpose=image,
        fleet={"instanceType": planned["builder"], "count": 1, "placement": "spread"},
        boot=instances.Boot(recipe["base_image_id"], planned["root_device"], is_kept_when_done=True),
        mount=launching.root_mount(),
        job=partial(baking_job, cell=cell, recipe=planned["recipe"]),
    )
    return "baking"


def check(run: str, image: str) -> str:
    """Take the next step (create the image of a finished builder, terminate it); return `baked` or `baking`.

    Raises ImageFailed with the builder's own message if no image can result any more.
    """
    plan = plan_of(run)
    planned = image_of(plan, image)
    board = Board.of_image(run, image)
    recipe = _recipe(board)
    baked = images.find(recipe["fingerprint"])
    state = _adopt(plan, planned, baked, recipe)
    if baked and baked.state not in ("available", "pending"):
        images.deregister(baked)  # frees its name for another attempt
        if baked.made_by == run:
            why = baked.reason or "no reason given"
            raise ImageFailed(f"{image}: EC2 could not make {baked.id} of its builder ({baked.state}: {why})")
    if state == "baked":
        instances.terminate(instances.of_file_system(run, BUILDERS, image))
        budget.settle_image(run, plan, planned)
        return state
    if now() > recipe["since"] + planned["deadline_s"]:
        raise ImageFailed(f"{image} was not baked within {planned['deadline_s']:.0f} s: {state}")
    if state == "pending" or bucket.get(board.fleet) is None:
        return "baking"
    _make_image(plan, planned, recipe, board)
    return "baking"


def discard(run: str) -> str:
    """Terminate the builders of a run; return `gone` if none remains, else `discarding`."""
    builders = instances.of_file_system(run, BUILDERS)
    instances.terminate(builders)
    return "discarding" if builders or resources.verify(run, file_system=BUILDERS) else "gone"


def note_kept(plan: PlanDocument) -> None:
    """Record the images that an ended run made: it may have been stopped before it could record them itself."""
    for planned in plan.get("images", []):
        key = Board.of_image(plan["run"], planned["id"]).recipe
        recipe = bucket.read(key, BakeRecord) if planned["bake"] else None
        baked = images.find(recipe["fingerprint"]) if recipe else None
        if baked and baked.made_by == plan["run"] and baked.state in ("available", "pending"):
            _note(plan["run"], planned["id"], baked)


def _recipe(board: Board) -> BakeRecord:
    recipe = bucket.read(board.recipe, BakeRecord)
    if recipe is None:
        raise ImageFailed(f"{board.recipe} is not in the bucket")
    return recipe


def _adopt(plan: PlanDocument, planned: PlanImage, baked: images.Baked | None, recipe: BakeRecord) -> str:
    """Record an available image for the run; return `baked`, `pending`, or `absent` if there is no usable image."""
    if baked is None or baked.state not in ("available", "pending"):
        return "absent"
    if baked.state == "pending":
        return "pending"
    bucket.put(
        booted_image_key(plan["run"], planned["id"]),
        {"image_id": baked.id, "baked": True, "baked_by": baked.made_by, "snapshots": baked.snapshots, **recipe},
    )
    if baked.made_by == plan["run"]:
        _note(plan["run"], planned["id"], baked)
    return "baked"


def _note(run: str, image: str, baked: images.Baked) -> None:
    facts = {"file_system": BUILDERS, "cell": image, "kept": True}
    for kind, name in [("image", baked.id), *(("image-snapshot", snapshot) for snapshot in baked.snapshots)]:
        table.record_resource(run, kind, name, **facts)
    # A function that crashed after CreateImage is called again, finds the image and creates none.
    table.end_creation(run, _creation_of(image))


def _creation_of(image: str) -> str:
    return f"the image {image}"


def _make_image(plan: PlanDocument, planned: PlanImage, recipe: BakeRecord, board: Board) -> None:
    """Create the image once the builder's agent is done and the builder has stopped: only then is its disk at rest."""
    try:
        watched = watching.watch(board)
    except StorageMatrixError as error:
        raise ImageFailed(f"{planned['id']}: {type(error).__name__}: {error}") from error
    if watched.progress.state != "finished":
        return
    [builder] = watched.fleet.instances
    state = instances.states([builder]).get(builder)
    if state == "terminated":
        raise ImageFailed(f"{planned['id']}: its builder {builder} was terminated before the image was made")
    if state == "stopped":
        # An image's name may have 128 characters, a stack's name too: 80 + 1 + the image's id + 1 + 12 fit.
        name = f"{environment().stack[:80]}-{planned['id']}-{recipe['fingerprint'][:12]}"
        with creations.noted(plan["run"], _creation_of(planned["id"])), denials.explained(plan):
            images.create(plan, builder, name, recipe["fingerprint"])
