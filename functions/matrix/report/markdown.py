"""A run as Markdown: the tables of the published benchmarks, for pull requests and terminals."""

from collections.abc import Iterator

from matrix.input.storage_names import candidate_names, cell_names
from matrix.tables import receipt_text
from matrix.tables.markdown_table import markdown_section, markdown_table
from matrix.tables.percentiles import has_refused, percentile_tables
from matrix.tables.run_tables import answer_table, other_tables
from matrix.terms.documents.summary import SummaryDocument
from matrix.terms.figures import NOT_CARRIED_NOTE
from matrix.terms.markdown_text import code, inline
from matrix.terms.measured import judged_metrics
from matrix.terms.names import reading_order
from matrix.terms.quantities import ABSENT, instant
from matrix.text.decisions import sale_note
from matrix.text.headlines import doubts, opening
from matrix.text.warnings import warning_lines

# Comparisons in the answer's table; all of them are in the tables below it.
MAX_COMPARISONS = 24
MAX_DOUBTS = 5


def to_markdown(summary: SummaryDocument) -> str:
    """Render the run as Markdown: a table per workload and primary metric, then failed cells and warnings."""
    blocks = [
        _markdown_head(summary),
        *_percentiles(summary),
        *map(markdown_section, other_tables(summary)),
        _markdown_warnings(summary),
        receipt_text.markdown_section(summary),
    ]
    return "\n\n".join(filter(None, blocks)) + "\n"


def _markdown_head(summary: SummaryDocument) -> str:
    lines = [
        f"# {inline(summary.get('name') or summary.get('run', 'run'))}",
        "",
        f"Run {code(summary.get('run', ABSENT))}, {inline(summary.get('status', ABSENT))}, environment "
        f"{inline(summary.get('environment', ABSENT))}, {instant(summary.get('started_at'))} to "
        f"{instant(summary.get('finished_at'))}.",
    ]
    if note := sale_note(summary):
        lines += ["", f"**{inline(note)}**"]
    return "\n".join([*lines, *_answer(summary)])


def _answer(summary: SummaryDocument) -> Iterator[str]:
    """Yield the verdict, its evidence as a table, then its caveats; nothing without a decision."""
    decision = summary.get("decision")
    if not decision:
        return
    name = candidate_names(summary)
    first, *others = opening(decision, name)
    yield from ("", f"**{inline(first)}**")
    yield from (f"\n{inline(sentence)}" for sentence in others)
    if table := answer_table(summary, decision, name, MAX_COMPARISONS):
        yield from ("", f"{inline(table.title)}:", "", markdown_table(table))
        yield from (f"\n{inline(note)}" for note in table.sentences)
    if lines := doubts(summary, decision, name, MAX_DOUBTS):
        yield ""
        yield from (f"- {inline(line)}" for line in lines)


def _percentiles(summary: SummaryDocument) -> Iterator[str]:
    """Yield a table for each workload and the metric that it is judged by, then what their signs mean."""
    cells = reading_order(summary.get("cells", []))
    names, points = cell_names(cells), list(judged_metrics(cells))
    yield from map(markdown_section, percentile_tables(points, lambda each: names[each.cell["id"]]))
    if has_refused(points):
        yield NOT_CARRIED_NOTE


def _markdown_warnings(summary: SummaryDocument) -> str:
    warnings = [f"- {inline(warning)}" for warning in warning_lines(summary)]
    return "\n".join(["## Warnings", "", *warnings]) if warnings else ""
