"""Fixtures of the agent's tests: the cloud, the storage, the fleet, a job."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.agent_cloud import BUCKET, CELL, PREFIX, PYTHON, RUN, Cloud, Instance, touch_params
from support.matrices import EFS, FLEET, matrix

from matrix.answer.results import cell_result, missing_samples
from matrix.plan.planning import plan
from matrix.run.job import measuring_job
from matrix.samples.file import read_samples
from matrix.terms.metrics import own_metrics


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Where agents have a Python of their own, leave out the tests that start none: they ran without."""
    if sys.executable != PYTHON:
        apart = [item for item in items if "fleet" not in getattr(item, "fixturenames", ())]
        config.hook.pytest_deselected(items=apart)
        items[:] = [item for item in items if item not in apart]


@pytest.fixture(scope="session")
def endpoint() -> Iterator[str]:
    from moto.server import ThreadedMotoServer

    from local.corrections import conditional_writes, directory_buckets
    from local.programs import leftovers

    conditional_writes.install()
    directory_buckets.install()
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()
    leftovers.remove_folders()  # of agents that tests have killed


@pytest.fixture
def cloud(endpoint: str) -> Cloud:
    cloud = Cloud(endpoint)
    cloud.empty()
    return cloud


@pytest.fixture
def storage(tmp_path: Path) -> Path:
    """The folder that plays the storage; its name needs quoting, as a user's own folders do."""
    folder = tmp_path / "a user's storage"
    folder.mkdir()
    return folder


@pytest.fixture
def fleet(cloud: Cloud, tmp_path: Path) -> Iterator[Callable[[int], list[Instance]]]:
    started: list[Instance] = []

    def launch(count: int) -> list[Instance]:
        started.extend(Instance(cloud, f"i-{n:017x}", tmp_path) for n in range(count))
        return started

    yield launch
    for instance in started:
        instance.close()


@pytest.fixture
def instance(fleet: Callable[[int], list[Instance]]) -> Instance:
    return fleet(1)[0]


@pytest.fixture
def make_job(storage: Path) -> Callable[..., dict[str, Any]]:
    """A job that one instance does alone, with what a test changes."""

    def make(workload: str = "touch", params: list[dict[str, Any]] | None = None, /, **changes: Any) -> dict[str, Any]:
        points = [{"id": f"p{n + 1:02d}", "params": given} for n, given in enumerate(params or [touch_params()])]
        job = {
            "schema": 1,
            "kind": "measure",
            "run": RUN,
            "cell": CELL,
            "environment": "local",
            "bucket": BUCKET,
            "prefix": f"{PREFIX}/",
            "instances": 1,
            "deadline_at": time.time() + 300,
            "heartbeat_s": 30,
            "barrier": None,
            "storage": {"type": "efs"},
            "mount": {"kind": "directory", "path": str(storage)},
            "workload": {"type": workload},
            "points": points,
            "steps": [{"point": point["id"], "repetition": 1} for point in points],
        }
        return {**job, **changes}

    return make


@pytest.fixture
def measured(cloud: Cloud, instance: Instance, storage: Path) -> Callable[..., tuple[list[dict[str, Any]], Any]]:
    """Plan a workload, let an agent measure it, and read what it uploaded as a result: its samples, and the result."""

    def run(workload: dict[str, Any], of: dict[str, Any] = EFS, mount: Any = None, **env: str) -> Any:
        document = plan(matrix(storage=[of], workload=[workload], fleet=[FLEET], repetitions=1, seed=1)).to_document()
        [planned] = document["cells"]
        cell = {**planned, "id": CELL}
        where = mount or {"kind": "directory", "path": str(storage)}
        job = measuring_job(
            cell=cell, gate_margin_s=1, run=RUN, mount=where, bucket=BUCKET, environment="local", now=time.time()
        )
        cloud.put("job.json", job)
        assert instance.run(**env) == 0
        body = cloud.read(f"instances/{instance.userid}/samples.json")
        file = read_samples(body, instance=instance.id, cell=CELL, own=own_metrics(cell["workload"]))
        result = cell_result(cell, [file], error=None, actual_s=1.0)
        assert missing_samples(cell, [file]) == []
        assert all(point["metrics"] for point in result["points"])
        return instance.samples(), result

    return run


@pytest.fixture
def bin_folder(tmp_path: Path) -> Path:
    """A PATH of its own: what a test does not put there does not exist."""
    folder = tmp_path / "bin"
    folder.mkdir()
    return folder


@pytest.fixture
def fake_tool(bin_folder: Path) -> Callable[[str, str], Path]:
    """Put a shell script of that name on the PATH of `bin_folder`."""

    def make(name: str, script: str) -> Path:
        path = bin_folder / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        return path

    return make


@pytest.fixture
def ended(cloud: Cloud, instance: Instance, make_job: Callable[..., dict[str, Any]]) -> Callable[..., int]:
    """Let an agent do a job that is made as by `make_job`; return its exit status."""

    def run(*of_job: Any, python: str = PYTHON, env: dict[str, str] | None = None, **changes: Any) -> int:
        cloud.put("job.json", make_job(*of_job, **changes))
        return instance.run(python, **(env or {}))

    return run


@pytest.fixture
def sampled(ended: Callable[..., int], instance: Instance) -> Callable[..., list[dict[str, Any]]]:
    """Let an agent do a job as `ended` does; return its samples."""

    def run(*of_job: Any, **changes: Any) -> list[dict[str, Any]]:
        assert ended(*of_job, **changes) == 0
        return instance.samples()

    return run


@pytest.fixture
def failure(ended: Callable[..., int], instance: Instance) -> Callable[..., dict[str, Any]]:
    """Let an agent fail at a job as `ended` does; return the content of failed.json."""

    def run(*of_job: Any, **changes: Any) -> dict[str, Any]:
        assert ended(*of_job, **changes) == 1
        return instance.document("failed.json")

    return run
