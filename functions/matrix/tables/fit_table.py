"""The table of a series: measured and predicted values with bars."""

from collections.abc import Mapping
from typing import Any

from matrix.answer.scaling.series import Series
from matrix.tables.table import Table, TableCell, figures
from matrix.terms.quantities import number

# Characters of the longest bar.
BAR_WIDTH = 24


def fit_table(series: Series, report: Mapping[str, Any]) -> Table:
    """Return a row for each size, the predicted ones last."""
    known = [(n, value) for n, value in sorted(zip(series.n, series.value, strict=True))]
    predicted = sorted((each["n"], each) for each in report["predictions"] if each["value"] is not None)
    longest = max([*series.value, *(each["value"] for _, each in predicted)])
    rows: list[tuple[object, ...]] = [(n, value, "", "", _bar(value, longest, "█")) for n, value in known]
    for n, each in predicted:
        span = f"{number(each['low'])} – {number(each['high'])}"
        value = TableCell(number(each["value"]), each["value"])
        rows.append((n, "", value, span, _bar(each["value"], longest, "░")))
    return Table.of("", (*figures("Instances", "Measured", "Predicted"), "Range", " "), rows)


def _bar(value: float, longest: float, drawn: str) -> str:
    return drawn * max(1, round(BAR_WIDTH * value / longest)) if longest > 0 else ""
