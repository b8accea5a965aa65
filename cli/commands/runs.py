"""`matrix runs`: the list of runs."""

from dataclasses import asdict, dataclass

from cli.inputs import options
from cli.messages import terminal
from cli.messages.errors import UnreadableRun
from cli.tables import rich_tables
from cli.target import deployment
from cli.target.documents import note, readable
from cli.target.place import Place
from cli.target.run_documents import RunDocuments
from cli.target.run_folders import RunFolders
from cli.target.service import Service
from cli.target.workdir import run_folder
from matrix.tables.table import Table, TableCell, TableColumn, Tone
from matrix.terms.quantities import instant, rough_duration

LIMIT = 50
STATES = {
    "RUNNING": "running",
    "PENDING_REDRIVE": "running",
    "SUCCEEDED": "measured",
    "FAILED": "failed",
    "ABORTED": "stopped",
    "TIMED_OUT": "timed out",
    "interrupted": "stopped",
}
TONES: dict[str, Tone] = {"measured": "good", **dict.fromkeys(("failed", "stopped", "timed out", "unreadable"), "bad")}


@dataclass(frozen=True)
class Listed:
    run: str
    status: str
    started_at: float | None
    duration_s: float | None
    results: str


def runs(
    local: options.Local = False,
    stack: options.Stack = None,
    region: options.Region = None,
    as_json: options.AsJson = False,
) -> None:
    """List the runs, newest first.

    Those in .local/runs/, or with --stack those on AWS.

    Example: matrix runs --stack storage-matrix
    """
    place = Place(local, stack, region)
    listed = _of_service(place.service()) if place.is_on_aws else _local()
    if as_json:
        terminal.print_json([asdict(run) for run in listed])
    elif listed:
        rich_tables.show(terminal.stdout(), _table(listed))
    else:
        where = "on this stack" if place.is_on_aws else "here (runs on AWS: add --stack NAME)"
        terminal.stderr().print(f"no run yet {where}; start one: matrix run FILE --local")


def _local() -> list[Listed]:
    """Return the runs of the running local cloud and the kept ones, each once."""
    kept = {name: _of_folder(name) for name in RunFolders().runs()}
    going = _of_service(Service(deployment.running_local_cloud())) if deployment.is_local_cloud_running() else []
    by_name = {**{run.run: run for run in going}, **kept}
    return sorted(by_name.values(), key=lambda run: run.started_at or 0.0, reverse=True)


def _of_folder(run: str) -> Listed:
    try:
        summary = RunDocuments(RunFolders(), run).written_summary()
    except UnreadableRun as error:
        # A damaged file must not hide all other runs.
        note(error)
        return Listed(run, "unreadable", None, None, f"{run_folder(run)}/")
    execution = readable(RunFolders().execution, run)
    started = execution.started_at if execution else summary and summary.get("started_at")
    ended = execution.ended_at if execution else summary and summary.get("finished_at")
    status = execution.status if execution else "unknown"
    if summary:
        # The status of published figures is a sentence with the number of cells that have figures.
        status = "published" if summary["environment"] == "published" else summary["status"]
    begun, finished = (summary.get("started_at"), summary.get("finished_at")) if summary else (None, None)
    # From its summary, as in the report and the console; the execution needs some more seconds to end.
    took = finished - begun if begun and finished else ended - started if started and ended else None
    return Listed(run, status, started, took, f"{run_folder(run)}/")


def _of_service(service: Service) -> list[Listed]:
    return [
        Listed(
            execution.run,
            execution.status,
            execution.started_at,
            execution.ended_at and execution.ended_at - execution.started_at,
            service.where(execution.run),
        )
        for execution in service.executions(LIMIT)
    ]


def _state(status: str) -> str:
    """Return a run's state in the words of all lists; Step Functions and summaries use other words."""
    return STATES.get(status, status)


def _table(listed: list[Listed]) -> Table:
    heads = (TableColumn("Run", "id"), *("Status", "Started", "Took", "Results"))
    rows = [
        (
            run.run,
            TableCell(_state(run.status), tone=TONES.get(_state(run.status), "")),
            instant(run.started_at),
            rough_duration(run.duration_s) if run.duration_s is not None else None,
            run.results,
        )
        for run in listed
    ]
    return Table.of("", heads, rows)
