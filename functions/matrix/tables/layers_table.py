"""The tables of how much of the work of one layer the next one saw: far ratios as sentences, and all of them."""

from matrix.tables.table import RunTable, TableCell, TableColumn, TableRow
from matrix.terms.documents.result import Layer
from matrix.terms.documents.summary import SummaryDocument
from matrix.terms.figures import ABSENT, number
from matrix.terms.layers import all_layers, far_layers, is_far, layer_sentence

TITLE = "What each layer saw of the work"
CELL, POINT = "Cell", "Point"
FIGURES = ("Asked", "Seen", "Ratio")


def far_layers_table(summary: SummaryDocument) -> RunTable:
    """Return a row for each ratio that a cache or an amplification explains, the farthest from 1 first."""
    columns = [TableColumn(CELL, is_code=True), TableColumn(POINT), TableColumn("What it saw")]
    rows = [_row(cell, label, TableCell(layer_sentence(layer))) for cell, label, layer in far_layers(summary)]
    return RunTable(TITLE, columns, rows)


def all_layers_table(summary: SummaryDocument) -> RunTable:
    """Return a row for each ratio, in reading order."""
    words = [TableColumn(head) for head in (CELL, POINT, "Way", "Counted", "Layers")]
    figures = [TableColumn(head, is_figure=True) for head in FIGURES]
    rows = [_row(cell, label, *_ratio(layer)) for cell, label, layer in all_layers(summary)]
    return RunTable("Asked and seen, by layer", [*words, *figures, TableColumn("Between them")], rows)


def _row(cell: str, label: str, *cells: TableCell) -> TableRow:
    return TableRow([TableCell(cell), TableCell(label), *cells])


def _ratio(layer: Layer) -> list[TableCell]:
    words = (layer["way"], layer["counts"], f"{layer['above']} → {layer['below']}")
    figures = (layer["asked"], layer["seen"], layer["ratio"])
    between = layer_sentence(layer).partition(": ")[2] if is_far(layer) else ABSENT
    return [
        *(TableCell(text) for text in words),
        *(TableCell(number(figure), figure) for figure in figures),
        TableCell(between),
    ]
