"""A real NFS server for each shared file system: NFS-Ganesha in user space, on a port of its own."""

import socket
import subprocess
import threading
import time
from pathlib import Path

START_S = 20.0

_CONFIG = """\
NFS_CORE_PARAM {{ Protocols = 4; NFS_Port = {port}; Bind_addr = 127.0.0.1; Enable_NLM = false; Enable_RQUOTA = false; }}
NFSv4 {{ Graceless = true; RecoveryBackend = fs; }}
EXPORT {{
  Export_Id = 1; Path = {path}; Pseudo = {pseudo}; Access_Type = {access}; Squash = {squash}; SecType = sys;
  Transports = TCP; FSAL {{ Name = VFS; }}
}}
"""


class NfsNotServedError(RuntimeError):
    """The server did not come up; the message has the end of its log."""


class NfsServers:
    """Starts a server when a file system is first mounted, and ends it with the file system or the cloud."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._servers: dict[Path, tuple[subprocess.Popen[bytes], int]] = {}
        self._lock = threading.Lock()

    def port(self, path: Path, pseudo: str, access: str = "RW", squash: str = "No_Root_Squash") -> int:
        """Return the port where `path` is served as `pseudo` (`/` of EFS, `/fsx` of FSx), starting its server.

        `access` and `squash` are those of its export, in the words of NFS-Ganesha.
        """
        with self._lock:
            if path not in self._servers:
                self._servers[path] = self._start(path, pseudo=pseudo, access=access, squash=squash)
            return self._servers[path][1]

    def end_removed(self) -> None:
        """End the servers of deleted file systems."""
        with self._lock:
            for path in [path for path in self._servers if not path.exists()]:
                self._end(path)

    def close(self) -> None:
        """End all servers."""
        with self._lock:
            for path in list(self._servers):
                self._end(path)

    def _end(self, path: Path) -> None:
        server, _ = self._servers.pop(path)
        server.terminate()
        try:
            server.wait(5)
        except subprocess.TimeoutExpired:
            server.kill()

    def _start(self, path: Path, **export: str) -> tuple[subprocess.Popen[bytes], int]:
        port = _free_port()
        stem = self._folder / f"nfs-{path.name}"
        config, log = stem.with_suffix(".conf"), stem.with_suffix(".log")
        config.write_text(_CONFIG.format(port=port, path=path, **export))
        server = subprocess.Popen(
            ["ganesha.nfsd", "-F", "-f", str(config), "-L", str(log), "-p", str(stem.with_suffix(".pid"))],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        give_up_at = time.monotonic() + START_S
        while not _answers(port):
            if server.poll() is not None or time.monotonic() > give_up_at:
                server.kill()
                end = log.read_text(errors="replace").strip().splitlines()[-5:] if log.exists() else []
                raise NfsNotServedError(f"ganesha.nfsd does not serve {path}: {end}")
            time.sleep(0.05)
        return server, port


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
