"""One cloud: moto's server in this process, the corrections, Lambda, EC2, and the deployed stack."""

import json
import logging
import os
import random
import socket
import sys
import threading
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from local import quick_start, sweeping
from local.admission import Admission
from local.corrections import moto_version
from local.corrections.clients import ACCOUNT, Operator
from local.deploy import Deployment
from local.hooks import Hooks
from local.instances import metadata
from local.keeping import disk_space, runs
from local.programs import claims, leftovers, peers, processes, service_models
from local.programs.liveness import is_alive, started_ticks
from local.settings import ADDRESS, Options

if TYPE_CHECKING:
    from local.sessions import RoleSessions

# The functions below import modules of moto, which reads its settings from the environment at import.

# Below the range from which Linux takes ports for outgoing connections (32768 and up).
OWN_PORTS = (20_000, 32_768)
# Poll while another cloud of the folder starts or ends, which takes seconds.
POLL_EVERY_S = 0.05


class CloudRunningError(RuntimeError):
    """Another cloud is up in the same working directory."""


class FolderUnusableError(RuntimeError):
    """The working directory cannot be made, or not be written to."""


class PortTakenError(RuntimeError):
    """Another program listens on the requested port."""


@dataclass
class Cloud:
    """The local cloud of this process; start it only once, because the corrections change moto permanently."""

    options: Options
    starter: processes.ProcessStarter
    hooks: Hooks = field(default_factory=Hooks)
    description: dict[str, Any] = field(default_factory=dict)
    # Sentences about leftovers of an earlier, killed cloud of this folder.
    left_by_others: list[str] = field(default_factory=list)
    _closing: list[Any] = field(default_factory=list)
    # Held until the process has ended.
    _lock: IO[bytes] | None = None

    def __post_init__(self) -> None:
        self._workdir = self.options.workdir.resolve()
        self._description_file = self._workdir / sweeping.DESCRIPTION

    def prepare(self) -> None:
        """Import moto, which takes most of a start, and change nothing, because the cloud may not be needed."""
        self._closing.append(self.starter.close)
        _configure_moto()
        quick_start.skip_needless_work()
        service_models.read_quickly()
        quick_start.load_only(self.options.region)
        quick_start.load_sam_as_needed()
        quick_start.answer_quickly()
        moto_version.check()
        import local.corrections.cloudformation
        import local.functions.runtime
        import local.instances.player
        import local.step_functions.interpreter  # noqa: F401

    def claim(self, ending: threading.Event) -> bool:
        """Make the folder this cloud's own; False where `ending` comes before another one has left it.

        Another cloud that is starting or ending is waited for. Raises CloudRunningError once it is up.
        """
        while True:
            try:
                self._lock = claims.own(self._workdir)
            except OSError as err:
                raise FolderUnusableError(f"{self._workdir} cannot be used: {err.strerror}") from err
            if self._lock is not None:
                self._take_over()
                return True
            if pid := _running_in(self._description_file):
                raise CloudRunningError(
                    f"a local cloud is up already (process {pid}, {self._description_file}); use it, end it with "
                    f"`kill {pid}`, or choose another --workdir"
                )
            if ending.wait(POLL_EVERY_S):
                return False

    def start(self) -> dict[str, Any]:
        """Start everything after the folder is claimed; return the content of cloud.json."""
        _log_to(self._workdir / "logs" / "cloud.log")
        port = _usable_port(self.options.port)
        os.environ["MOTO_PORT"] = str(port)
        operator = Operator(f"http://{ADDRESS}:{port}", self.options.region)
        self._bring_up(operator, port)
        outputs: dict[str, str] = {}
        if self.options.template is not None:
            deployment = Deployment(self.options.template.resolve(), operator, self._runtime.expect)
            outputs = deployment.run(self.options.stack, dict(self.options.parameters))
        self._keeper.begin(outputs)
        pid, started = _this_process()
        self.description = {
            "endpoint": operator.endpoint,
            "access_key": operator.access_key,
            "secret_key": operator.secret_key,
            "region": self.options.region,
            "pid": pid,
            "started_ticks": started,
            "stack": self.options.stack if self.options.template is not None else None,
            "outputs": outputs,
            "left_by_others": self.left_by_others,
        }
        _write_privately(self._description_file, json.dumps(self.description, indent=2) + "\n")
        return self.description

    def stop(self) -> None:
        """End every instance, sandbox and process; remove every folder that emulated storage."""
        if self._lock is not None:
            # First, so that no command starts to use the cloud.
            self._description_file.unlink(missing_ok=True)
        for close in reversed(self._closing):
            try:
                close()
            except Exception as err:
                print(f"local cloud: while ending: {err!r}", file=sys.stderr)
        self._closing.clear()
        if self._lock is not None:
            sweeping.remove_folders(self._workdir)
            leftovers.remove_folders()

    def _take_over(self) -> None:
        """Remove leftovers of an earlier cloud, and write that this one is starting."""
        # Other users of the machine must not read the key, the logs and the results in it.
        self._workdir.chmod(0o700)
        sweeping.remove_links(self._workdir)
        self.left_by_others = sweeping.sweep(self._workdir)
        for name in ("storage/volumes", "storage/file-systems", "code", "logs", "agents"):
            (self._workdir / name).mkdir(parents=True, exist_ok=True)
        sweeping.remove_old_logs(self._workdir)
        pid, started = _this_process()
        starting = {"pid": pid, "started_ticks": started, "state": "starting"}
        _write_privately(self._description_file, json.dumps(starting) + "\n")

    def _bring_up(self, operator: Operator, port: int) -> None:
        self.starter.log_to(self._workdir / "logs" / "processes.log")
        from local.corrections import directory_buckets

        _keep_no_list_of_objects()
        sessions = self._correct_moto(operator)
        from moto import backends
        from moto.core import responses
        from moto.server import DomainDispatcherApplication, create_backend_app
        from werkzeug.serving import make_server

        from local.serving import KeepAliveHandler

        # moto lists its own folder, and the methods of a class, at each request
        modules = list(backends.list_of_moto_modules())
        backends.list_of_moto_modules = lambda: modules
        responses.method_names_from_class = cache(responses.method_names_from_class)

        def secret_of(access_key: str) -> tuple[str, str] | None:
            if access_key == operator.access_key:
                return operator.secret_key, ""
            if of_bucket := directory_buckets.session_of(access_key):
                return of_bucket.secret_key, of_bucket.token
            session = sessions.by_key(access_key)
            return session and (session.secret_access_key, session.session_token)

        application = self.hooks.application(DomainDispatcherApplication(create_backend_app))
        admission = Admission(application, self._hosts(port), secret_of)
        server = make_server(ADDRESS, port, admission, threaded=True, request_handler=KeepAliveHandler)
        # Before a thread is spent on it.
        server.verify_request = lambda _, client: peers.is_of_this_user(client, (ADDRESS, port))
        threading.Thread(target=server.serve_forever, name="aws", daemon=True).start()

    def _hosts(self, port: int) -> list[str]:
        """Return the host names by which clients reach the local cloud."""
        return [f"{name}:{port}" for name in ("localhost", "127.0.0.1", *self.hooks.hosts)]

    def _correct_moto(self, operator: Operator) -> "RoleSessions":
        from local.corrections import (
            cloudformation,
            conditional_writes,
            dynamodb,
            ec2,
            file_systems,
            iam,
            images,
            recovery_points,
            recycle_bin,
            service_quotas,
        )
        from local.functions import runtime as lambda_runtime
        from local.instances import player as instances
        from local.keeping import writes
        from local.sessions import RoleSessions
        from local.step_functions import events, interpreter

        sessions = RoleSessions(self.options.region)
        self.hooks.before(self._workdir, self.options.region, sessions)
        iam.install()
        dynamodb.install()
        conditional_writes.install()
        cloudformation.install(operator)
        file_systems.install(self._workdir / "storage" / "file-systems")
        images.install()
        recovery_points.install()
        recycle_bin.install()
        service_quotas.install()
        self._keeper = keeper = writes.Keeper(runs.KeptRuns(self._workdir / "runs"))
        keeper.install()

        self._runtime = runtime = lambda_runtime.LambdaRuntime(
            self.starter,
            operator.endpoint,
            self._workdir,
            sessions.environment,
            self.hooks,
            self.options.time_scale,
        )
        runtime.install()
        self._closing.append(runtime.close)

        bridge = events.EventBridge(
            runtime.deliver,
            partial(events.start_execution, operator.client, sessions.environment),
            ACCOUNT,
            self.options.region,
            self.options.time_scale,
        )

        space = disk_space.DiskSpace(
            [self._workdir, self._workdir / "runs", self._workdir / "code", self._workdir / "logs"],
            partial(interpreter.stop_all, ACCOUNT, self.options.region, disk_space.DISK_FULL),
        )

        def ended(execution: Any) -> None:
            shortage = space.shortage()
            if shortage and execution.status == "FAILED":
                # On a full disk any error may come first; the cause is the disk.
                execution.error, execution.cause = disk_space.DISK_FULL, shortage
            keeper.keep_execution(execution)
            bridge.execution_ended(execution)
            runtime.execution_ended(execution.name)

        interpreter.install(
            operator.client,
            sessions.environment,
            self.options.time_scale,
            begun=keeper.keep_execution,
            ended=ended,
        )
        bridge.start()
        space.start()

        service = metadata.MetadataService()
        self._closing.append(service.close)
        player = self.hooks.player(
            instances.InstancePlayer,
            workdir=self._workdir,
            endpoint=operator.endpoint,
            starter=self.starter,
            metadata=service,
            sessions=sessions,
            hooks=self.hooks,
        )
        ec2.install(player)
        self.hooks.after()
        self._closing += [player.close, bridge.close, space.close]
        return sessions


