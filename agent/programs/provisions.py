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
from agent.programs import containers, tools

if TYPE_CHECKING:
    import logging

# A container image of some GiB, on an instance whose network may be slow.
TIMEOUT_S = 1_800
# The name by which matrices refer to the image that is built of their Dockerfile.
BUILT_IMAGE = "storage-matrix/build"
END_OF_OUTPUT = 2_000


def provide(needed: dict[str, Any], may_install: bool, log: logging.Logger) -> dict[str, Any]:
    """Install missing parts; return their names and how many seconds that took.

    `needed` has, all optional: `tools` (names of programs), `packages`, `containers` (images to pull), `dockerfile` (of
    an image to build), `run` (images that the steps use). Raises ToolMissing or ProvisionFailed. If the agent may not
    change the machine (the local cloud's instances are processes on a user's own) programs must be installed already,
    and packages and containers are not checked.
    """
    began, before = time.monotonic(), set(filter(tools.is_present, needed.get("tools", [])))
    tools.require(needed.get("tools", []), may_install, log)
    installed = [name for name in needed.get("tools", []) if name not in before]
    if may_install:
        installed += _install_packages(needed.get("packages", []), log)
        installed += _provide_images(needed.get("containers", []), needed.get("dockerfile"), log)
        _read_images(set(needed.get("run", [])) - set(installed), log)
    return {"installed": installed, "seconds": time.monotonic() - began}


def seal(log: logging.Logger) -> None:
    """Make the machine fit to be copied: remove package caches and its identity; each copy fetches the agent anew."""
    for command in (["dnf", "clean", "all"], ["apt-get", "clean"]):
        if tools.find(command[0]):
            _run(command, log)
    # Empty, not removed: systemd then gives each copy an id of its own at its first boot.
    Path("/etc/machine-id").write_text("")
    os.sync()


def _install_packages(names: list[str], log: logging.Logger) -> list[str]:
    absent = [name for name in names if not _is_installed(name)]
    if absent:
        for command in tools.package_commands(absent):
            _run(command, log)
    return absent


def _is_installed(name: str) -> bool:
    command = ["rpm", "-q", name] if tools.find("rpm") else ["dpkg", "-s", name]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0  # noqa: S603


def _provide_images(names: list[str], dockerfile: str | None, log: logging.Logger) -> list[str]:
    """Pull and build the container images that are missing; return their names."""
    if not names and not dockerfile:
        return []
    engine = containers.engine()
    tools.require([engine], True, log)
    _start(engine, log)
    absent = [name for name in names if not _has_image(engine, name)]
    for name in absent:
        _run([engine, "pull", "--quiet", name], log)
    return absent + (_build_image(engine, dockerfile, log) if dockerfile else [])


def _start(engine: str, log: logging.Logger) -> None:
    # podman has no daemon.
    if engine == "docker":
        _run(["systemctl", "start", "docker"], log)


def _has_image(engine: str, name: str) -> bool:
    return subprocess.run([engine, "image", "inspect", name], capture_output=True, check=False).returncode == 0  # noqa: S603


def _build_image(engine: str, dockerfile: str, log: logging.Logger) -> list[str]:
    """Let BUILT_IMAGE name the image of a Dockerfile; return the name of one that had to be built."""
    name = f"{BUILT_IMAGE}:{hashlib.sha256(dockerfile.encode()).hexdigest()[:12]}"
    if _has_image(engine, name):
        # Another Dockerfile may have been built since.
        _run([engine, "tag", name, BUILT_IMAGE], log)
        return []
    _run([engine, "build", "--quiet", "--tag", name, "--tag", BUILT_IMAGE, "-"], log, stdin=dockerfile)
    return [name]


def _read_images(names: set[str], log: logging.Logger) -> None:
    """Read every file of the container images that the machine had from the start, which only a baked image has.

    EBS fetches a block of the root volume from S3 at its first read, which would otherwise happen in the first sample.
    `export` reads them with any storage driver, and keeps no copy (`save` may write one to the volume).
    """
    engine = containers.engine()
    if not names or not tools.find(engine):
        return
    _start(engine, log)
    # A restarted agent has another pid, so it does not find a container of the one before.
    reader = f"storage-matrix-reader-{os.getpid()}"
    for name in sorted(name for name in names if _has_image(engine, name)):
        # It is never started; an image without a command of its own needs one to be named.
        _run([engine, "create", "--network", "none", "--name", reader, name, "true"], log)
        _run([engine, "export", reader], log)
        _run([engine, "rm", reader], log)


def _run(command: list[str], log: logging.Logger, stdin: str | None = None) -> None:
    log.info("providing: %s", " ".join(command))
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C"}
    try:
        ended = subprocess.run(  # noqa: S603
            command, input=stdin, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace",
            timeout=TIMEOUT_S, env=env, check=False,
        )  # fmt: skip
    except FileNotFoundError as err:
        raise ProvisionFailed(f"{command[0]} is not installed") from err
    except subprocess.TimeoutExpired as err:
        raise ProvisionFailed(f"'{' '.join(command)}' did not end within {TIMEOUT_S} s") from err
    if ended.returncode != 0:
        end = ended.stderr[-END_OF_OUTPUT:].strip()
        raise ProvisionFailed(f"'{' '.join(command)}' ended with {ended.returncode}: {end}")
