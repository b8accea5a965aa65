"""`matrix stop`: stop a run from any machine, and delete its resources."""

from cli.follow import running
from cli.inputs import options
from cli.messages.errors import CommandError
from cli.target import run_folders
from cli.target.documents import readable
from cli.target.place import Place
from cli.target.run_documents import RunDocuments


def stop(
    run: options.RunName,
    local: options.Local = False,
    stack: options.Stack = None,
    region: options.Region = None,
    as_json: options.AsJson = False,
) -> None:
    """Stop a run, and delete what it created.

    What was measured is kept. It does what Ctrl-C does in the command that started the run, for runs that were detached
    or started elsewhere: the state machine stops, and Reap deletes until nothing remains. `matrix run --resume`
    measures the rest later. The exit code is 1 if something remains.

    Example: matrix stop builds-20261120-101500-4f
    """
    place = Place(local, stack, region)
    if place == Place():
        run_folders.refuse_loaded(run)
    place = place.of_run(run)
    with place.naming_kept_runs(run):
        service = place.service()
        execution = service.execution(run)
    if not execution.is_running:
        flag = service.deployment.flag
        advice = f"its results: `matrix results {run} {flag}`; what it may have left: `matrix reap --run {run} {flag}`"
        raise CommandError(f"{run} has already ended: {execution.status}", advice)
    running.stop_on_request(service, run, readable(RunDocuments(service, run).plan), as_json=as_json)
