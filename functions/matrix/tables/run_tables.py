"""The tables of a run that follow its percentiles, and the one of its answer: terminal and Markdown write the same."""

from collections.abc import Iterator

from matrix.input.storage_names import candidate_names
from matrix.tables.best_table import best_table, largest
from matrix.tables.bottleneck_table import bottleneck_tables
from matrix.tables.directories_table import directories_table
from matrix.tables.earlier_runs import earlier_runs_table
from matrix.tables.failed_table import failed_table
from matrix.tables.highest_rates import highest_rates_table
from matrix.tables.ranking_table import ranking_table
from matrix.tables.service_times_table import service_times_table
from matrix.tables.table import Table
from matrix.terms.documents.summary import Decision, QuotedAnswer, SummaryDocument
from matrix.terms.verdicts import has_winner, judged, leading, ranked_of, winner
from matrix.text.headlines import headline, question_headline
from matrix.text.rankings import Name, cost_unit


def answer_table(summary: SummaryDocument, decision: Decision, name: Name, most: int) -> Table | None:
    """Return the ranking of the only comparison, or the best of each of several, of the `most` largest fleets."""
    questions = [question for question in decision["questions"] if judged(question)]
    if len(questions) == 1:
        return ranking_table(summary, decision, questions[0], name)
    if questions:
        return best_table(summary, decision, largest(questions, most), name, of=len(questions))
    return None


def quoted_answer(summary: SummaryDocument, decision: Decision) -> QuotedAnswer:
    """Return the answer of a run for scripts."""
    name = candidate_names(summary)
    questions, overview = decision["questions"], headline(decision, name)
    answer = QuotedAnswer(
        headline=overview, overview=overview, fleet=None, storage=None, figure=None, unit=None, cost=None
    )
    first = leading(questions)
    if first is None:
        return answer
    question = questions[first]
    answer |= {"headline": f"{question_headline(question, decision, name)}.", "fleet": question["fleet"]}
    best = winner(question)
    if best and has_winner(question):
        answer |= {"storage": name(best), "figure": ranked_of(best), "unit": question["unit"]}
        answer["cost"] = best["cost"] if cost_unit(question, decision) else None
    return answer


def other_tables(summary: SummaryDocument) -> Iterator[Table]:
    """Yield the tables that have rows."""
    every = (
        highest_rates_table(summary.get("cells", [])),
        *bottleneck_tables(summary)[:1],
        directories_table(summary),
        service_times_table(summary),
        failed_table(summary),
        earlier_runs_table(summary),
    )
    return (table for table in every if table.rows)
