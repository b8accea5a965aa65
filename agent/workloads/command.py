"""Any shell command, on the instance or in a container: timed, and judged by its time or by a number that it prints."""

from __future__ import annotations

from agent.workloads.shell import ShellWorkload

_COMMAND = ShellWorkload(
    timed="command", folder="WORK_DIR", folder_field="workDirectory", work="runs", cpu_metric="command_cpu_s"
)
tools, prepare = _COMMAND.tools, _COMMAND.prepare
