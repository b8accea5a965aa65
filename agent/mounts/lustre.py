"""FSx for Lustre: the kernel's Lustre client, with stripes as asked and without locks of an earlier step."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent import mounts
from agent.mounts import nfs

if TYPE_CHECKING:
    import logging

# The client caches data for as long as it holds a lock on them (Lustre manual, lock tuning).
CLEAR_LOCKS = ["lctl", "set_param", "-n", "ldlm.namespaces.*.lru_size=clear"]
# FSx guide, Lustre file system and client kernel compatibility (Amazon Linux 2023).
KERNELS = "6.1.79-99.167 or later of 6.1, or 6.12 or later"


def tools(mount: dict[str, Any]) -> set[str]:
    del mount
    return {"lctl", "lfs"}


def attach(mount: dict[str, Any], log: logging.Logger) -> Path:
    """Load the kernel's client and mount, trying again until the timeout; MountFailed where the kernel has none."""
    advice = f"; Amazon Linux 2023 has one for kernel {KERNELS}: boot a newer image"
    mounts.run(["modprobe", "lustre"], f"the kernel {os.uname().release} has no Lustre client", advice)
    return nfs.attach(mount, log, fstype="lustre", advice="look at ports 988 and 1018 to 1023 in the security groups")


def arrange(mount: dict[str, Any], path: Path) -> None:
    """Set how files that are made below a folder are spread over the targets. Raises MountFailed."""
    if mount.get("stripes"):
        mounts.run(["lfs", "setstripe", *mount["stripes"], str(path)], advice="; write other stripes")


def drop_caches(mount: dict[str, Any], log: logging.Logger) -> list[str]:
    """Release all locks, and with them the client's cached data of other steps; return warnings."""
    del mount
    return mounts.attempt(CLEAR_LOCKS, log, "the Lustre client may have kept data of the step before")


def describe(mount: dict[str, Any], path: Path) -> mounts.Mounted:
    """Return the mount's entry; its options include the stripe settings of new files, as the client reports them."""
    entry = mounts.describe(mount["kind"], path)
    known = []
    for name, option in (("stripe_count", "-c"), ("stripe_size", "-S")):
        answer = mounts.command_result(["lfs", "getstripe", "-d", option, str(path)])
        if answer.returncode == 0 and answer.stdout.strip():
            known.append(f"{name}={answer.stdout.split()[0]}")
    return replace(entry, options=",".join([entry.options, *known]))
