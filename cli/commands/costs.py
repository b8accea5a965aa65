"""`matrix costs`: the costs of runs, by owner, matrix and month."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from cli.inputs import options
from cli.inputs.options import Format
from cli.messages import terminal
from cli.tables import rich_tables
from cli.target.documents import readable
from cli.target.place import Place
from cli.target.run_documents import RunDocuments
from cli.target.run_folders import RunStore
from matrix.tables.csv_table import csv_table
from matrix.tables.table import Table, TableCell, TableColumn, TableNote
from matrix.terms.quantities import count_of, money

if TYPE_CHECKING:
    from matrix.answer.spending import Spending
    from matrix.terms.documents.plan import PlanDocument
    from matrix.terms.documents.receipt import ReceiptDocument

# For a year of nightly runs: two documents each, 20 ms per document.
READ_AT_ONCE = 8
COLUMNS = (
    *(TableColumn(head, exact=head.lower()) for head in ("Owner", "Matrix", "Month")),
    TableColumn("Environment", exact="environment", is_detail=True),
    TableColumn("Runs", "figure", "runs"),
    TableColumn("Not complete", "figure", "open"),
    TableColumn("Cost", "figure", "cost_usd"),
)
# Runs of this machine cost nothing.
UNPAID = TableColumn("Would have cost on AWS", "figure", "cost_usd")


def costs(
    format_: Annotated[Format, typer.Option("--format", help="How to write them.")] = Format.TABLE,
    local: options.Local = False,
    stack: options.Stack = None,
    region: options.Region = None,
    as_json: options.AsJson = False,
) -> None:
    """Sum the receipts of runs by owner, matrix and month.

    A receipt has each resource's hours until AWS reported it deleted, and usage-based charges, at the prices of the
    run's plan. It reads the runs of this machine, which have cost nothing. With --stack or --region it reads all runs
    of a stack.

    Example: matrix costs --stack storage-matrix --format csv
    """
    format_ = options.chosen_format(format_, as_json=as_json)
    place = Place(local, stack, region)
    # pydantic takes a quarter of a second to import, so `matrix --help` must not import it.
    from matrix.answer.spending import spent

    rows = spent(_receipts(place.store()))
    if format_ is Format.JSON:
        terminal.print_json(rows)
    elif format_ is Format.CSV:
        typer.echo(csv_table(_table(rows)), nl=False)
    elif rows:
        _show(rows, paid=place.is_on_aws)
    else:
        where = "on this stack" if place.is_on_aws else "here (runs on AWS: add --stack NAME)"
        terminal.stderr().print(f"no run has a receipt {where}")


def _receipts(store: RunStore) -> "Iterator[tuple[PlanDocument, ReceiptDocument]]":
    """Yield plan and receipt of each run that has both; damage is noted."""
    with ThreadPoolExecutor(READ_AT_ONCE) as pool:
        # Futures and not `pool.map`: this thread, whose command it is, must note damage.
        runs = [RunDocuments(store, run) for run in store.runs()]
        submitted = [(pool.submit(run.plan), pool.submit(run.receipt)) for run in runs]
        for plan_read, receipt_read in submitted:
            plan, receipt = readable(plan_read.result), readable(receipt_read.result)
            if plan and receipt and "created_at" in plan:
                yield plan, receipt


def _show(rows: "list[Spending]", *, paid: bool) -> None:
    console = terminal.stdout()
    rich_tables.show(console, _table(rows))
    runs, cost = sum(row["runs"] for row in rows), money(sum(row["cost_usd"] for row in rows))
    console.print(f"{count_of(runs, 'run')} {'cost' if paid else 'would have cost'} {cost}{'' if paid else ' on AWS'}")


def _table(rows: "list[Spending]") -> Table:
    """A row for each owner, matrix and month."""
    contents = [
        (
            *(each["owner"], each["matrix"], each["month"], each["environment"], each["runs"]),
            TableCell(str(each["open"] or ""), each["open"], "unsure"),
            TableCell(money(each["cost_usd"]), each["cost_usd"]),
        )
        for each in rows
    ]
    note = TableNote("A run that is not complete costs more until everything of it is deleted.", None)
    columns = COLUMNS if any(each["environment"] == "aws" for each in rows) else (*COLUMNS[:-1], UNPAID)
    return replace(Table.of("", columns, contents), notes=[note] if any(each["open"] for each in rows) else [])
