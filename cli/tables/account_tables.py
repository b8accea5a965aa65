"""Quotas that a plan needs above AWS's defaults, and the commands that request an increase."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from cli.messages import terminal
from cli.tables.rich_tables import add_figures, add_text_columns, new_table
from matrix.terms.documents.plan import PlanDocument
from matrix.terms.quantities import ABSENT

if TYPE_CHECKING:
    from matrix.plan.account import AccountNeed


@dataclass(frozen=True)
class Account:
    """The account of a plan, and the number of its file systems that are measured at the same time."""

    at_once: int
    region: str


def show(console: Console, plan: PlanDocument, account: Account) -> None:
    """Print every quota that the plan uses, with those above AWS's default marked, then how to request more."""
    # The models of storages need pydantic: a quarter of a second for which `matrix --help` must not wait.
    from matrix.plan.account import account_needs, addresses

    listed = account_needs(plan, account.at_once)
    console.print(Text("What the account must have at once, beside AWS's defaults (nobody was asked)", "bold"))
    console.print(_table(listed, addresses(plan, account.at_once)))
    if asked := [need for need in listed if need.is_beyond]:
        terminal.print_wrapped(
            console, f"Where the account has less, ask for it all at once ({account.region}); AWS may take days:"
        )
        for need in asked:
            console.print(f"  {need.request} --region {account.region}", soft_wrap=True)


def _table(listed: "list[AccountNeed]", instances: int) -> Table:
    from matrix.plan.account import ADDRESSES_OF_SUBNET

    table = new_table("Quota")
    add_figures(table, "Needed", "Default")
    add_text_columns(table, "")
    for need in listed:
        default = ABSENT if need.default is None else f"{need.default:,.0f}"
        mark = Text("ask" if need.is_beyond else "", "yellow")
        table.add_row(f"{need.quota.name}, {need.quota.unit}", _figure(need.amount), default, mark)
    mark = Text("a larger VPC" if instances > ADDRESSES_OF_SUBNET else "", "yellow")
    table.add_row("IPv4 addresses in one subnet of the stack", f"{instances:,}", f"{ADDRESSES_OF_SUBNET:,}", mark)
    return table


def _figure(amount: float) -> str:
    return f"{amount:,.1f}".removesuffix(".0")
