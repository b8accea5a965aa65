"""Yocto builds: sources fetched to the storage beforehand, then bitbake timed in a container without a network.

As the published builds, with two differences: the sources of poky itself are stored on the storage too, so all
instances build the same commit, and the container really has no network instead of only an option not to use it.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable

from agent.errors import WorkIncomplete
from agent.machine.workspace import Workspace, remove
from agent.programs import containers
from agent.programs.containers import Container
from agent.programs.processes import Armed, Command, Ended, run
from agent.workloads.trial import Outcome, Trial

if TYPE_CHECKING:
    from agent.job import Job, Step

POKY = "https://git.yoctoproject.org/poky"
# DL_DIR: the folder of bitbake's downloads. The mirror is the same folder, as published.
_CONFIGURE = """
cd /workspace/poky
source oe-init-build-env build > /dev/null
cat >> conf/local.conf <<'END'
DL_DIR = "/cache/downloads"
INHERIT += "own-mirrors"
SOURCE_MIRROR_URL = "file:///cache/downloads"
END
"""
FETCH = (
    """
cd /workspace
git clone --quiet --depth 1 --branch "$2" "$3" poky
tar -cf /cache/poky.tar poky
mkdir -p /cache/downloads
"""
    + _CONFIGURE
    + """
echo 'BB_GENERATE_MIRROR_TARBALLS = "1"' >> conf/local.conf
bitbake "$1" --runall=fetch
git rev-parse HEAD > "/cache/$4"
"""
)
UNPACK = (
    """
tar -xf /cache/poky.tar -C /workspace
"""
    + _CONFIGURE
    + """
echo 'BB_NO_NETWORK = "1"' >> conf/local.conf
"""
)
BUILD = """
cd /workspace/poky
source oe-init-build-env build > /dev/null
bitbake "$1"
"""


def tools(params: dict[str, Any]) -> set[str]:
    """The container engine; all else is in the container."""
    del params
    return {containers.engine()}


def prepare(job: Job, step: Step, workspace: Workspace) -> Trial:
    """Fetch the sources if no instance has, unpack poky, arm bitbake."""
    params = step.params
    cache = containers.make_writable(workspace.cache(params.get("cache_path")))
    # OpenEmbedded refuses to build on NFS, so a build is only on the storage if each instance has its own.
    build = containers.make_writable((workspace.target if job.is_own_storage else workspace.scratch) / "build")
    container = _container(params, cache, build)
    image_id = container.make_ready(workspace.scratch / "engine")
    marker = cache / f"{params['image']}-{params['release'].replace('/', '-')}.fetched"
    fetching = [params["image"], params["release"], POKY, marker.name]
    tool = {"name": "bitbake", "container": params["container"], "container_id": image_id}
    if job.kind == "populate":
        fetch = container.command(workspace.scratch, FETCH, fetching, network="bridge")
        return _arm(fetch, workspace.scratch, lambda: Outcome({}, {"populations": 1}, _at(marker, params, tool)))
    fetched: dict[str, float] = {}
    # A volume from a snapshot may have been filled long ago.
    if job.is_own_storage and not marker.exists():
        folder = containers.make_writable(workspace.target / "fetch")
        fetch = _container(params, cache, folder).command(workspace.scratch, FETCH, fetching, network="bridge")
        began = time.monotonic()
        run(fetch, workspace.scratch / "fetch")
        fetched["fetch_s"] = time.monotonic() - began
        remove(folder)
    if not marker.exists():
        raise WorkIncomplete(f"{marker} is missing: nothing has filled the cache of this storage with {fetching[0]}")
    run(container.command(workspace.scratch, UNPACK, [], network="none"), workspace.scratch / "unpack")
    bitbake = container.command(workspace.scratch, BUILD, [params["image"]], network="none")
    return _arm(bitbake, workspace.scratch, lambda: _built(build, params, _at(marker, params, tool), fetched))


def _container(params: dict[str, Any], cache: Path, folder: Path) -> Container:
    return Container(
        params["container"],
        {folder: "/workspace", cache: "/cache", containers.make_writable(folder / "tmp"): "/tmp"},  # noqa: S108
        {"LC_ALL": "en_US.UTF-8"},
    )


def _arm(command: Command, scratch: Path, outcome: Callable[[], Outcome]) -> Trial:
    armed = Armed([command], scratch)

    def read(ended: list[Ended]) -> Outcome:
        built = outcome()
        built.metrics["duration_s"] = armed.duration_s()
        built.raw["bitbake.log"] = ended[0].stdout.read_bytes()
        return built

    return Trial(armed, os.cpu_count() or 1, read)


def _at(marker: Path, params: dict[str, Any], tool: dict[str, Any]) -> dict[str, Any]:
    return {**tool, "version": f"{params['release']} {marker.read_text().strip()}"}


def _built(build: Path, params: dict[str, Any], tool: dict[str, Any], fetched: dict[str, float]) -> Outcome:
    """Return the outcome of a build. Raises WorkIncomplete if bitbake reports success without an image."""
    deployed = (build / "poky/build/tmp/deploy/images").glob(f"*/{params['image']}*")
    sizes = [path.stat().st_size for path in deployed if path.is_file()]
    if not sum(sizes):
        raise WorkIncomplete(f"bitbake ended well, but has deployed no image {params['image']}")
    return Outcome(fetched, {"builds": 1}, tool)
