"""`matrix watch`: the live view of a run that already goes on."""

from cli.follow import following, progress, running
from cli.follow.interruption import ClosingDown, Interrupted
from cli.inputs import options
from cli.messages import terminal
from cli.messages.errors import CommandError, ExitCode
from cli.target import deployment, mirror
from cli.target.documents import readable
from cli.target.service import Execution, Service


def watch(
    run: options.RunName,
    local: options.Local = False,
    stack: options.Stack = None,
    region: options.Region = None,
    as_json: options.AsJson = False,
) -> None:
    """Follow a run that already goes on.

    Live until it ends; the final state at once when it has ended. Without --local or --stack it is looked for in the
    local cloud if one is running, else on AWS. Ctrl-C only stops looking; the run goes on.

    Example: matrix watch builds-20261120-101500-4f
    """
    deployment.refuse_two_places(local=local, stack=stack)
    kept = readable(mirror.execution, run) if stack is None and region is None else None
    if kept is not None and not kept.is_running:
        _show_end(kept, as_json)
        return
    service = Service(deployment.find_any(local=local, stack=stack, region=region))
    plan = readable(service.plan, service.execution(run).run)
    console = terminal.stderr() if as_json else terminal.stdout()
    environment = service.deployment.environment
    with ClosingDown() as closing, following.view(console, environment, plain=as_json) as shown:
        try:
            ended = following.follow(service, run, plan, shown, closing)
        except Interrupted:
            again = f"matrix watch {run} {service.deployment.flag}"
            raise CommandError("stopped looking; the run goes on", f"again: `{again}`", ExitCode.INTERRUPTED) from None
    running.finish(service, ended, as_json=as_json)


def _show_end(execution: Execution, as_json: bool) -> None:
    """Show how a local run ended, by its folder: its cloud may have ended too."""
    ended = progress.read(mirror.progress_rows(execution.run), readable(mirror.plan, execution.run), execution)
    with following.view(terminal.stderr() if as_json else terminal.stdout(), "local", plain=as_json) as shown:
        shown.show(ended)
    running.finish_kept(ended, as_json=as_json)
