"""`python -m local up`: start the local cloud, print its address, and remove all of it at the end."""

import argparse
import gc
import json
import os
import signal
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NoReturn

from local.hooks import Hooks
from local.programs import claims
from local.programs.processes import ProcessStarter
from local.settings import ALREADY_RUNNING, Options, set_environment

if TYPE_CHECKING:
    from local.server import Cloud

SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
# Locks held until this process ends.
_kept: list[IO[bytes]] = []


@dataclass(frozen=True)
class Moments:
    """When the cloud may start, has claimed its folder, and must end."""

    begun: threading.Event
    claimed: threading.Event
    ending: threading.Event


def main(arguments: list[str] | None = None, hooks: Hooks | None = None) -> int:
    """Serve until a signal, or the end of standard input with --with-parent; the arguments are the process's own."""
    given = _parser().parse_args(arguments)
    if sys.platform != "linux":
        print(
            f"local cloud: {sys.platform} is not supported: Lambda's runtime client (awslambdaric) has wheels for "
            "Linux only, and ending all processes with the cloud relies on Linux. Use a Linux machine or VM; "
            "`matrix plan` and everything against AWS work here.",
            file=sys.stderr,
        )
        return 2
    begun, claimed, ending = threading.Event(), threading.Event(), threading.Event()

    def parent_ended() -> None:
        if claimed.is_set():
            # Other commands may be using this cloud, and would lose their runs.
            _kept.append(claims.wait_until_unused(given.workdir))
        end()

    def end(*_: Any) -> None:
        ending.set()
        begun.set()

    for number in SIGNALS:
        signal.signal(number, end)
    if given.await_word:
        threading.Thread(target=_await_word, args=(begun, parent_ended), daemon=True).start()
    else:
        begun.set()
        if given.with_parent:
            threading.Thread(target=_wait_for_parent, args=(parent_ended,), daemon=True).start()
    log = given.workdir / "logs" / "cloud.log" if given.await_word else None
    # The objects imported and created until now stay. Collecting garbage among them repeatedly takes a quarter of the
    # start's processor time.
    gc.disable()
    set_environment(given.region)
    # Packages of the test tools, which botocore imports if they exist, for 0.15 s.
    sys.modules["awscrt"] = sys.modules["OpenSSL"] = None
    # Start the fork server first, because it imports its packages meanwhile.
    starter = ProcessStarter()
    from local.server import Cloud

    return _serve(Cloud(_options(given), starter, hooks or Hooks()), Moments(begun, claimed, ending), log)


def _serve(cloud: "Cloud", moments: Moments, log: Path | None) -> int:
    """Serve from the start signal until the end signal; errors in between are written to `log`, if there is one."""
    from local.corrections.moto_version import MotoChangedError
    from local.deploy import DeployError
    from local.server import CloudRunningError, FolderUnusableError, PortTakenError

    try:
        cloud.prepare()
        moments.begun.wait()
        if (log and moments.ending.is_set()) or not cloud.claim(moments.ending):
            return 0
        moments.claimed.set()
        if log:
            log.write_bytes(b"")
            with log.open("ab") as file:
                os.dup2(file.fileno(), sys.stderr.fileno())
        description = cloud.start()
        gc.freeze()
        gc.enable()
        _announce(description, is_awaited=log is not None)
        moments.ending.wait()
    except (CloudRunningError, FolderUnusableError, DeployError, MotoChangedError, PortTakenError) as err:
        print(f"local cloud: {err}", file=sys.stderr)
        return ALREADY_RUNNING if isinstance(err, CloudRunningError) else 1
    finally:
        cloud.stop()
    return 0


def _announce(description: dict[str, Any], *, is_awaited: bool) -> None:
    """Print where the cloud is. If the command that awaits it was killed, other commands may still use this cloud."""
    try:
        print(json.dumps(description), flush=True)
    except BrokenPipeError:
        # The text stays in the buffer, and would fail again at the process's end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not is_awaited:
            raise


def _await_word(begun: threading.Event, parent_ended: Callable[[], None]) -> None:
    if not os.read(sys.stdin.fileno(), 4096):
        os._exit(0)  # perhaps while moto is imported: nothing has started, so nothing remains
    begun.set()
    _wait_for_parent(parent_ended)


def _wait_for_parent(parent_ended: Callable[[], None]) -> None:
    while os.read(sys.stdin.fileno(), 4096):
        continue
    parent_ended()


def _options(arguments: argparse.Namespace) -> Options:
    return Options(
        workdir=arguments.workdir,
        port=arguments.port,
        template=None if arguments.no_deploy else arguments.template,
        stack=arguments.stack,
        region=arguments.region,
        time_scale=arguments.time_scale,
        parameters=tuple(arguments.parameter),
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m local", description="The local cloud of Storage Matrix")
    up = parser.add_subparsers(required=True).add_parser("up", help="start it and deploy the stack")
    up.add_argument("--workdir", type=Path, default=Path(".local"), help="where it keeps everything (default: .local)")
    up.add_argument("--port", type=int, default=0, help="port of the AWS endpoint (default: a free one)")
    up.add_argument("--template", type=Path, default=Path("template.yaml"), help="what is deployed")
    up.add_argument("--stack", default="storage-matrix", help="name of the stack")
    up.add_argument("--region", default="us-east-1", help="the only region that is served fully")
    up.add_argument("--no-deploy", action="store_true", help="start without a stack")
    up.add_argument("--with-parent", action="store_true", help="end when standard input ends")
    up.add_argument(
        "--await-word",
        action="store_true",
        help="touch nothing before a line comes on standard input, and end when that ends",
    )
    up.add_argument("--time-scale", type=float, default=40.0, help="how much faster waits of executions pass")
    up.add_argument(
        "--parameter",
        type=_pair,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a parameter of the stack, such as NotifyEmail=me@example.org; may be given several times",
    )
    return parser


def _pair(text: str) -> tuple[str, str]:
    name, is_pair, value = text.partition("=")
    if not is_pair:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    return name, value


def end_with(code: int) -> NoReturn:
    """End the process; a normal exit would wait for each of moto's daemon threads."""
    sys.stdout.flush()
    os._exit(code)


if __name__ == "__main__":
    end_with(main())
