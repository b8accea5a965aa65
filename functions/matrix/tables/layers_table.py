"""The tables of how much of the work of one layer the next one saw: far ratios as sentences, and all of them."""

import math
from collections.abc import Iterator

from matrix.tables.table import Table, TableCell, TableColumn, TableNote, figures, row
from matrix.terms.documents.result import Layer, PointResult, ResultDocument
from matrix.terms.documents.summary import SummaryDocument
from matrix.terms.names import point_labels, reading_order
from matrix.terms.quantities import ABSENT, number

# A sweep of 30 points through a cache has 30 ratios far from 1.
MAX_FAR = 10
TITLE = "What each layer saw of the work"
CELL = TableColumn("Cell", "id")
# Two counters that are read at slightly different times, and cut minutes, differ by less than a fifth.
FAR_BELOW, FAR_ABOVE = 0.8, 1.25

MERGED, SPLIT = "small neighbours are put together", "large ones are split"
# Why a layer sees less, and why it sees more, of the layer above it.
READ_WHY = {
    "mount": ("the instance's cache answered the rest", "read-ahead, or pages larger than what was asked for"),
    "FSx disks": ("the server's cache answered the rest", "amplification: whole records are read for parts of them"),
}
WRITE_WHY = {
    "mount": (
        "the rest was still in the instance's memory, or was overwritten there",
        "amplification: journal, metadata, whole blocks for parts of them",
    ),
    "FSx disks": (
        "compression, or the rest was still in the server's memory",
        "amplification: whole records are written for parts of them, beside the intent log",
    ),
}
OTHERS_WHY = ("one of the two does not count everything", "others used it too, or it counts more than the data")


def layers_of(point: PointResult, cell: ResultDocument) -> list[Layer]:
    """Return the layers of a point, from its programs down; empty without counters."""
    return [*(point.get("layers") or []), *((cell.get("server_layers") or {}).get(point["id"]) or [])]


def all_layers(summary: SummaryDocument) -> Iterator[tuple[str, str, Layer]]:
    """Yield (cell, label of the point, layer) of a run, in reading order."""
    for cell in reading_order(summary.get("cells", [])):
        labels = point_labels(cell.get("points") or [])
        for point in cell.get("points") or []:
            for layer in layers_of(point, cell):
                yield cell["id"], labels[point["id"]], layer


def far_layers(summary: SummaryDocument) -> list[tuple[str, str, Layer]]:
    """Return (cell, label of the point, layer) of the ratios far from 1, the farthest first."""
    far = [entry for entry in all_layers(summary) if is_far(entry[2])]
    return sorted(far, key=lambda entry: -abs(math.log(max(entry[2]["ratio"], 1e-9))))


def is_far(layer: Layer) -> bool:
    """Whether a ratio of two layers is so far from 1 that a cache or an amplification must be between them."""
    return not FAR_BELOW <= layer["ratio"] <= FAR_ABOVE


def layer_sentence(layer: Layer) -> str:
    """Write a ratio: `FSx disks saw 0.10 of the bytes that the FSx server read: the server's cache answered the rest`.

    Close to 1 there is nothing to explain.
    """
    above = layer["above"] if layer["above"] == "programs" else f"the {layer['above']}"
    # Names and plurals have no article: EFS, S3 Files, FSx disks; but the volume, the FSx server.
    has_none = layer["below"].isupper() or layer["below"].endswith("s")
    below = layer["below"] if has_none else f"the {layer['below']}"
    did = {"read": "read", "write": "wrote"}[layer["way"]]
    what = f"bytes that {above} {did}" if layer["counts"] == "bytes" else f"{layer['way']} operations of {above}"
    ratio = f"{below} saw {number(layer['ratio'])} {'of' if layer['ratio'] < 1 else 'times'} the {what}"
    return f"{ratio}: {_why(layer)}" if is_far(layer) else ratio


def _why(layer: Layer) -> str:
    is_more = layer["ratio"] > 1
    reasons = (READ_WHY if layer["way"] == "read" else WRITE_WHY).get(layer["below"])
    if reasons is None:
        reasons = (MERGED, SPLIT) if layer["counts"] == "operations" else OTHERS_WHY
    return reasons[is_more]


def far_layers_table(summary: SummaryDocument) -> Table:
    """Return a row for each ratio that a cache or an amplification explains, the farthest from 1 first."""
    far = far_layers(summary)
    rows = [row((cell, label, layer_sentence(layer))) for cell, label, layer in far[:MAX_FAR]]
    notes = [TableNote(f"and {len(far) - MAX_FAR} more, in the report")] if len(far) > MAX_FAR else []
    return Table(TITLE, (CELL, TableColumn("Point"), TableColumn("What it saw")), rows, notes, grouped_by=2)


def all_layers_table(summary: SummaryDocument) -> Table:
    """Return a row for each ratio, in reading order."""
    heads = (CELL, "Point", "Way", "Counted", "Layers", *figures("Asked", "Seen", "Ratio"), "Between them")
    rows = [(cell, label, *_ratio(layer)) for cell, label, layer in all_layers(summary)]
    return Table.of("Asked and seen, by layer", heads, rows)


def _ratio(layer: Layer) -> tuple[object, ...]:
    between = _why(layer) if is_far(layer) else ABSENT
    counts = (TableCell(number(count), count) for count in (layer["asked"], layer["seen"], layer["ratio"]))
    return layer["way"], layer["counts"], f"{layer['above']} → {layer['below']}", *counts, between
