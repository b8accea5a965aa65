"""One local cloud with enforced roles for all tests of this folder."""

import json
from collections.abc import Iterator

import pytest
from support.running_cloud import RunningCloud, start_cloud


@pytest.fixture(scope="session")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningCloud]:
    """A cloud without a stack that judges roles, whose waits pass 40 times faster."""
    workdir = tmp_path_factory.mktemp("cloud")
    process = start_cloud(workdir, "--no-deploy", module="cloud")
    line = process.stdout.readline()
    assert line, process.stderr.read()
    yield RunningCloud(process, workdir, json.loads(line))
    process.communicate(timeout=30)
