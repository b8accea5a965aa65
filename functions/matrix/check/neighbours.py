"""Reading a neighbour's data takes a file system that instances share, and a neighbour."""

from matrix.check.cells import Combination, path_of_workload
from matrix.input.matrix import Matrix
from matrix.input.workloads.read import ReadWorkload
from matrix.terms.problems import Problem, Problems

# What instances mount and share. S3 and the file server keep nothing on an instance, so there is nothing to go round.
MOUNTED_BY_ALL = ("efs", "fsx-openzfs")


def neighbour_problems(matrix: Matrix, cells: list[Combination]) -> Problems:
    """Yield one problem for each workload that shifts reads where nobody else's data can be read."""
    refused: set[str] = set()
    for cell in cells:
        if not isinstance(cell.workload, ReadWorkload) or not any(cell.workload.shift):
            continue
        path = f"{path_of_workload(matrix, cell)}.shift"
        shift, count = max(cell.workload.shift), cell.fleet.count
        rule, fix = "", ""
        if cell.storage.type not in MOUNTED_BY_ALL:
            rule = f"{cell.storage.slug} is no file system that instances share and cache"
            fix = f"exclude it for storage type {cell.storage.type}"
        elif shift >= count:
            rule = f"{count} instances have no neighbour {shift} places further"
            fix = f"write shift {count - 1}" if count > 1 else "write a fleet of 2 or more instances"
        elif cell.fleet.quorum:
            rule = "a fleet that may be smaller than its count does not know its neighbours"
            fix = "leave fleet.quorum out"
        if rule and path not in refused:
            refused.add(path)
            yield Problem(path, shift, rule, fix)
