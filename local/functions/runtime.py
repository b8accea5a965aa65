"""Lambda: moto's functions are executed in sandboxes, by AWS's own Python runtime client.

Differences from AWS: Memory is not limited. Packages of the virtual environment are importable, because an embedded
deploy installs none, and are imported before the fork. Functions with packages in their bundle or in a layer, as after
`sam build`, get a separate interpreter, which proves that the build works. Mounting /opt needs root, so environment
values that begin with /opt point at the unpacked layers instead.
"""

import base64
import hashlib
import io
import json
import os
import sys
import sysconfig
import threading
import time
import uuid
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from moto.awslambda import models
from moto.core.exceptions import JsonRESTError

from local.functions.sandboxes import FunctionSpec, Result, Sandbox, SandboxPool, TooManyRequestsError
from local.hooks import Hooks
from local.programs import lambda_client, stand_ins
from local.programs.fork_server import PRELOADED
from local.programs.processes import Process, ProcessNotStartedError, ProcessStarter
from local.settings import LAMBDA_UNZIPPED_BYTES

SITE_PACKAGES = sysconfig.get_path("purelib")
# Concurrent invocations; further ones wait here, before their timeout begins. Without a cap, a Map of 20 on two cores
# made functions of 50 ms time out.
MAX_RUNNING = max(4, 2 * (os.cpu_count() or 2))
# Agents start at a common instant, at least this long after the start barrier opens. Each polls every 0.05 s and a poll
# takes 0.01 s, so all have seen it by then. A busy machine needs longer (agent/board/barrier.py).
GATE_MARGIN_S = 0.1
# Calls whose logs a group keeps; the log file of each function has all of them.
MAX_STREAMS = 5_000
# Lambda keeps an asynchronous event that it throttled, or failed itself with, for six hours, and tries it again after
# 1 s up to 5 minutes.
# https://docs.aws.amazon.com/lambda/latest/dg/invocation-async-error-handling.html
FIRST_PAUSE_S, MAX_PAUSE_S, EVENT_AGE_S = 1.0, 300.0, 21_600.0


class ThrottledError(JsonRESTError):
    """Lambda's 429."""

    code = 429

    def __init__(self) -> None:
        super().__init__("TooManyRequestsException", "Rate Exceeded.")


class ServiceError(JsonRESTError):
    """Lambda's 500: the fault is none of the function's, and callers try again."""

    code = 500

    def __init__(self, why: str) -> None:
        super().__init__("ServiceException", why)


class CodeTooLargeError(JsonRESTError):
    """Lambda's refusal of code or layers that are too large."""

    def __init__(self) -> None:
        message = f"Unzipped size must be smaller than {LAMBDA_UNZIPPED_BYTES} bytes"
        super().__init__("InvalidParameterValueException", message)


