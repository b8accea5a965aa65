"""The topology: which fleets reached which storage, and by which mount, as boxes that need no script."""

from matrix.input.storage_names import storage_label
from matrix.report.html import Markup, tag
from matrix.report.view import View
from matrix.storages.models import metrics_of
from matrix.terms.documents.result import ResultDocument
from matrix.terms.grouping import grouped
from matrix.terms.names import describe_placement, describe_tools, describe_workload

# Mount options that affect the speed; the provenance has all options.
TELLING = ("vers=", "nconnect=", "rsize=", "wsize=", "tls")


def built(view: View) -> Markup:
    """Return the section; empty if no topology is known."""
    systems = grouped((view.curve(cell), cell) for cell in view.cells)
    # Storages that the same fleets reach in the same way share one arrow.
    paths: dict[tuple[str, str], list[Markup]] = {}
    for storage, cells in systems.items():
        measured = [cell for cell in cells if cell["points"]]
        if measured:
            paths.setdefault(_reached(measured), []).append(_box(view, storage, measured[0]))
    if not paths:
        return Markup("")
    rows = [
        tag("div", Markup(fleets), Markup(way), tag("div", *boxes), class_="path")
        for (fleets, way), boxes in paths.items()
    ]
    of_whom = {"published": "By the source", "imported": f"By {describe_tools(view.summary)}, elsewhere",
               "emulated": "On this machine, which plays the storages",
               "local": "On this machine, a folder for each storage"}  # fmt: skip
    region = view.plan.get("region") if view.plan else None
    where = of_whom.get(str(view.summary.get("environment")), region or "On AWS")
    reads = (
        f"{where}. Fleets are at the left, their storage at the right; arrows say how they reach it. A storage that "
        "each instance owns is created once for each of them."
    )
    return tag("section", tag("h2", "Topology"), tag("p", reads, class_="quiet"),
               tag("div", *rows, class_="built"), id="built")  # fmt: skip


def _reached(cells: list[ResultDocument]) -> tuple[str, str]:
    """Return the boxes of a storage's fleets, and the arrow from them to it."""
    fleets = grouped(
        (str(cell["fleet"].get("instanceType", "instance")), int(cell["fleet"].get("count") or 1)) for cell in cells
    )
    placed = describe_placement(cells[0]["fleet"]) or "one agent on each"
    boxes = [
        tag("div", tag("b", f"{listed(sorted(set(counts)))} × {kind}"), tag("span", placed), class_="box")
        for kind, counts in fleets.items()
    ]
    mine = f"{', '.join(sorted({describe_workload(cell['workload']) for cell in cells}))} through"
    way = tag("div", tag("span", mine), tag("b", _way(cells[0])), class_="way")
    return tag("div", *boxes, class_="fleets").text, way.text


def _box(view: View, storage: str, cell: ResultDocument) -> Markup:
    kind, _, details = storage_label(dict(cell["storage"])).partition(" (")
    words = tag("span", details.removesuffix(")") or storage)
    return tag("div", tag("b", kind), words, class_="box storage", **view.facets.marks(storage=storage))


def listed(counts: list[int]) -> str:
    """Write `1, 10 or 50`."""
    *some, last = map(str, counts)
    return f"{', '.join(some)} or {last}" if some else last


def _way(cell: ResultDocument) -> str:
    """Name the mount: as the instances reported it, else the usual mount of the storage."""
    mounts = ((cell.get("provenance") or {}).get("mount") or {}).keys()
    mount = next(iter(mounts), "")
    if mount:
        kind, _, options = mount.rpartition(" ")
        shown = [option for option in options.split(",") if option.startswith(TELLING)]
        return f"{kind or mount} {', '.join(shown)}".rstrip()
    return metrics_of(cell["storage"].get("type")).reached_by
