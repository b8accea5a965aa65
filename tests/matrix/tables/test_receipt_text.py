"""The receipt in the Markdown summary, before and after the sweep that follows a run."""

from support.runs_for_reports import swept_run

from matrix.report.markdown import to_markdown
from matrix.tables.receipt_text import settled_markdown


def test_a_settled_summary_is_what_would_be_written_anew():
    at_end, swept, _, _ = swept_run()

    settled = settled_markdown(to_markdown(at_end), swept)

    assert settled == to_markdown(swept)
    assert "**still there**" in to_markdown(at_end)
    assert "still there" not in settled


def test_a_name_with_the_heading_of_the_receipt_does_not_cut_the_summary():
    at_end, swept, _, _ = swept_run()
    named = {"name": "x\n\n## Receipt\ny"}

    settled = settled_markdown(to_markdown(at_end | named), swept | named)

    assert settled == to_markdown(swept | named)


def test_a_summary_without_a_receipt_gets_one_at_its_end():
    _, swept, _, _ = swept_run()
    without = {name: value for name, value in swept.items() if name != "receipt"}

    assert settled_markdown(to_markdown(without), swept) == to_markdown(swept)
