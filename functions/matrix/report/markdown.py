"""A run as Markdown: the tables of the published benchmarks, for pull requests and terminals."""

from collections.abc import Iterator

from matrix.input.storage_names import cell_names
from matrix.run import receipt_text
from matrix.tables.best_table import best_table, largest
from matrix.tables.bottleneck_table import BOTTLENECK, CELL, EVIDENCE, NEXT, OTHERS, bottleneck_table
from matrix.tables.directories_table import directories_table
from matrix.tables.earlier_runs import earlier_runs_table
from matrix.tables.failed_table import WHY, failed_table
from matrix.tables.highest_rates import highest_rates_table
from matrix.tables.layers_table import far_layers_table
from matrix.tables.percentiles import Medium, percentile_tables
from matrix.tables.ranking_table import ranking_table
from matrix.tables.service_times_table import service_times_table
from matrix.tables.table import RunTable, TableColumn
from matrix.terms.documents.summary import Candidate, SummaryDocument
from matrix.terms.figures import NOT_CARRIED_NOTE
from matrix.terms.markdown_text import code, inline, table_line
from matrix.terms.measured import judged_metrics
from matrix.terms.names import reading_order
from matrix.terms.quantities import ABSENT, instant
from matrix.terms.verdicts import judged
from matrix.text.bottlenecks import TITLE as BOTTLENECKS
from matrix.text.decisions import sale_note
from matrix.text.headlines import doubts, headline
from matrix.text.warnings import warning_lines

# A sweep of 30 points through a cache has 30 such sentences.
MAX_LAYERS = 10
# Comparisons in the answer's table; all of them are in the tables below it.
MAX_COMPARISONS = 24
MAX_DOUBTS = 5


def to_markdown(summary: SummaryDocument) -> str:
    """Render the run as Markdown: a table per workload and primary metric, then failed cells and warnings."""
    blocks = [_markdown_head(summary), *_percentiles(summary)]
    ends = (
        _highest_rates(summary),
        _ceilings(summary),
        _sentences(directories_table(summary)),
        _sentences(service_times_table(summary)),
        _layers(summary),
        _markdown_failed(summary),
        _markdown_resumed(summary),
        _markdown_warnings(summary),
        receipt_text.markdown_section(summary),
    )
    blocks += [block for block in ends if block]
    return "\n\n".join(blocks) + "\n"


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
    names = cell_names(summary.get("cells", []))

    def name(candidate: Candidate) -> str:
        return names.get(candidate["cell"], candidate["storage"])

    yield from ("", f"**{inline(headline(decision, name))}**")
    questions = [question for question in decision["questions"] if judged(question)]
    if questions:
        some = largest(questions, MAX_COMPARISONS)
        table = (
            ranking_table(summary, decision, questions[0], name)
            if len(questions) == 1
            else best_table(summary, decision, some, name, of=len(questions))
        )
        yield from ("", *markdown_table(table))
    if lines := doubts(summary, decision, name, MAX_DOUBTS):
        yield ""
        yield from (f"- {inline(line)}" for line in lines)


def _percentiles(summary: SummaryDocument) -> Iterator[str]:
    """Yield a table for each workload and the metric that it is judged by."""
    cells = reading_order(summary.get("cells", []))
    names = cell_names(cells)
    for table in percentile_tables(judged_metrics(cells), lambda each: names[each.cell["id"]], Medium.DOCUMENT):
        bounds = [NOT_CARRIED_NOTE] if table.has_bound else []
        notes = [line for note in (*bounds, *map(inline, table.sentences)) for line in ("", note)]
        yield "\n".join([f"## {inline(table.title)}", "", *markdown_table(table), *notes])


def _highest_rates(summary: SummaryDocument) -> str:
    """List the highest rates up to which a limit of latency was kept."""
    table = highest_rates_table(summary.get("cells", []))
    return "\n".join([f"## {table.title}", "", *markdown_table(table)]) if table.rows else ""


def _ceilings(summary: SummaryDocument) -> str:
    """Name the bottleneck of each cell, with its evidence and advice."""
    table = bottleneck_table(summary).only(CELL, BOTTLENECK, EVIDENCE, NEXT, OTHERS)
    notes = [line for sentence in table.sentences for line in ("", f"{sentence}.")]
    return "\n".join([f"## {BOTTLENECKS}", "", *markdown_table(table), *notes]) if table.rows else ""


def _sentences(table: RunTable) -> str:
    """Write a table of names and sentences; nothing without rows."""
    lines = [f"- {code(cell)}: {inline(sentence)}" for cell, sentence in table.texts()]
    return "\n".join([f"## {table.title}", "", *lines]) if lines else ""


def _layers(summary: SummaryDocument) -> str:
    """Write the caches and amplifications between programs and storage, the largest first."""
    table = far_layers_table(summary)
    lines = [f"- {code(cell)}, {inline(label)}: {inline(sentence)}" for cell, label, sentence in table.texts()]
    more = [f"- and {len(lines) - MAX_LAYERS} more, in the report"] if len(lines) > MAX_LAYERS else []
    return "\n".join([f"## {table.title}", "", *lines[:MAX_LAYERS], *more]) if lines else ""


def _markdown_failed(summary: SummaryDocument) -> str:
    table = failed_table(summary).only(CELL, WHY)
    return "\n".join([f"## {table.title}", "", *markdown_table(table)]) if table.rows else ""


def _markdown_warnings(summary: SummaryDocument) -> str:
    warnings = [f"- {inline(warning)}" for warning in warning_lines(summary)]
    return "\n".join(["## Warnings", "", *warnings]) if warnings else ""


def _markdown_resumed(summary: SummaryDocument) -> str:
    """Write which results are an earlier run's, and which cells measured again have samples of earlier runs."""
    table = earlier_runs_table(summary)
    return "\n".join([f"## {table.title}", "", *markdown_table(table)]) if table.rows else ""


def markdown_table(table: RunTable) -> list[str]:
    """Return the lines of a table; its title and its notes are the caller's."""
    heads = [column.head for column in table.columns]
    rules = ["---:" if column.is_figure else "---" for column in table.columns]
    rows = [
        [_written(cell.text, column) for cell, column in zip(row.cells, table.columns, strict=True)]
        for row in table.rows
    ]
    return [table_line(line) for line in (heads, rules, *rows)]


def _written(text: str, column: TableColumn) -> str:
    return code(text) if column.is_code else inline(text)
