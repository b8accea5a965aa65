"""A small single-threaded process that starts every other process of the local cloud: Lambda sandboxes and agents.

Why not subprocess in the cloud itself: (1) a fork of this process has its packages imported already (a sandbox boto3,
pydantic and numpy, an agent boto3 and its own modules), so that a cold start costs milliseconds instead of half a
second of CPU; (2) the cloud has many threads, and forking with code in between (process group, parent-death signal) is
only safe from a single-threaded process; (3) when the cloud dies, even by SIGKILL, the channel reaches its end and
everything started here is killed, process group by process group.

It runs as a script (its folder is not a package for it) and exchanges lines of JSON over the socket whose descriptor is
its only argument: {"id", "argv" | "handler" | "archive", "cwd", "env", "log", "path"}, {"preload"} and {"own_log"} in;
{"id", "pid"} and {"id", "status"} out.
"""

import ctypes
import gc
import json
import os
import pkgutil
import runpy
import select
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, NoReturn

# Imported once, shared by all sandboxes. A function that bundles one of them gets an interpreter of its own instead.
# Not scipy: it takes as long as all of these, and only the analysis of large fleets needs it.
# Not awslambdaric: its native part connects to the address that is in the environment when it is imported.
PRELOADED = ("boto3", "pydantic", "numpy", "aws_lambda_powertools")
# Services that each run uses.
SERVICES = (
    "ec2", "s3", "sts", "dynamodb", "ssm", "efs", "fsx", "s3files", "s3control", "stepfunctions", "pricing",
    "service-quotas", "cloudwatch", "rbin",
)  # fmt: skip
# Packages of the test tools, which botocore imports if they exist, for 0.15 s.
OF_TEST_TOOLS = ("awscrt", "OpenSSL")
PR_SET_PDEATHSIG, PR_SET_NAME = 1, 15
_prepared: list[Any] = []


@contextmanager
def _kept() -> Iterator[None]:
    """Collect no garbage during imports, which would take a sixth of their time, nor later among their objects."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


@_kept()
def preload() -> None:
    """Import the functions' packages; a missing one becomes an import error of the function that needs it."""
    for name in OF_TEST_TOOLS:
        sys.modules[name] = None
    for name in PRELOADED:
        try:
            __import__(name)
        except ImportError:
            continue
    try:
        import aws_lambda_powertools.metrics
        import aws_lambda_powertools.utilities.typing  # noqa: F401
        import boto3
        import botocore.session
        from pydantic import BaseModel  # noqa: F401 - pydantic imports its machinery when this is asked for

        sys.modules["service_models"].read_quickly()
        # An agent makes its own session, which would parse the models anew.
        botocore.session.create_loader = cache(botocore.session.create_loader)
        # The default session keeps the models of services, and sandboxes inherit it: EC2's alone takes 120 ms to load.
        boto3.setup_default_session()
        keys = {"region_name": "us-east-1", "aws_access_key_id": "none", "aws_secret_access_key": "none"}
        for service in SERVICES:
            boto3.client(service, **keys)
        boto3.resource("dynamodb", **keys)
        _prepare_session()
    except ImportError:
        pass
    for name in OF_TEST_TOOLS:
        del sys.modules[name]  # an agent may read objects by the Common Runtime


def _prepare_session() -> None:
    """Prepare a botocore session for the first caller in each sandbox, because making one takes 25 ms."""
    import botocore.session

    make = botocore.session.get_session
    # It is written into the session when that is made; all else is read when a client is.
    os.environ["AWS_EXECUTION_ENV"] = f"AWS_Lambda_python{sys.version_info.major}.{sys.version_info.minor}"
    _prepared.append(make())
    del os.environ["AWS_EXECUTION_ENV"]
    botocore.session.get_session = lambda *settings: _prepared.pop() if _prepared and not settings else make(*settings)


def _what(request: dict) -> str:
    return str(request.get("argv") or request.get("archive") or request["handler"])


class DeployedCode:
    """The packages of the functions, or of the agent, imported once for all forks, which halves a cold start.

    Like pydantic and numpy, they must not read the environment at import. Modules of functions do (they create
    loggers), so each sandbox imports those itself.
    """

    def __init__(self) -> None:
        self._path: list[str] = []
        self._names: set[str] = set()

    @_kept()
    def load(self, path: list[str], prefix: str = "") -> None:
        """Import the packages in `path` in place of those loaded before; an import error is left to the function.

        With a prefix, import only packages whose names begin with it.
        """
        if path == self._path:
            return
        self.forget()
        self._path, known = path, set(sys.modules)
        sys.path[:0] = path
        try:
            for module in pkgutil.walk_packages(path, onerror=lambda _: None):
                if "." in module.name and module.name.startswith(prefix):
                    _import(module.name)
        finally:
            del sys.path[: len(path)]
        ours = tuple(path)
        self._names = {
            name
            for name in set(sys.modules) - known
            if str(getattr(sys.modules[name], "__file__", None) or "").startswith(ours)
        }

    def forget(self) -> None:
        for name in self._names:
            sys.modules.pop(name, None)


