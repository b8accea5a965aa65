"""The quick table writes what rich writes, whether its rows fit, have to be folded or are no plain lines."""

import io

import pytest
from rich.console import Console
from rich.table import Table
from rich.text import Text

from cli.tables.quick_table import QuickTable

ROWS = {
    "plain": [(Text("ebs, 20 × c5.large", "cyan"),), (Text("  threads 1 [a]"), "802", "≥ 1,170"), ("é日本", "9 ", " ")],
    "emoji": [("a :smile: b", "1", "2"), ("x", "10", "20")],
    "two lines": [(Text("ebs,\n20 × c5.large"), "1", "2")],
    "tab": [(Text("a\tb"), "1", "2")],
    "several styles": [(Text.assemble("a", ("b", "red")), "1", "2")],
    "none": [],
    "to be folded": [
        ("ebs-gp3 (3,000 IOPS), 20 × c5.large, touch: threads 1", "802", "1"),
        ("x" * 70, "日本" * 9, "2"),
    ],
}


def written(kind, rows, width, *, is_terminal):
    """What a console of this width shows of a table."""
    console = Console(
        file=io.StringIO(), width=width, force_terminal=is_terminal, color_system=None, markup=False, highlight=False
    )
    table = kind(
        title="touch: files/s (higher is better)", title_justify="left", title_style="bold", box=None,
        padding=(0, 2, 0, 0), header_style="bold", pad_edge=False,
    )  # fmt: skip
    table.add_column("Storage, fleet, point", overflow="fold")
    for head in ("P50", "P98"):
        table.add_column(head, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    console.print(table)
    return console.file.getvalue()


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("width", [160, 36, 24, 12])
def test_a_quick_table_is_that_of_rich(rows, width):
    for is_terminal in (True, False):
        shown = [written(kind, ROWS[rows], width, is_terminal=is_terminal) for kind in (QuickTable, Table)]
        assert shown[0] == shown[1]


@pytest.mark.parametrize(("rows", "width"), [("plain", 160), ("to be folded", 60)])
def test_plain_lines_are_not_left_to_rich_whether_they_fit_or_are_folded(rows, width, monkeypatch):
    monkeypatch.setattr(Table, "__rich_console__", lambda *_: pytest.fail("rich measures each cell"))

    assert "802" in written(QuickTable, ROWS[rows], width, is_terminal=False)
