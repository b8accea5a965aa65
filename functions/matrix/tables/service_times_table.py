"""The table of how long AWS took for each storage."""

from matrix.input.storage_names import brief_names
from matrix.tables.table import Table
from matrix.terms.documents.summary import ServiceTime, SummaryDocument
from matrix.terms.quantities import number

WORDS = {
    "available_s": "available {} after its creation",
    "mounted_s": "mounted in {}",
    "deleted_s": "gone {} after its deletion began",
}


def service_times_table(summary: SummaryDocument) -> Table:
    """Return a row for each storage, with its times in a sentence."""
    times = summary.get("service_times") or []
    names = brief_names((each["file_system"], each["storage"]) for each in times)
    rows = [
        (name, ", ".join(_words(each) for each in times if each["file_system"] == created))
        for created, name in names.items()
    ]
    return Table.of("Service times", ("Storage", "Took AWS"), rows, grouped_by=1)


def _words(time: ServiceTime) -> str:
    longest = f" (longest of {time['n']}: {_seconds(time['p100'])})" if time["n"] > 1 else ""
    return WORDS[time["metric"]].format(_seconds(time["p50"])) + longest


def _seconds(seconds: float) -> str:
    return f"{number(seconds)} s"
