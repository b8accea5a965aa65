"""The tables of bottlenecks: of each cell with its evidence and advice, and of each storage if there are many cells."""

from collections.abc import Callable, Iterator, Sequence

from matrix.input.storage_names import cell_names
from matrix.tables.table import Table, TableColumn, TableNote, row
from matrix.terms.ceilings import bottlenecks, describe_limit
from matrix.terms.documents.bottleneck import Bottleneck
from matrix.terms.documents.result import ResultDocument
from matrix.terms.documents.summary import SummaryDocument
from matrix.terms.grouping import grouped
from matrix.terms.names import fleet_label, workload_names_of
from matrix.text.bottlenecks import PROVISIONAL, describe_evidence, describe_next_limit, describe_others

Hit = tuple[ResultDocument, Bottleneck]
# With more cells than this many rows would be equal.
MAX_CELLS = 12
COLUMNS = (
    TableColumn("Cell", "id"),
    *map(TableColumn, ("Bottleneck", "Evidence", "What to do next")),
    *(TableColumn(head, is_detail=True) for head in ("Other limits, used", "Points that reached it")),
)


def bottleneck_tables(
    summary: SummaryDocument, call: Callable[[ResultDocument], str] = lambda cell: cell["id"]
) -> list[Table]:
    """Return the bottleneck of each cell, which `call` names, and of many cells first those of each storage."""
    hits = bottlenecks(summary)
    rows = [row(_contents(call(cell), cell, hit)) for cell, hit in hits]
    is_provisional = any(hit["is_provisional"] for _, hit in hits)
    notes = [TableNote(f"{PROVISIONAL}.")] if is_provisional else []
    of_cells = Table("The bottleneck of each cell", COLUMNS, rows, notes, grouped_by=1)
    if len(hits) <= MAX_CELLS:
        return [of_cells] if hits else []
    heads = map(TableColumn, ("Storage", "Bottleneck", "Cells", "Which", "What to do next"))
    names = cell_names(summary["cells"])
    return [
        Table("The bottlenecks of each storage", list(heads), list(map(row, _of_storages(hits, names))), notes),
        of_cells,
    ]


def _contents(name: str, cell: ResultDocument, bottleneck: Bottleneck) -> Iterator[str]:
    yield name
    yield describe_limit(bottleneck["name"])
    yield describe_evidence(cell, bottleneck)
    yield describe_next_limit(cell, bottleneck)
    yield describe_others(bottleneck)
    points = bottleneck["points"]
    yield f"{sum(limit == bottleneck['name'] for limit in points.values())} of {len(points)}"


def _of_storages(hits: Sequence[Hit], names: dict[str, str]) -> Iterator[Sequence[str]]:
    """Yield a row for each bottleneck of a storage, the most frequent first: in how many cells, and in which."""
    of_storage = grouped((names[cell["id"]], (cell, hit)) for (cell, hit) in hits)
    workload_names = workload_names_of(cell for cell, _ in hits)
    for storage, own in of_storage.items():
        alike = grouped(((hit["name"], describe_next_limit(cell, hit)), cell) for (cell, hit) in own)
        for (limit, advice), those in sorted(alike.items(), key=lambda item: -len(item[1])):
            fleets = dict.fromkeys(fleet_label(cell["fleet"]) for cell in those)
            # Fleets are named if they distinguish these cells from others.
            is_some = fleets.keys() != {fleet_label(cell["fleet"]) for cell, _ in own}
            workloads = dict.fromkeys(workload_names[cell["id"]] for cell in those)
            where = "; ".join([", ".join(workloads), *([", ".join(fleets)] if is_some else [])])
            yield storage, describe_limit(limit), f"{len(those)} of {len(own)}", where, advice
