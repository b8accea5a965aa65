"""Requirements of a workload on the machine: programs, packages, container images.

A baked image has them; otherwise they are installed at boot, long before the first sample.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.errors import ProvisionFailed
from agent.programs import tools

if TYPE_CHECKING:
    import logging

# A container image of some GiB, on an instance whose network may be slow.
TIMEOUT_S = 1_800
BUILT = "storage-matrix/build"
END_OF_OUTPUT = 2_000


def provide(wanted: dict[str, Any], may_install: bool, log: logging.Logger) -> dict[str, Any]:
    """Install missing parts; return their names and how many seconds that took.

    Raises ToolMissing or ProvisionFailed. If the agent may not change the machine (the local cloud's instances are
    processes on a user's own) programs must be installed already, and packages and containers are not checked.
    """
    began, before = time.monotonic(), set(filter(tools.is_present, wanted.get("tools", [])))
    tools.require(wanted.get("tools", []), may_install, log)
    installed = [name for name in wanted.get("tools", []) if name not in before]
    if may_install:
        installed += _packages(list(wanted.get("packages", [])), log)
        installed += _containers(list(wanted.get("containers", [])), wanted.get("dockerfile"), log)
        _read_containers(set(wanted.get("run", [])) - set(installed), log)
    return {"installed": installed, "seconds": time.monotonic() - began}


def seal(log: logging.Logger) -> None:
    """Make the machine fit to be copied: remove package caches and its identity; each copy fetches the agent anew."""
    for command in (["dnf", "clean", "all"], ["apt-get", "clean"]):
        if tools.find(command[0]):
            _run(command, log)
    # Empty, not removed: systemd then gives each copy an id of its own at its first boot.
    Path("/etc/machine-id").write_text("")
    os.sync()


def _packages(names: list[str], log: logging.Logger) -> list[str]:
    absent = [name for name in names if not _is_installed(name)]
    if absent:
        for command in tools.package_commands(absent):
            _run(command, log)
    return absent


def _is_installed(name: str) -> bool:
    command = ["rpm", "-q", name] if tools.find("rpm") else ["dpkg", "-s", name]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0  # noqa: S603


def _containers(names: list[str], dockerfile: str | None, log: logging.Logger) -> list[str]:
    if not names and not dockerfile:
        return []
    tools.require(["docker"], True, log)
    _run(["systemctl", "start", "docker"], log)
    absent = [name for name in names if not _has_image(name)]
    for name in absent:
        _run(["docker", "pull", "--quiet", name], log)
    return absent + (_built(dockerfile, log) if dockerfile else [])


def _has_image(name: str) -> bool:
    return subprocess.run(["docker", "image", "inspect", name], capture_output=True, check=False).returncode == 0  # noqa: S603, S607


def _built(dockerfile: str, log: logging.Logger) -> list[str]:
    """Build the image, unless one of the same Dockerfile exists."""
    name = f"{BUILT}:{hashlib.sha256(dockerfile.encode()).hexdigest()[:12]}"
    if _has_image(name):
        return []
    _run(["docker", "build", "--quiet", "--tag", name, "--tag", BUILT, "-"], log, text=dockerfile)
    return [name]


def _read_containers(names: set[str], log: logging.Logger) -> None:
    """Read every file of the container images that the machine had from the start, which only a baked image has.

    EBS fetches a block of the root volume from S3 at its first read, which would otherwise happen in the first sample.
    `export` reads them with any storage driver, and keeps no copy (`save` may write one to the volume).
    """
    if not names or not tools.find("docker"):
        return
    _run(["systemctl", "start", "docker"], log)
    # A restarted agent has another pid, so it does not find a container of the one before.
    reader = f"storage-matrix-reader-{os.getpid()}"
    for name in sorted(filter(_has_image, names)):
        # It is never started; an image without a command of its own needs one to be named.
        _run(["docker", "create", "--network", "none", "--name", reader, name, "true"], log)
        _run(["docker", "export", reader], log)
        _run(["docker", "rm", reader], log)


def _run(command: list[str], log: logging.Logger, text: str | None = None) -> None:
    log.info("providing: %s", " ".join(command))
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C"}
    try:
        ended = subprocess.run(  # noqa: S603
            command, input=text, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace",
            timeout=TIMEOUT_S, env=env, check=False,
        )  # fmt: skip
    except FileNotFoundError as err:
        raise ProvisionFailed(f"{command[0]} is not installed") from err
    except subprocess.TimeoutExpired as err:
        raise ProvisionFailed(f"'{' '.join(command)}' did not end within {TIMEOUT_S} s") from err
    if ended.returncode != 0:
        end = ended.stderr[-END_OF_OUTPUT:].strip()
        raise ProvisionFailed(f"'{' '.join(command)}' ended with {ended.returncode}: {end}")
