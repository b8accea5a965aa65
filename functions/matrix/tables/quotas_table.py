"""The table of the quotas that a plan needs, beside AWS's defaults."""

from collections.abc import Iterable

from matrix.plan.account import ADDRESSES_OF_SUBNET, AccountNeed
from matrix.tables.table import Table, TableCell, figures
from matrix.terms.quantities import ABSENT


def quotas_table(needs: Iterable[AccountNeed], instances: int) -> Table:
    """Return a row for each quota, then one for the addresses of `instances` in one subnet."""
    rows: list[tuple[object, ...]] = [
        (
            f"{need.quota.name}, {need.quota.unit}",
            format_amount(need.amount),
            format_amount(need.default),
            _mark("ask", need.is_beyond),
        )
        for need in needs
    ]
    mark = _mark("a larger VPC", instances > ADDRESSES_OF_SUBNET)
    rows.append(("IPv4 addresses in one subnet of the stack", instances, ADDRESSES_OF_SUBNET, mark))
    return Table.of("", ("Quota", *figures("Needed", "Default"), " "), rows)


def _mark(text: str, is_beyond: bool) -> TableCell:
    return TableCell(text if is_beyond else "", tone="unsure")


def format_amount(amount: float | None) -> str:
    """Write an amount of a quota: `1,000`, `0.5`; a default that AWS does not publish is a dash."""
    return ABSENT if amount is None else f"{amount:,.1f}".removesuffix(".0")
