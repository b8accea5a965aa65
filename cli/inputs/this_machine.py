"""What a local run needs of this machine: room on its disk, and tools."""

import os
from collections.abc import Callable
from pathlib import Path

from agent.programs import containers, tools
from cli.inputs.planning import Planned
from cli.messages.errors import CommandError, ExitCode
from cli.target.workdir import workdir
from local.programs import stand_ins
from matrix.terms.documents.plan import PlanDocument

# The matrix gives the sizes of these workloads; sizes of builds and commands are guesses.
EXACT = ("dd", "fio", "read", "transfer")


def refuse_full_disk(planned: Planned) -> str:
    """Refuse a matrix that writes more than is free; return a note if the size is a guess, else None.

    Local instances write to folders of one disk, one cell after another, so the largest cell decides.
    """
    # The models need pydantic: a quarter of a second that `matrix --help` does not wait for.
    from matrix.check.read import check_matrix
    from matrix.input.workloads.contract import Clients

    needs = [
        (cell.fleet.count * footprint.stored_bytes, cell)
        for cell in check_matrix(planned.matrix).cells
        for point in cell.workload.points()
        for footprint in [cell.workload.footprint(point, cell.storage, Clients(cell.fleet.count))]
        # Objects are kept in memory.
        if not cell.storage.traits.keeps_objects
    ]
    if not needs:
        return ""
    needed, cell = max(needs, key=lambda need: need[0])
    # Volumes and file systems are below `storage`, which may be a disk of its own.
    folder = _existing(workdir() / "storage")
    free = _free_bytes(folder)
    if needed <= free:
        return ""
    words = (
        f"the disk would be full: {cell.workload.type} on {cell.fleet.count} instances at once writes "
        f"{needed / 2**20:,.0f} MiB, {free / 2**20:,.1f} MiB are free in {folder}"
    )
    advice = f"make room (`df -h {folder}`), set MATRIX_WORKDIR to another disk, or write a smaller size or fleet"
    if cell.workload.type in EXACT:
        raise CommandError(words, advice, ExitCode.BAD_INPUT)
    return f"{words} (a guess); {advice}"


def _existing(folder: Path) -> Path:
    return next(each for each in (folder.absolute(), *folder.absolute().parents) if each.exists())


def _free_bytes(folder: Path) -> int:
    disk = os.statvfs(folder)
    # ext4 keeps a twentieth for root.
    return (disk.f_bfree if os.geteuid() == 0 else disk.f_bavail) * disk.f_frsize


def needed(plan: PlanDocument) -> dict[str, list[str]]:
    """Return the tools that a plan's cells need where storages are folders, each with the ids of these cells."""
    cells: dict[str, list[str]] = {}
    for cell in plan["cells"]:
        for tool in sorted(stand_ins.needed_tools(cell)):
            cells.setdefault(tool, []).append(cell["id"])
    return cells


def missing_tools(plan: PlanDocument, has: Callable[[str], bool] | None = None) -> list[str]:
    """Return a sentence for each tool that is needed and not here, with the packages that have it."""
    look_up = has or is_here
    return [
        f"{len(cells)} of {len(plan['cells'])} cells will fail: {tools.explain_missing(tool)}"
        for tool, cells in needed(plan).items()
        if not look_up(tool)
    ]


def is_here(tool: str) -> bool:
    """Return whether an agent would find the tool on this machine."""
    return any(map(tools.is_present, containers.ENGINES if tool == "docker" else (tool,)))
