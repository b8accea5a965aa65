"""What the fio of this machine says of the jobs of a matrix, before anything is rented for them."""

import subprocess
from collections.abc import Sequence

from agent.programs import tools
from agent.workloads import fio
from matrix.check.cells import Combination
from matrix.input.workloads.fio import FioWorkload
from matrix.input.workloads.fio_options import VERSION
from matrix.terms.problems import Problem, Problems

# fio takes 4,096 jobs.
AT_ONCE = 1_000
# An engine of the instances may be missing here.
ELSEWHERE = "not loadable"


def problems(cells: Sequence[Combination]) -> Problems:
    """Yield a problem for each workload of which fio refuses a job; none where no fio is, or an older one."""
    workloads = {cell.workload_path: cell.workload for cell in cells if isinstance(cell.workload, FioWorkload)}
    program = tools.find("fio")
    if not (workloads and program and _is_new_enough(program)):
        return
    for path, workload in workloads.items():
        jobs = [params["options"] for params in workload.points()[:AT_ONCE]]
        said = fio.refused(program, jobs)
        if said and ELSEWHERE not in said:
            field = "" if workload.job_file is None else ".jobFile"
            yield Problem(
                f"{path}{field}", None, f"is refused by fio: {said}", "write what fio takes", code="fio-refuses"
            )


def _is_new_enough(program: str) -> bool:
    written = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout  # noqa: S603
    return _numbers(written.strip().removeprefix("fio-")) >= _numbers(VERSION)


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split("-", maxsplit=1)[0].split(".") if part.isdecimal()]