class LambdaRuntime:
    """Executes functions; keeps one pool of sandboxes for each function."""

    def __init__(
        self,
        starter: ProcessStarter,
        endpoint: str,
        workdir: Path,
        credentials_for: Callable[[str, str, str], dict[str, str]],
        hooks: Hooks,
        time_scale: float = 1.0,
    ) -> None:
        self._local = {
            "ENVIRONMENT": "local",
            "GATE_MARGIN_SECONDS": str(GATE_MARGIN_S),
            stand_ins.ROOT: str((workdir / "storage").resolve()),
            **hooks.of_functions,
        }
        self._time_scale = time_scale
        self._is_closed = threading.Event()
        self._starter = starter
        self._endpoint = endpoint
        self._code = workdir / "code"
        self._logs = workdir / "logs"
        self._credentials_for = credentials_for
        self._hooks = hooks
        self._pools: dict[tuple[str, str], SandboxPool] = {}
        self._ended: set[str] = set()
        self._lock = threading.Lock()
        self._running = threading.BoundedSemaphore(MAX_RUNNING)

    def install(self) -> None:
        runtime = self

        def invoke(self: Any, body: Any, request_headers: Any, response_headers: Any) -> bytes:
            return runtime.answer(self, body, request_headers, response_headers)

        models.LambdaFunction.invoke = invoke

    def expect(self, folder: Path, archive: bytes) -> None:
        """Import the packages of a folder in advance, of which this is the archive.

        They are linked: beside them is the bytecode that Python has made of them, which takes 0.9 s.
        """
        self._once([archive], partial(_link, [folder]))
        path = _path(self._unpack([archive]), None)
        if not _bundles_preloaded(path):
            self._starter.preload(path)

    def answer(self, function: Any, body: Any, request_headers: Any, response_headers: Any) -> bytes:
        """Return the response of the Invoke API, and set its headers."""
        payload = body if isinstance(body, bytes) else (body or "{}").encode()
        kind = request_headers.get("x-amz-invocation-type", "RequestResponse")
        if kind == "Event":
            threading.Thread(target=self.deliver, args=(function, payload), daemon=True).start()
        if kind in ("DryRun", "Event"):
            return b""
        try:
            result = self.invoke(function, payload)
        except TooManyRequestsError as err:
            raise ThrottledError from err
        except (ProcessNotStartedError, OSError) as err:
            raise ServiceError(f"no process for {function.function_name}: {err}") from err
        if result.failed:
            response_headers["x-amz-function-error"] = "Unhandled"
        if request_headers.get("x-amz-log-type", "").lower() == "tail":
            response_headers["x-amz-log-result"] = base64.b64encode(result.log.encode()[-4096:]).decode()
        response_headers["x-amz-executed-version"] = "$LATEST"
        return result.payload

    def invoke(self, function: Any, payload: bytes) -> Result:
        """Execute a function once, write its log to CloudWatch Logs, and return its result."""
        reserved = function.reserved_concurrency
        with self._running:
            result = self._pool(function, self._scope(payload)).invoke(
                payload, None if reserved is None else int(reserved)
            )
        function.logs_backend.ensure_log_group(function.logs_group_name)
        _save_log(function, result.log)
        return result

    def deliver(self, function: Any, payload: bytes) -> None:
        """Execute a function for an asynchronous event, as soon as its reserved concurrency allows it."""
        pause_s, age_s = FIRST_PAUSE_S, 0.0
        while age_s < EVENT_AGE_S and not self._is_closed.is_set():
            try:
                self.invoke(function, payload)
            except (TooManyRequestsError, ProcessNotStartedError):
                self._is_closed.wait(pause_s / self._time_scale)
                age_s, pause_s = age_s + pause_s, min(2 * pause_s, MAX_PAUSE_S)
            else:
                return

    def execution_ended(self, run: str) -> None:
        """End the sandboxes that were kept for one run."""
        with self._lock:
            self._ended.add(run)
            pools = [self._pools.pop(key) for key in list(self._pools) if key[1] == run]
        for pool in pools:
            pool.close()

    def close(self) -> None:
        """End all idle sandboxes; the process starter ends the others."""
        self._is_closed.set()
        for pool in self._pools.values():
            pool.close()

    def _scope(self, payload: bytes) -> str:
        run = self._hooks.scope(payload)
        return "" if run in self._ended else run

    def _pool(self, function: Any, scope: str) -> SandboxPool:
        spec = _spec(function)
        with self._lock:
            pool = self._pools.get((spec.arn, scope))
            if pool is None or pool.spec != spec:
                if pool is not None:
                    pool.close()
                log = self._logs / f"{spec.name}.log"
                pool = self._pools[spec.arn, scope] = SandboxPool(spec, self._creator(function), log)
        return pool

    def _creator(self, function: Any) -> Callable[[], Sandbox]:
        root, opt = self._unpack([function.code_bytes]), self._layers(function)
        env = self._environment(function, root, opt)

        def create() -> Sandbox:
            name = f"{function.function_name}-{uuid.uuid4().hex[:8]}"
            # as on AWS, each has its own keys, which identify the calling sandbox
            keys = self._credentials_for(function.role, function.function_name, name)

            def start(address: str, log: Path) -> Process:
                own = {**env, **keys, "AWS_LAMBDA_RUNTIME_API": address}
                return self._start(function.handler, root, opt, own, log)

            sandbox = Sandbox(start, self._code / f"{name}.log")
            self._hooks.key_given(keys["AWS_ACCESS_KEY_ID"], lambda: run_of_payload(sandbox.payload), sandbox.kill)
            return sandbox

        return create

    def _start(self, handler: str, root: Path, opt: Path | None, env: dict[str, str], log: Path) -> Process:
        path = _path(root, opt)
        if _bundles_preloaded(path):
            env = {**env, "PYTHONPATH": os.pathsep.join([*path, SITE_PACKAGES])}
            argv = [sys.executable, "-P", lambda_client.__file__, handler]
            return self._starter.start_program(argv, cwd=root, env=env, log=log)
        return self._starter.start_sandbox(handler, path=path, cwd=root, env=env, log=log)

    def _layers(self, function: Any) -> Path | None:
        """Return the folder with the content of a function's /opt."""
        backend = models.lambda_backends[function.account_id][function.region]
        versions: list[Any] = [backend.layers_versions_by_arn(layer["Arn"]) for layer in function.layers]
        return self._unpack([version.code_bytes for version in versions]) if versions else None

    def _environment(self, function: Any, root: Path, opt: Path | None) -> dict[str, str]:
        configured = {key: str(value) for key, value in (function.environment_vars or {}).items()}
        if opt:
            configured = {
                key: str(opt) + value[len("/opt") :] if value == "/opt" or value.startswith("/opt/") else value
                for key, value in configured.items()
            }
        return {
            **configured,
            **self._local,
            "PATH": f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin",
            "LANG": "en_US.UTF-8",
            "TZ": ":UTC",
            "HOME": "/tmp",  # noqa: S108 - as in Lambda
            # Else each sandbox with packages of its own would compile all of them anew.
            "PYTHONDONTWRITEBYTECODE": "",
            "_HANDLER": function.handler,
            "LAMBDA_TASK_ROOT": str(root),
            "LAMBDA_RUNTIME_DIR": SITE_PACKAGES,
            "AWS_EXECUTION_ENV": f"AWS_Lambda_{function.run_time}",
            "AWS_LAMBDA_FUNCTION_NAME": function.function_name,
            "AWS_LAMBDA_FUNCTION_VERSION": "$LATEST",
            "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": str(function.memory_size),
            "AWS_LAMBDA_INITIALIZATION_TYPE": "on-demand",
            "AWS_LAMBDA_LOG_GROUP_NAME": function.logs_group_name,
            "AWS_LAMBDA_LOG_STREAM_NAME": "local",
            "AWS_LAMBDA_LOG_FORMAT": getattr(function, "local_log_format", "Text"),
            "AWS_REGION": function.region,
            "AWS_DEFAULT_REGION": function.region,
            "AWS_ENDPOINT_URL": self._endpoint,
            # Do not use HOME's files: every user of the machine may write to that folder.
            "AWS_CONFIG_FILE": os.devnull,
            "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        }

    def _unpack(self, archives: list[bytes]) -> Path:
        """Unpack each archive once, into a folder named by its content; several become a folder of links to theirs.

        Freeing the 5,000 files of the functions' packages takes a slow disk 10 s.
        """
        unzipped_bytes = sum(
            # The declared sizes are safe to use, because zipfile stops at them.
            member.file_size
            for archive in archives
            for member in zipfile.ZipFile(io.BytesIO(archive)).infolist()
        )
        if unzipped_bytes > LAMBDA_UNZIPPED_BYTES:
            raise CodeTooLargeError
        folders = [self._once([archive], partial(_extract, archive)) for archive in archives]
        return folders[0] if len(folders) == 1 else self._once(archives, partial(_link, folders))

    def _once(self, archives: list[bytes], fill: Callable[[Path], None]) -> Path:
        """Return the folder named by the content of the archives, filled before it gets that name."""
        digest = hashlib.sha256(b"".join(hashlib.sha256(archive).digest() for archive in archives)).hexdigest()
        folder = self._code / digest[:24]
        if not folder.exists():
            unfinished = folder.with_suffix(f".{uuid.uuid4().hex[:8]}")
            unfinished.mkdir(parents=True)
            fill(unfinished)
            unfinished.rename(folder)
        return folder


def run_of_payload(payload: bytes | str) -> str | None:
    """Return the run that a function is invoked for: `run` of its payload, or the execution of an event."""
    try:
        event = json.loads(payload)
        return event.get("run") or event.get("detail", {}).get("name")
    except (ValueError, AttributeError):
        return None


def _extract(archive: bytes, folder: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(archive)) as content:
        content.extractall(folder)


def _link(folders: list[Path], into: Path) -> None:
    """Link what is in the folders; a later folder's file takes the place of an earlier one's."""
    for name in {path.name for folder in folders for path in folder.iterdir()}:
        found = [folder / name for folder in folders if (folder / name).exists()]
        if len(found) > 1 and all(path.is_dir() for path in found):
            (into / name).mkdir()
            _link(found, into / name)
        else:
            (into / name).symlink_to(found[-1])


def _save_log(function: Any, log: str) -> None:
    """Write a call's log into a stream that is named as Lambda names those of a group that functions share.

    The logs of calls long ago are forgotten, as by a group's retention.
    """
    logs, group = function.logs_backend, function.logs_group_name
    stream = f"{datetime.now(UTC):%Y/%m/%d}/{function.function_name}[$LATEST]{uuid.uuid4().hex}"
    logs.create_log_stream(group, stream)
    at = int(time.time() * 1000)
    logs.put_log_events(group, stream, [{"timestamp": at, "message": line} for line in log.splitlines()])
    streams = logs.groups[group].streams
    for name in list(streams)[:-MAX_STREAMS]:
        streams.pop(name, None)


def _path(root: Path, opt: Path | None) -> list[str]:
    """Return the import path of a function, without layers that have no modules, so that functions share imports."""
    return [str(root), *([str(opt / "python")] if opt and (opt / "python").is_dir() else [])]


def _bundles_preloaded(path: list[str]) -> bool:
    return any((Path(folder) / name).exists() for folder in path for name in PRELOADED)


def _spec(function: Any) -> FunctionSpec:
    configuration = [function.code_sha_256, function.handler, function.role, function.environment_vars, function.layers]
    return FunctionSpec(
        name=function.function_name,
        arn=function.function_arn,
        timeout_s=float(function.timeout or 3),
        memory_mib=int(function.memory_size),
        configuration=json.dumps(configuration, sort_keys=True, default=str),
    )
