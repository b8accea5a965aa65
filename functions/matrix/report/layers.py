"""The section of the page that says how much of the work of one layer the next one saw."""

from matrix.report.html import Figure, Markup, details, table, tag
from matrix.report.view import View
from matrix.terms.figures import ABSENT, number
from matrix.terms.layers import TITLE, all_layers, far_layers, is_far, layer_sentence

MOST_SENTENCES = 12
READS = (
    "Programs ask their mount, a mount its volume or its server, a server its disks. A ratio below 1 is what a cache"
    " answered or what is not written yet; above 1 it is amplification. Both sides were counted: by the kernels of the"
    " instances, the volumes themselves and CloudWatch."
)


def layers(view: View) -> Markup | None:
    """Sentences on ratios far from 1, and a table of all; None where nothing below the programs counted."""
    rows = [
        (
            cell, label, layer["way"], layer["counts"], f"{layer['above']} → {layer['below']}",
            *(Figure(number(layer[name]), layer[name]) for name in ("asked", "seen", "ratio")),
            layer_sentence(layer).partition(": ")[2] if is_far(layer) else ABSENT,
        )
        for cell, label, layer in all_layers(view.summary)
    ]  # fmt: skip
    if not rows:
        return None
    far = far_layers(view.summary)
    sentences = [tag("li", f"{cell}, {label}: {layer_sentence(layer)}.") for cell, label, layer in far[:MOST_SENTENCES]]
    heads = ("Cell", "Point", "Way", "Counted", "Layers", "Asked", "Seen", "Ratio", "Between them")
    return tag(
        "section",
        tag("h2", TITLE),
        tag("p", READS, class_="quiet"),
        tag("ul", *sentences) if sentences else tag("p", "Nowhere was more or less seen than was asked for."),
        details(f"All {len(rows)} ratios", table(heads, rows, caption="Asked and seen, by layer", class_="many")),
        id="layers",
    )
