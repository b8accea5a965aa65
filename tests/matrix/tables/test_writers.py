import io

import pytest
from rich.console import Console

from cli.tables import rich_tables
from matrix.report.html_table import html_table
from matrix.tables.csv_table import csv_table
from matrix.tables.markdown_table import markdown_table
from matrix.tables.table import Table, TableCell, TableColumn

COLUMNS = (TableColumn("Cell", is_detail=True), TableColumn("Storage"), TableColumn("IOPS", "figure", "iops"))


def _rich(table: Table) -> str:
    console = Console(file=io.StringIO(), width=80)
    rich_tables.show(console, table)
    return console.file.getvalue()


@pytest.mark.parametrize("write", [lambda table: str(html_table(table)), markdown_table, csv_table, _rich])
@pytest.mark.parametrize("rows", [[], [("c1", "EBS gp3", TableCell("3,000", 3000.0))]])
def test_each_writer_names_the_columns_with_and_without_rows(write, rows):
    written = write(Table.of("", COLUMNS, rows))

    # The terminal prints nothing of a table without rows.
    is_empty = not rows and write is _rich
    assert ("Storage" in written) is not is_empty
    assert ("iops" in written.lower()) is not is_empty


def test_a_column_without_content_is_left_out_of_rows():
    table = Table.of("", COLUMNS, [("c1", "EBS gp3", None)])

    assert [column.head for column in table.shown().columns] == ["Storage"]
    assert csv_table(table).splitlines() == ["Cell,Storage,iops", "c1,EBS gp3,"]


def test_in_the_terminal_figures_stay_whole_and_a_long_text_stands_once():
    why = "not the same: " + "a word " * 20
    heads = (*(TableColumn(head) for head in ("Storage", "Point")), TableColumn("P50 of all", "figure"), "Differs")
    rows = [("EBS gp3", f"threads {threads}, directories own, not synced", "97m 42s", why) for threads in (1, 4)]

    lines = _rich(Table.of("", heads, rows, grouped_by=1)).splitlines()

    assert max(len(line) for line in lines if not line.startswith("Differs")) <= 80
    assert [line.split()[-3:] for line in lines if "97m" in line] == [["97m", "42s", "1"]] * 2
    assert " ".join(lines).split("Differs 1: ")[1].split() == why.split()
    assert [line.strip() for line in lines].count("EBS gp3") == 1
