"""`matrix runs`: the list of runs."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from cli.inputs import options
from cli.messages import terminal
from cli.messages.errors import UnreadableRun
from cli.tables import rich_tables
from cli.target import deployment
from cli.target.documents import note, readable
from cli.target.place import Place
from cli.target.run_documents import RunDocuments
from cli.target.run_folders import RunFolders, RunStore
from cli.target.service import Service
from cli.target.workdir import run_folder
from matrix.tables.table import Table, TableCell, TableColumn, Tone
from matrix.terms.quantities import count_of, instant, money, rough_duration

if TYPE_CHECKING:
    from matrix.terms.documents.receipt import ReceiptDocument

LIMIT = 50
# A receipt takes 20 ms from the bucket.
READ_AT_ONCE = 8
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
    cost_usd: float | None = None
    """By its receipt, in US dollars; None before it has one. A run of this machine would have cost it on AWS."""
    is_receipt_complete: bool | None = None
    """False where the run still costs more, until everything that it created is deleted."""


def runs(
    local: options.Local = False,
    stack: options.Stack = None,
    region: options.Region = None,
    as_json: options.AsJson = False,
) -> None:
    """List the runs and what each has cost, newest first.

    Those in .local/runs/, or with --stack the newest 50 on AWS. The cost is that of the receipt: each resource's hours
    until AWS reported it deleted, and usage-based charges, at the prices of the run's plan. Runs of this machine cost
    nothing; theirs is the price on AWS.

    Example: matrix runs --stack storage-matrix
    """
    place = Place(local, stack, region)
    listed = _with_costs(_of_service(place.service()) if place.is_on_aws else _local(), place.store())
    if as_json:
        terminal.print_json([asdict(run) for run in listed])
    elif listed:
        _show(listed, is_paid=place.is_on_aws)
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


def _with_costs(listed: list[Listed], store: RunStore) -> list[Listed]:
    """Return the runs with the costs of their receipts; damage is noted."""
    with ThreadPoolExecutor(READ_AT_ONCE) as pool:
        # Futures and not `pool.map`: this thread, whose command it is, must note damage.
        read = [pool.submit(RunDocuments(store, run.run).receipt) for run in listed]
        return [_with_cost(run, readable(receipt.result)) for run, receipt in zip(listed, read, strict=True)]


def _with_cost(run: Listed, receipt: "ReceiptDocument | None") -> Listed:
    if receipt is None:
        return run
    return replace(run, cost_usd=receipt["totals"]["cost_usd"], is_receipt_complete=receipt["is_complete"])


def _state(status: str) -> str:
    """Return a run's state in the words of all lists; Step Functions and summaries use other words."""
    return STATES.get(status, status)


def _show(listed: list[Listed], *, is_paid: bool) -> None:
    console = terminal.stdout()
    rich_tables.show(console, _table(listed, is_paid=is_paid))
    costs = [run.cost_usd for run in listed if run.cost_usd is not None]
    if costs:
        words = "cost" if is_paid else "would have cost on AWS"
        terminal.print_wrapped(console, f"{count_of(len(costs), 'run')} {words}: {money(sum(costs))}")


def _table(listed: list[Listed], *, is_paid: bool) -> Table:
    cost = TableColumn("Cost" if is_paid else "Cost on AWS", "figure")
    heads = (TableColumn("Run", "id"), *("Status", "Started", "Took"), cost, TableColumn("Results"))
    rows = [
        (
            run.run,
            TableCell(_state(run.status), tone=TONES.get(_state(run.status), "")),
            instant(run.started_at),
            rough_duration(run.duration_s) if run.duration_s is not None else None,
            f"{money(run.cost_usd)}{' so far' if run.is_receipt_complete is False else ''}",
            run.results,
        )
        for run in listed
    ]
    return Table.of("", heads, rows)
