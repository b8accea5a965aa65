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


def show(console: Console, plan: PlanDocument, account: Account, *, is_whole: bool) -> None:
    """Print in one line the quotas that the plan needs above AWS's defaults; with `is_whole` each, and the requests."""
    # The models of storages need pydantic: a quarter of a second for which `matrix --help` must not wait.
    from matrix.plan.account import account_needs, addresses

    listed = account_needs(plan, account.at_once)
    beyond = [need for need in listed if need.is_beyond]
    short = [
        f"{need.quota.name}: {_figure(need.amount)} {need.quota.unit}, default {_default(need)}" for need in beyond
    ]
    found = f"above AWS's defaults: {'; '.join(short)}" if short else "within AWS's defaults"
    terminal.print_wrapped(console, f"Quotas {found} (your account was not checked)")
    if is_whole:
        console.print(_table(listed, addresses(plan, account.at_once)))
    if beyond and (is_whole or len(beyond) == 1):
        terminal.print_wrapped(console, "If your account has less, ask AWS, which may take days:")
        for need in beyond:
            console.print(f"  {need.request} --region {account.region}", soft_wrap=True)


def _table(listed: "list[AccountNeed]", instances: int) -> Table:
    from matrix.plan.account import ADDRESSES_OF_SUBNET

    table = new_table("Quota")
    add_figures(table, "Needed", "Default")
    add_text_columns(table, "")
    for need in listed:
        mark = Text("ask" if need.is_beyond else "", "yellow")
        table.add_row(f"{need.quota.name}, {need.quota.unit}", _figure(need.amount), _default(need), mark)
    mark = Text("a larger VPC" if instances > ADDRESSES_OF_SUBNET else "", "yellow")
    table.add_row("IPv4 addresses in one subnet of the stack", f"{instances:,}", f"{ADDRESSES_OF_SUBNET:,}", mark)
    return table


def _default(need: "AccountNeed") -> str:
    return ABSENT if need.default is None else f"{need.default:,.0f}"


def _figure(amount: float) -> str:
    return f"{amount:,.1f}".removesuffix(".0")
