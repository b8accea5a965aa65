"""Figures of a run beside the published ones, as a table, CSV or Markdown."""

from rich.console import Console
from rich.text import Text

from cli.tables.rich_tables import add_figures, add_text_columns, new_table
from matrix.terms.documents.beside import Beside
from matrix.terms.documents.summary import SummaryDocument
from matrix.terms.printable import csv_text
from matrix.terms.quantities import quantity

COLUMNS = (
    *("cell", "storage", "instances", "point", "metric", "unit", "percentile"),
    *("ours", "published", "date", "ratio", "comparable", "why_not", "differs", "source"),
)
HEADS = ("Storage, point", "Instances", "", "Ours", "Published", "Ratio", "")


def show(console: Console, summary: SummaryDocument, rows: list[Beside]) -> None:
    """Print the table, then the sources."""
    if not rows:
        console.print(
            f"no figure of run {summary['run']} has a published counterpart; the matrices in events/ have some"
        )
        return
    table = new_table()
    for head in HEADS:
        (add_text_columns if head in (HEADS[0], "") else add_figures)(table, head)
    for row in rows:
        table.add_row(*_cells(row)[:-1], Text(_cells(row)[-1], "yellow"))
    console.print(table)
    console.print()
    for source in dict.fromkeys(row["source"] for row in rows):
        console.print(f"Source: {source}")


def to_csv(rows: list[Beside]) -> str:
    joined = [{name: "; ".join(row[name]) for name in ("why_not", "differs")} for row in rows]
    return csv_text(COLUMNS, ({**row, **words} for row, words in zip(rows, joined, strict=True)))


def to_markdown(rows: list[Beside]) -> str:
    lines = [HEADS, ("---", "---:", "---", "---:", "---:", "---:", "---"), *map(_cells, rows)]
    return "\n".join(f"| {' | '.join(value.replace('|', '/') for value in line)} |" for line in lines)


def _cells(row: Beside) -> list[str]:
    """Return the cells of a row; the ratio is shown even if the two are not comparable, with the reason beside it."""
    dated = f" ({row['date']})" if row["date"] else ""
    against = [] if row["comparable"] else [f"not comparable: {'; '.join(row['why_not'])}"]
    return [
        f"{row['storage']}, {row['point']}",
        str(row["instances"]),
        row["percentile"].upper(),
        quantity(row["ours"], row["unit"]),
        f"{quantity(row['published'], row['unit'])}{dated}",
        "–" if row["ratio"] is None else f"{row['ratio']:.2f}",
        "; ".join([*against, *row["differs"]]),
    ]
