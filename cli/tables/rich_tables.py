"""Tables of the terminal: without borders, and where one is too wide its cells fold, so that nothing is cut."""

from itertools import accumulate, groupby

from rich.table import Table
from rich.text import Text

from matrix.tables.percentiles import SUBJECTS
from matrix.tables.table import RunTable, TableRow


def new_table(*heads: str, title: str = "", gap: int = 2) -> Table:
    """Return a table with these columns of words, `gap` blanks apart."""
    table = Table(
        title=title or None,
        title_justify="left",
        title_style="bold",
        caption_justify="left",
        caption_style="",
        box=None,
        padding=(0, gap, 0, 0),
        pad_edge=False,
        header_style="bold",
    )
    add_text_columns(table, *heads)
    return table


def add_text_columns(table: Table, *heads: str) -> None:
    for head in heads:
        table.add_column(head, overflow="fold")


def add_ids(table: Table, *heads: str) -> None:
    """Add columns of names that people copy: the other columns fold first."""
    for head in heads:
        table.add_column(head, no_wrap=True, overflow="fold")


def add_figures(table: Table, *heads: str) -> None:
    """Add columns of figures, which are right-aligned."""
    for head in heads:
        table.add_column(head, justify="right", overflow="fold")


def drawn(table: RunTable) -> Table:
    """Draw a table of a run as it is. A first head that is wider than its column stands above the table."""
    rows = list(table.texts())
    first, *others = table.columns
    is_wide = len(first.head) > max((len(row[0]) for row in rows), default=0)
    built = new_table("" if is_wide else first.head, title=first.head if is_wide else "")
    for column in others:
        (add_figures if column.is_figure else add_text_columns)(built, column.head)
    for texts in rows:
        built.add_row(*map(Text, texts))
    return built


def grouped(table: RunTable, *, most_rows: int) -> Table:
    """Draw a table of a run: storage and fleet on their own line, below it a row for each of their points.

    If it has more than `most_rows` lines, it shows the first cells, at least one; the others are counted.
    """
    built = new_table("Storage, fleet, point", title=table.title, gap=1)
    for column in table.columns[len(SUBJECTS) :]:
        (add_figures if column.is_figure else add_text_columns)(built, column.short or column.head)
    cells = [(words, list(rows)) for (_, words), rows in groupby(table.rows, _cell_of)]
    lines = accumulate(1 + len(rows) for _, rows in cells)
    shown = max(1, sum(count <= most_rows for count in lines))
    for words, rows in cells[:shown]:
        built.add_row(Text(words, "cyan"))
        for row in rows:
            point, *figures = row.cells[len(SUBJECTS) - 1 :]
            # Text prevents that rich takes brackets for a style.
            texts = (Text(figure.text, "red" if figure.is_alarming else "") for figure in figures)
            built.add_row(Text(f"  {point.text}"), *texts)
    rest = len(cells) - shown
    more = [f"and {rest} more cells: see the report, or add --format csv"] if rest else []
    if below := [*more, *table.sentences]:
        built.caption = "\n".join(below)
    return built


def _cell_of(row: TableRow) -> tuple[str, str]:
    storage, fleet, *_ = row.cells
    return (row.about.cell["id"] if row.about else ""), f"{storage.text}, {fleet.text}"
