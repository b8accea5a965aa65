"""The process of a local cloud that this command starts; for `matrix run --local` before other modules are imported.

The rest of the command line takes a fifth of a second to import, the local cloud a second: they are imported in
parallel.
"""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

from cli.target import deployment
from cli.target.workdir import workdir

# -P keeps Python from importing a folder `local` or `matrix` of the user's working directory.
COMMAND = (sys.executable, "-P", "-m", "local", "up", "--await-word")
# Options with which the command may need another cloud than the one started early, or none.
OTHERS = ("--resume", "--detach", "--help", "-h")
_started_early: list[subprocess.Popen[bytes]] = []


def start_early(arguments: list[str]) -> None:
    """Start a local cloud if these arguments of `matrix` will most likely need it; until `begin` it changes nothing.

    It ends with this process, or earlier by the code that uses it.
    """
    is_wanted = arguments[:1] == ["run"] and "--local" in arguments
    if not is_wanted or not is_installed():
        return
    if not any(word.startswith(OTHERS) for word in arguments) and not deployment.is_local_cloud_running():
        _started_early.append(start())


def is_installed() -> bool:
    """Return whether the packages of the local cloud are installed, without importing any."""
    return importlib.util.find_spec("moto") is not None


def started_early() -> subprocess.Popen[bytes] | None:
    """Return the cloud that was started early, if there is one, to the first caller."""
    return _started_early.pop() if _started_early else None


def start() -> subprocess.Popen[bytes]:
    """Start a local cloud, which changes nothing until `begin`.

    If this process dies, its standard input ends and so does the local cloud.
    """
    root = Path(__file__).resolve().parents[2]
    paths = [str(root), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in paths if path)}
    # Its own session keeps Ctrl-C from the local cloud, which this process still needs to clean up.
    return subprocess.Popen(  # noqa: S603 - our own interpreter and module
        # The installed template, because the working directory may be any folder.
        [*COMMAND, "--workdir", str(workdir()), "--template", str(root / "template.yaml")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,  # its log does not exist before it begins
        env=environment,
        start_new_session=True,
    )
