"""The kinds of mounts, each by the name of its module: `instance-store` is agent/mounts/instance_store.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent.mounts import (
        MountModule,
        directory,
        ebs,
        efs,
        file_server,
        instance_store,
        mountpoint,
        nfs,
        s3,
    )

    # mypy holds each module against the protocol here. At run time only the job's own is imported.
    _MODULES: tuple[MountModule, ...] = (directory, ebs, efs, file_server, instance_store, mountpoint, nfs, s3)

# `root` is no mount: the work is on the root volume.
KINDS = (
    *("root", "ebs", "instance-store", "nfs", "efs"),
    *("s3", "mountpoint", "file-server", "directory"),
)
