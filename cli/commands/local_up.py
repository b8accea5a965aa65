"""`matrix local up`: the local cloud in the foreground, for use with the aws and sam command lines too."""

import signal
import subprocess
import sys
from contextlib import nullcontext
from typing import Any

import typer

from cli.console import opening
from cli.inputs import options
from cli.messages import terminal
from cli.messages.errors import CloudDidNotStart, CommandError
from cli.target import deployment, local_cloud
from cli.target.deployment import from_cloud_document
from cli.target.service import Service
from cli.target.workdir import cloud_log

app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode=None)


@app.callback()
def local() -> None:
    """Emulate AWS on this machine.

    Its APIs, Lambda and EC2; folders of this disk are the storage. See `matrix local up --help`.
    """


@app.command()
def up(web: options.Web = False, as_json: options.AsJson = False) -> None:
    """Start the local cloud and keep it until Ctrl-C.

    The stack is deployed to it; runs then start faster. Prints the environment variables that the aws and sam
    command lines need to use it; with --json as one document, as soon as the cloud is up.

    Example: matrix local up
    """
    if deployment.is_local_cloud_running():
        cloud = deployment.running_local_cloud()
        raise CommandError(f"a local cloud is running already: {cloud.endpoint}", "use it with --local")
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    child = local_cloud.start()
    try:
        local_cloud.begin(child)
        described = local_cloud.wait_until_ready(child)
        _show(described, as_json=as_json)
        with opening.opened(Service(from_cloud_document(described)), "") if web else nullcontext():
            _wait(child)
    except KeyboardInterrupt:
        terminal.stderr().print("Ending the local cloud …")
    finally:
        local_cloud.stop(child, at_once=True)


def _show(cloud: dict[str, Any], *, as_json: bool) -> None:
    local_cloud.say_what_was_left(cloud)
    if as_json:
        terminal.print_json(
            {"endpoint": cloud["endpoint"], "stack": cloud.get("stack"), "environment": environment(cloud)}
        )
        sys.stdout.flush()
        return
    console = terminal.stdout()
    console.print(f"The local cloud is up at {cloud['endpoint']}, stack {cloud.get('stack')}. Ctrl-C ends it.")
    console.print("In another terminal: matrix run FILE --local")
    console.print("For the aws and sam command lines:")
    for name, value in environment(cloud).items():
        console.print(f"  export {name}={value}", soft_wrap=True)
    console.file.flush()


def environment(cloud: dict[str, Any]) -> dict[str, str]:
    """Return the variables with which AWS's own command lines use the local cloud."""
    return {
        "AWS_ENDPOINT_URL": cloud["endpoint"],
        "AWS_REGION": cloud["region"],
        "AWS_DEFAULT_REGION": cloud["region"],
        "AWS_ACCESS_KEY_ID": cloud["access_key"],
        "AWS_SECRET_ACCESS_KEY": cloud["secret_key"],
        "SAM_CLI_TELEMETRY": "0",
    }


def _wait(child: subprocess.Popen[bytes]) -> None:
    code = child.wait()
    raise CloudDidNotStart(f"the local cloud ended by itself with exit code {code}", f"see {cloud_log()}")
