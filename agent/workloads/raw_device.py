"""Work on a raw device without a file system: finding it, and writing the data that a job will read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.errors import DeviceRefused

if TYPE_CHECKING:
    from agent.job import Job, Step
    from agent.machine.workspace import Workspace

PLAYED = "a file in a folder plays the device: this is not a raw disk"
PLACES = ("size", "filesize", "offset", "offset_increment", "kb_base", "ioengine", "iodepth")


def of_step(job: Job, step: Step, workspace: Workspace, *, writes: bool = True) -> Path | None:
    """Return the common target of all jobs of a step: the device, or a file if a folder or memory emulates the storage.

    None if the step uses files. Raises DeviceRefused if step and storage disagree about that: no file is written over a
    device, and no device is emulated beside the files of a mounted storage; or if it `writes` a device that was filled
    from a snapshot.
    """
    is_wanted = bool(step.params.get("device"))
    if is_wanted and workspace.device is None and job.mount["kind"] == "directory":
        return workspace.target.parent / "device"
    if is_wanted != (workspace.device is not None):
        wanted, there = ("a device", "files") if is_wanted else ("files", "a device")
        raise DeviceRefused(f"{step.point} is about {wanted}, but {workspace.mount} is {there}")
    if writes and job.mount.get("is_filled"):
        raise DeviceRefused(f"{step.point} writes, but {workspace.device} has the data of a snapshot, which are read")
    return workspace.device


def filling(options: dict[str, Any]) -> dict[str, Any]:
    """Return fio's options to write the data that a job will read: by one job, unless each has its own part."""
    jobs = {"numjobs": options.get("numjobs", 1)} if options.get("offset_increment") else {}
    kept = {name: options[name] for name in PLACES if name in options}
    return {"rw": "write", "bs": "1M", "direct": 1, **kept, **jobs}
