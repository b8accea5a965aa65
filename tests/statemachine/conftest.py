"""State machine tests run the real definition with the real functions and agents on a local cloud of their own."""

from collections.abc import Iterator

import pytest
from runs import Cloud, path_without, start_cloud

# A vCPU quota as new accounts have one: two m6i.large (2 vCPUs each) fit, three do not.
VCPU_QUOTA = 5


@pytest.fixture(scope="module")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    """A cloud with a small vCPU quota, on a machine that has everything but fio and GNU parallel."""
    folder = tmp_path_factory.mktemp("cloud")
    with start_cloud(folder, "--vcpu-quota", str(VCPU_QUOTA), PATH=path_without(folder, "fio", "parallel")) as started:
        yield started
