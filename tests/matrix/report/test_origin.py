"""The line of a page that says what it was drawn from: nothing that decides what it looks like can change unseen."""

import pytest

from matrix.report import origin

PAGE = '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>r</title></head><body>7</body></html>\n'
RESULT = "cells/a/result.json"
DOCUMENTS = {"summary.json": "s", "receipt.json": "r", "plan.json": "p", RESULT: "1"}


@pytest.fixture
def page():
    """A page that was drawn from these documents."""
    return origin.marked(PAGE, DOCUMENTS)


def test_a_page_is_current_while_nothing_has_changed(page):
    assert origin.is_current(page, DOCUMENTS)
    assert origin.is_current(
        page, DOCUMENTS | {"summary.md": "m", "cells/a/job.json": "j", "cells/a/i/result.json": "x"}
    )


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_that_is_corrected_or_removed_or_new_makes_a_page_old(name, page):
    without = {other: known for other, known in DOCUMENTS.items() if other != name}

    assert not origin.is_current(page, DOCUMENTS | {name: "corrected"})
    assert not origin.is_current(page, without)
    assert not origin.is_current(origin.marked(PAGE, without), DOCUMENTS)


def test_two_results_that_changed_places_make_a_page_old():
    results = {"cells/a/result.json": "1", "cells/b/result.json": "2"}

    assert not origin.is_current(origin.marked(PAGE, results), dict(zip(results, ["2", "1"], strict=True)))


@pytest.mark.parametrize(
    "changed",
    [
        lambda page: page[:-8],
        lambda page: page.replace("7", "8"),
        lambda page: page.replace('content="', 'content="0', 1),
        lambda page: page.replace("<title>", '<meta name="drawn-from" content=""><title>'),
        lambda _: PAGE,
        lambda _: "<!DOCTYPE html>",
    ],
)
def test_a_page_that_is_cut_off_or_edited_or_says_nothing_is_not_current(changed, page):
    assert not origin.is_current(changed(page), DOCUMENTS)


def test_a_page_of_other_code_is_old(page, monkeypatch):
    monkeypatch.setattr(origin, "code", lambda: "edited")

    assert not origin.is_current(page, DOCUMENTS)


def test_any_source_of_the_core_counts_and_what_python_makes_of_them_does_not(tmp_path):
    (tmp_path / "report").mkdir()
    source, style = tmp_path / "report/page.py", tmp_path / "report/page.css"
    source.write_text("1")
    style.write_text("2")

    def code():
        origin.code.cache_clear()
        return origin.code(tmp_path)

    seen = [code()]
    (tmp_path / "report/page.pyc").write_text("compiled")
    assert code() == seen[0]
    edits = (lambda: style.write_text("3"), lambda: source.rename(tmp_path / "page.py"), (tmp_path / "new.js").touch)
    for change in edits:
        change()
        seen.append(code())
    assert len(set(seen)) == len(seen)
    assert (origin.CORE / "report/origin.py").is_file()


def test_a_page_with_the_receipt_of_the_sweep_is_current_for_the_summary_that_has_it_too(page):
    settled = page.replace("7", "8")

    after = origin.carried_over(page, settled, summary=("s", "s2"), receipt="r2")

    assert origin.is_current(after, DOCUMENTS | {"summary.json": "s2", "receipt.json": "r2"})
    assert not origin.is_current(after, DOCUMENTS)
    assert after.replace(after[after.index("<meta name") : after.index("<title>")], "") == PAGE.replace("7", "8")


@pytest.mark.parametrize(
    "before",
    [
        PAGE,
        origin.marked(PAGE, DOCUMENTS).replace("7", "9"),
        PAGE.replace("<title>", '<meta name="drawn-from" content="1"><title>'),
    ],
)
def test_a_page_that_was_not_current_is_not_after_the_sweep_either(before):
    after = origin.carried_over(before, before.replace("</body>", "!</body>"), summary=("s", "s2"), receipt="r2")

    assert "!" in after
    assert not origin.is_current(after, DOCUMENTS | {"summary.json": "s2", "receipt.json": "r2"})


def test_a_summary_that_was_corrected_before_the_sweep_leaves_a_page_without_its_line(page):
    after = origin.carried_over(page, page, summary=("corrected", "s2"), receipt="r2")

    assert after == PAGE