def _import(name: str) -> None:
    try:
        __import__(name)
    except Exception as err:
        print(f"{name} is not imported beforehand: {err!r}", file=sys.stderr, flush=True)


class ForkServer:
    """Starts processes on request, reports ended ones, and ends all of them when the channel closes."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self._children: dict[int, int] = {}
        self._libc = ctypes.CDLL(None)
        self._functions, self._agent = DeployedCode(), DeployedCode()
        self._wake_in, wake_out = os.pipe()
        for descriptor in (self._wake_in, wake_out):
            os.set_blocking(descriptor, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake_out, warn_on_full_buffer=False)

    def run(self) -> None:
        """Serve until the cloud closes its end, then end every process."""
        received = b""
        sources: list[Any] = [self._channel, self._wake_in]
        while True:
            readable, _, _ = select.select(sources, [], [])
            if self._wake_in in readable:
                os.read(self._wake_in, 4096)
                self._report_ended()
            if self._channel in readable:
                chunk = self._channel.recv(1 << 20)
                if not chunk:
                    break
                *lines, received = (received + chunk).split(b"\n")
                for line in lines:
                    self._start(json.loads(line))
        self._end_all()

    def _start(self, request: dict) -> None:
        if "own_log" in request:
            _write_to(request["own_log"])
            return
        if "preload" in request:
            self._functions.load(request["preload"])
            return
        if "handler" in request:
            self._functions.load(request["path"])
        elif "archive" in request:
            self._agent.load(request["path"], prefix="agent.")
        pid = os.fork()
        if pid == 0:
            try:
                self._become(request)
            except BaseException as err:
                os.write(2, f"could not start {_what(request)}: {err!r}\n".encode())
            os._exit(127)
        self._children[pid] = request["id"]
        self._tell({"id": request["id"], "pid": pid})

    def _become(self, request: dict) -> None:
        """Become the program, in the child: in a session of its own, which one killpg ends, with its own output."""
        parent = os.getppid()
        os.setsid()
        self._libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(127)
        self._channel.close()
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGCHLD, signal.SIGINT, signal.SIGTERM, signal.SIGPIPE):
            signal.signal(number, signal.SIG_DFL)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        _write_to(request["log"])
        os.closerange(3, 64)
        os.chdir(request["cwd"])
        if "argv" in request:
            os.execve(request["argv"][0], request["argv"], request["env"])  # noqa: S606
        os.environ.clear()
        os.environ.update(request["env"])
        sys.path[:0] = request["path"]
        if "LOCAL_BACKOFF_SCALE" in os.environ:
            sys.modules["retry_waits"].hurry(float(os.environ.pop("LOCAL_BACKOFF_SCALE")))
        if "handler" in request:
            self._agent.forget()
            _end_with(lambda: sys.modules["lambda_client"].main(request["handler"]))
        self._functions.forget()
        _prepared.clear()
        self._libc.prctl(PR_SET_NAME, b"agent")  # for ps, which shows the command of this server
        sys.argv = request["archive"]
        _end_with(lambda: runpy.run_path(sys.argv[0], run_name="__main__"))

    def _report_ended(self) -> None:
        while self._children:
            try:
                ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT | os.WNOHANG)
            except ChildProcessError:
                return
            if ended is None:
                return
            # The process is still a zombie, so its pid cannot belong to another process yet: kill the rest of its
            # group.
            _kill_group(ended.si_pid)
            _, status = os.waitpid(ended.si_pid, 0)
            identity = self._children.pop(ended.si_pid, None)
            if identity is not None:
                self._tell({"id": identity, "status": os.waitstatus_to_exitcode(status)})

    def _tell(self, message: dict) -> None:
        try:
            self._channel.sendall(json.dumps(message).encode() + b"\n")
        except OSError:
            self._end_all()

    def _end_all(self) -> None:
        for pid in self._children:
            _kill_group(pid)
        os._exit(0)


def _write_to(path: str) -> None:
    """Write output and errors to the end of a file from now on."""
    log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    for descriptor in (1, 2):
        os.dup2(log, descriptor)
    os.close(log)


def _end_with(program: Callable[[], object]) -> NoReturn:
    """Run the program, and end as it ends."""
    code = 1
    try:
        program()
        code = 0
    except SystemExit as ending:
        code = ending.code if isinstance(ending.code, int) else int(ending.code is not None)
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _kill_group(pid: int) -> None:
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return


if __name__ == "__main__":
    for name in ("retry_waits", "lambda_client", "service_models"):
        __import__(name)  # before their folder leaves the path
    sys.path.pop(0)  # this folder: a sandbox must not be able to import the cloud's modules
    preload()
    ForkServer(socket.socket(fileno=int(sys.argv[1]))).run()
