"""Plays the machines of EC2 as emulated machines, which run their real user data."""

import os
from pathlib import Path
from typing import Any

from cloud.vm.machines import Machines
from cloud.vm.pipe import SECRET_VARIABLE
from local.corrections import ec2
from local.instances.player import InstancePlayer, wait_for_first


class MachinePlayer(InstancePlayer):
    """Plays all instances; each is an emulated machine."""

    def __init__(self, *, workdir: Path, endpoint: str, **parts: Any) -> None:
        super().__init__(workdir=workdir, endpoint=endpoint, **parts)
        aws_port = int(endpoint.rpartition(":")[2])
        self._machines = Machines(aws_port, workdir / "storage" / "file-systems", workdir / "logs")

    def close(self) -> None:
        """End all instances, then the servers of file systems."""
        super().close()
        self._machines.close()

    def _run(self, instance: Any) -> bool:
        folder = self._volumes / instance.id
        folder.mkdir(parents=True, exist_ok=True)
        identity = self._identify(instance)
        argv = self._machines.command(instance, self._metadata.own_port(instance.id), folder)
        with self._lock:
            if self._running[instance.id].is_ending:
                return True
            env = {**os.environ, SECRET_VARIABLE: identity.secret}
            process = self._starter.start_program(argv, cwd=folder, env=env, log=self._log(instance))
            self._running[instance.id].process = process
        ec2.set_state(instance, "running", ec2.RUNNING)
        wait_for_first(identity.has_asked, process)
        self._say(instance, f"machine ended with status {process.wait()}")
        return True