def _configure_moto() -> None:
    """Set moto's settings."""
    from moto.core.config import default_user_config

    default_user_config["stepfunctions"] = {"execute_state_machine": True}
    default_user_config["lambda"] = {"use_docker": True}  # selects the real backend; its invoke() is replaced
    default_user_config["iam"] = {"load_aws_managed_policies": True}


def _keep_no_list_of_objects() -> None:
    """Stop moto from keeping every object of its models in a list that only its reset reads, which nothing calls here.

    The list grew with each row of each response and each overwritten object: 4 MiB for each cell of a run of a hundred.
    """
    from moto.core.common_models import BaseModel

    BaseModel.__new__ = lambda cls, *_, **__: super(BaseModel, cls).__new__(cls)


def _log_to(path: Path) -> None:
    """Log warnings to a file, without moto's interpreter (whole definitions) and werkzeug (every request)."""
    logging.basicConfig(filename=path, level=logging.WARNING, format="%(asctime)s %(name)s %(levelname)s %(message)s")
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    logging.getLogger("moto.stepfunctions").setLevel(logging.CRITICAL)


def _usable_port(wanted: int) -> int:
    """Return the requested port, or one that Linux gives to no connection in the seconds until moto listens on it."""
    if wanted and not _is_free(wanted):
        raise PortTakenError(f"port {wanted} is in use by another program; choose another --port, or leave it out")
    return wanted or next(filter(_is_free, random.sample(range(*OWN_PORTS), 1_000)))


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((ADDRESS, port))
        except OSError:
            return False
        return True


def _write_privately(path: Path, text: str) -> None:
    """Atomically replace a file by one that only its owner may read."""
    partial = path.with_suffix(f".{os.getpid()}")
    partial.unlink(missing_ok=True)
    partial.touch(0o600, exist_ok=False)
    partial.write_text(text)
    partial.rename(path)


def _running_in(description: Path) -> int | None:
    """Return the pid of the running cloud in a description, or None."""
    try:
        cloud = json.loads(description.read_text())
        pid, started = int(cloud["pid"]), int(cloud["started_ticks"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return pid if "endpoint" in cloud and is_alive(pid, started) else None


def _this_process() -> tuple[int, int]:
    return os.getpid(), started_ticks(os.getpid()) or 0
