"""Whole runs: the real definition with the real functions and agents, on one local cloud for each worker."""

from collections.abc import Iterator

import pytest
from support.runs import Cloud, path_without, start_cloud

# A small vCPU quota: four m6i.large (2 vCPUs each) fit, five do not.
VCPU_QUOTA = 9


@pytest.fixture(scope="session")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    """A cloud with a small vCPU quota, on a machine without fio, GNU parallel and xfsprogs: folders are not disks.

    Its calls can be told to fail by rules.json in its folder.
    """
    folder = tmp_path_factory.mktemp("cloud")
    path = path_without(folder, "fio", "parallel", "mkfs.xfs")
    with start_cloud(
        folder, "--vcpu-quota", str(VCPU_QUOTA), "--faults", str(folder / "rules.json"), PATH=path
    ) as started:
        yield started
