"""State machine tests run the real definition with the real functions and agents on a local cloud of their own."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from runs import Cloud, start_cloud

# A vCPU quota as new accounts have one: two m6i.large (2 vCPUs each) fit, three do not.
VCPU_QUOTA = 5


@pytest.fixture(scope="module")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    """A cloud with a small vCPU quota, on a machine that has everything but fio and GNU parallel."""
    folder = tmp_path_factory.mktemp("cloud")
    with start_cloud(folder, "--vcpu-quota", str(VCPU_QUOTA), PATH=_path_without(folder, "fio", "parallel")) as started:
        yield started


def _path_without(folder: Path, *missing: str) -> str:
    """A PATH on which all programs of this one are found but some."""
    programs = folder / "programs"
    programs.mkdir()
    for directory in os.environ["PATH"].split(os.pathsep):
        for program in Path(directory).glob("*"):
            link = programs / program.name
            if program.name not in missing and not link.is_symlink():
                link.symlink_to(program)
    return str(programs)
