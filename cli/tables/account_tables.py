"""Quotas that a plan needs above AWS's defaults, and the commands that request an increase."""

from dataclasses import dataclass

from rich.console import Console

from cli.messages import terminal
from cli.tables import rich_tables
from matrix.terms.documents.plan import PlanDocument


@dataclass(frozen=True)
class Account:
    """The account of a plan, and the number of its file systems that are measured at the same time."""

    at_once: int
    region: str


def show(console: Console, plan: PlanDocument, account: Account, *, is_whole: bool) -> None:
    """Print in one line the quotas that the plan needs above AWS's defaults; with `is_whole` each, and the requests."""
    # The models of storages need pydantic: a quarter of a second for which `matrix --help` must not wait.
    from matrix.plan.account import account_needs, addresses
    from matrix.tables.quotas_table import format_amount, quotas_table

    listed = account_needs(plan, account.at_once)
    beyond = [need for need in listed if need.is_beyond]
    short = [
        f"{need.quota.name}: {format_amount(need.amount)} {need.quota.unit}, default {format_amount(need.default)}"
        for need in beyond
    ]
    found = f"above AWS's defaults: {'; '.join(short)}" if short else "within AWS's defaults"
    terminal.print_wrapped(console, f"Quotas {found} (your account was not checked)")
    if is_whole:
        rich_tables.show(console, quotas_table(listed, addresses(plan, account.at_once)))
    if beyond and (is_whole or len(beyond) == 1):
        terminal.print_wrapped(console, "If your account has less, ask AWS, which may take days:")
        for need in beyond:
            console.print(f"  {need.request} --region {account.region}", soft_wrap=True)
