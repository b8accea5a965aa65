"""Any shell build command with a cache on the storage."""

from __future__ import annotations

from agent.workloads.shell import ShellWorkload

_BUILD = ShellWorkload(
    timed="build", folder="BUILD_DIR", folder_field="buildDirectory", work="builds", cpu_metric="build_cpu_s"
)
tools, prepare = _BUILD.tools, _BUILD.prepare
