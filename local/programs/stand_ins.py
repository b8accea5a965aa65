"""Folders in place of storages: what the local cloud replaces in its Lambda processes before a handler is loaded.

The functions know nothing of it. Emulated machines mount for themselves, so there no folder replaces a storage.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from matrix.terms.documents.job import JobDocument, Mount
    from matrix.terms.documents.parts import Part
    from matrix.terms.documents.plan import PlanCell

# Folder that holds the storages' folders. Empty: there are none, as each machine mounts for itself.
ROOT = "LOCAL_STORAGE"
# A folder per instance: the agent replaces {instance_id} by its own.
OWN_FOLDER = "volumes/{instance_id}"
# Storages that the local cloud has itself.
OWN = frozenset({"file-server", "s3", "s3-express"})
# So that a test sees the end of an instance soon.
HEARTBEAT_S = 5  # PUTs cost nothing here, and users watch local runs


def install() -> None:
    """Replace what `replacements` names, if the function is of this project."""
    if ROOT in os.environ and Path(os.environ["LAMBDA_TASK_ROOT"], "aws", "storages", "clouds.py").is_file():
        for module, name, replacement in replacements(os.environ[ROOT]):
            setattr(module, name, replacement)


def replacements(root: str) -> Iterator[tuple[Any, str, Any]]:
    """Yield (module, name of its attribute, replacement); `root` holds the folders, empty among emulated machines."""
    from aws.account import standing
    from aws.storages import file_server

    # The local account is on no plan, and no VPC blocks public access.
    yield standing, "check", lambda _types: (None, [])
    if root:
        yield from _folders(root)
    else:
        yield file_server.cloud, "create", _refuse_server


def _folders(root: str) -> Iterator[tuple[Any, str, Any]]:
    from aws.fleet import baking, launching
    from aws.storages import clouds
    from matrix.run import job

    def of_instance(_name: str, storage: "Part") -> "Mount":
        # An existing volume is not created, so the first instance that mounts it creates the folder.
        volume = storage.get("volumeId")
        return _folder(f"{root}/file-systems/{volume}", is_made=True) if volume else _folder(f"{root}/{OWN_FOLDER}")

    for kind, storage in clouds.STORAGES.items():
        if kind not in clouds.FILE_SYSTEMS:
            yield storage, "mount", of_instance
            yield storage, "device", lambda document: of_instance("", document)
        elif kind not in OWN:
            # AWS creates nothing where creation takes no time, so the local cloud creates no folder either.
            is_made = not clouds.FILE_SYSTEMS[kind].CREATION_LIMIT_S
            yield storage, "mount", lambda name, _, made=is_made: _folder(f"{root}/file-systems/{name}", is_made=made)
    yield launching, "root_mount", lambda: _folder(f"{root}/{OWN_FOLDER}")
    yield launching, "add_work_mount", lambda _document, _cell: None
    yield job, "HEARTBEAT_S", HEARTBEAT_S
    make = baking.baking_job

    def baking_job(*, recipe: Any, run: str, **others: Any) -> "JobDocument":
        from aws.records.plans import plan_of

        needed = set().union(*map(needed_tools, plan_of(run)["cells"]))
        recipe = {**recipe, "tools": sorted(needed & set(recipe["tools"]))}
        return make(recipe=recipe, run=run, **others)

    yield baking, "baking_job", baking_job


def _folder(path: str, *, is_made: bool = False) -> "Mount":
    mount: Mount = {"kind": "directory", "path": path}
    if is_made:
        mount["is_made_by_agent"] = True
    return mount


def _refuse_server(*_: object) -> NoReturn:
    from matrix.terms.errors import FileSystemFailed

    raise FileSystemFailed(
        "emulated machines cannot reach each other; measure file-server on instances that are processes"
    )


def needed_tools(cell: "PlanCell") -> set[str]:
    """Return the programs that a planned cell needs where folders replace storages, which nobody mounts."""
    from matrix.plan.images import tools_of_storage, tools_of_work

    storage = tools_of_storage(cell["storage"]) if cell["storage"]["type"] in OWN else frozenset()
    return {*storage, *tools_of_work(cell["workload"], [point["params"] for point in cell["points"]])}
