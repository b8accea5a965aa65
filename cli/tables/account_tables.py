"""Quotas that a plan needs above AWS's defaults, and the commands that request an increase."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.console import Console

from cli.messages import terminal
from cli.tables import rich_tables
from matrix.tables.table import Table, TableCell, figures
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
    from matrix.plan.account import ADDRESSES_OF_SUBNET, account_needs, addresses

    listed = account_needs(plan, account.at_once)
    beyond = [need for need in listed if need.is_beyond]
    short = [
        f"{need.quota.name}: {_amount(need.amount)} {need.quota.unit}, default {_amount(need.default)}"
        for need in beyond
    ]
    found = f"above AWS's defaults: {'; '.join(short)}" if short else "within AWS's defaults"
    terminal.print_wrapped(console, f"Quotas {found} (your account was not checked)")
    if is_whole:
        rich_tables.show(console, _table(listed, addresses(plan, account.at_once), ADDRESSES_OF_SUBNET))
    if beyond and (is_whole or len(beyond) == 1):
        terminal.print_wrapped(console, "If your account has less, ask AWS, which may take days:")
        for need in beyond:
            console.print(f"  {need.request} --region {account.region}", soft_wrap=True)


def _table(needs: "Iterable[AccountNeed]", instances: int, most_instances: int) -> Table:
    """A row for each quota, then one for the addresses of `instances` in one subnet."""
    rows: list[tuple[object, ...]] = [
        (
            f"{need.quota.name}, {need.quota.unit}",
            _amount(need.amount),
            _amount(need.default),
            _mark("ask", need.is_beyond),
        )
        for need in needs
    ]
    mark = _mark("a larger VPC", instances > most_instances)
    rows.append(("IPv4 addresses in one subnet of the stack", instances, most_instances, mark))
    return Table.of("", ("Quota", *figures("Needed", "Default"), " "), rows)


def _mark(text: str, is_beyond: bool) -> TableCell:
    return TableCell(text if is_beyond else "", tone="unsure")


def _amount(amount: float | None) -> str:
    """Write an amount of a quota: `1,000`, `0.5`; a default that AWS does not publish is a dash."""
    return ABSENT if amount is None else f"{amount:,.1f}".removesuffix(".0")
