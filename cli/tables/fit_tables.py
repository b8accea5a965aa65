"""The scaling of a series, for people: the law in a sentence, then measured and predicted values with bars."""

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.text import Text

from cli.tables import rich_tables
from matrix.answer.scaling.series import Series
from matrix.tables.table import Table, TableCell, figures
from matrix.terms.quantities import number

# Characters of the longest bar.
BAR_WIDTH = 24


def show(console: Console, series: Series, report: Mapping[str, Any]) -> None:
    """Print the law, the knee and the peak, a row for each size, and further remarks on the series."""
    better = "higher" if report["higher_is_better"] else "lower"
    console.print(
        f"{report['points']} {report['reads']}, at up to {report['largest_n']:,} instances; {better} is better"
    )
    parameters = ", ".join(f"{name} {number(value)}" for name, value in report["parameters"].items())
    console.print(Text.assemble(("Law:  ", "bold"), f"{report['model']}: {report['formula']}, with {parameters}"))
    if others := ", ".join(f"{rival['model']} {100 * rival['weight']:.0f} %" for rival in report["rivals"]):
        console.print(Text.assemble(("Odds: ", "bold"), f"{100 * report['weight']:.0f} % for this law; {others}"))
    if knee := report["knee"]:
        console.print(Text.assemble(("Knee: ", "bold"), knee["meaning"]))
    if report["peak_n"]:
        console.print(
            Text.assemble(("Peak: ", "bold"), f"beyond {report['peak_n']:,} instances the whole fleet does less")
        )
    console.print()
    rich_tables.show(console, _table(series, report))
    for prediction in report["predictions"]:
        if prediction["refused"]:
            console.print(Text.assemble((f"No prediction of {prediction['n']:,}: ", "yellow"), prediction["refused"]))
    for warning in report["warnings"]:
        console.print(Text.assemble(("Warning: ", "yellow"), warning))
    if any(prediction["value"] is not None for prediction in report["predictions"]):
        console.print(f"Range: {report['interval']}")


def _table(series: Series, report: Mapping[str, Any]) -> Table:
    """A row for each size, the predicted ones last."""
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
