"""`matrix report`: a page and images from what a run has left, wherever that is."""

import json
import os
import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest
from support.cli_documents import plan_document, rows, summary_document
from support.runs_for_reports import build_run

from cli.target import summaries
from matrix.answer.decision import decide
from matrix.report.page import render

RECEIPT = Path(__file__).parents[1] / "matrix/terms/documents_of_a_run/receipt.json"


def test_the_page_of_a_kept_run_is_written_beside_its_results(keep_run, matrix, workdir):
    keep_run("r")

    seen = matrix("report", "r")

    assert seen.exit_code == 0
    assert seen.stdout.strip() == str(workdir / "runs/r/report.html")
    assert "<!DOCTYPE html>" in (workdir / "runs/r/report.html").read_text()


def test_single_values_of_a_kept_run_are_in_its_page(keep_run, matrix, workdir, tmp_path):
    summary, results, planned = build_run({"ebs": {4: 3000.0}}, environment="local")
    folder = keep_run("r")
    (folder / "summary.json").write_text(json.dumps(summary | {"run": "r"}))
    (folder / "plan.json").write_text(json.dumps(planned))
    for cell, result in results.items():
        (folder / "cells" / cell).mkdir(parents=True)
        (folder / "cells" / cell / "result.json").write_text(json.dumps(result))

    seen = matrix("report", "r", "--output", str(tmp_path / "a/page.html"), "--charts", str(tmp_path / "charts"))

    assert seen.exit_code == 0
    assert 'id="skew"' in (tmp_path / "a/page.html").read_text()
    assert {"skew.svg", "bands-build.svg"} <= {path.name for path in (tmp_path / "charts").iterdir()}
    assert ElementTree.parse(tmp_path / "charts/skew.svg").getroot().tag == "{http://www.w3.org/2000/svg}svg"


def test_the_page_of_a_run_in_the_bucket_is_drawn_here(cloud, matrix, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cloud.start("r")
    cloud.write_rows("r", rows())
    cloud.write_document("r", "plan.json", plan_document())
    cloud.write_document("r", "summary.json", summary_document("r"))

    seen = matrix("report", "r", "--local")

    assert seen.exit_code == 0
    assert "r-report.html" in seen.stdout or "runs/r/report.html" in seen.stdout


def test_published_builds_have_a_page(matrix, workdir):
    matrix("import-published")

    assert matrix("report", "published-yocto").exit_code == 0
    assert "FSx OpenZFS" in (workdir / "runs/published-yocto/report.html").read_text()


def test_a_machine_without_a_browser_gets_its_page_and_where_it_is(keep_run, matrix, monkeypatch):
    keep_run("r")
    monkeypatch.setattr("webbrowser.open", lambda _: False)

    seen = matrix("report", "r", "--open")

    assert seen.exit_code == 0
    assert "open it yourself: file:///" in seen.stderr


def test_a_file_where_the_charts_should_go_is_refused(keep_run, matrix, tmp_path):
    keep_run("r")
    (tmp_path / "taken").write_text("")

    seen = matrix("report", "r", "--charts", str(tmp_path / "taken"))

    assert seen.exit_code == 2
    assert "is no folder" in seen.stderr


@pytest.fixture
def kept(keep_run):
    """The folder of a run that is kept, with its decision."""
    summary, results, planned = build_run({"ebs": {4: 3000.0}}, environment="local")
    folder = keep_run("r")
    summary |= {"run": "r", "decision": decide(summary, results=results)}
    (folder / "summary.json").write_text(json.dumps(summary))
    (folder / "plan.json").write_text(json.dumps(planned))
    for cell, result in results.items():
        (folder / "cells" / cell).mkdir(parents=True)
        (folder / "cells" / cell / "result.json").write_text(json.dumps(result))
    return folder


@pytest.fixture
def drawn(monkeypatch):
    """How often a page was drawn; each says so in its title."""
    pages = []

    def draw(summary, **known):
        pages.append(summary)
        return render({**summary, "name": f"drawing {len(pages)}"}, **known)

    monkeypatch.setattr("matrix.report.page.render", draw)
    return pages


def test_a_page_that_is_current_is_shown_as_it_is(kept, matrix, drawn, tmp_path):
    first = matrix("report", "r")
    page = (kept / "report.html").read_text()

    again, latest = matrix("report", "r"), matrix("report")
    copied = matrix("report", "r", "--local", "--output", str(tmp_path / "copy.html"))

    assert len(drawn) == 1
    assert first.stdout == again.stdout == latest.stdout == f"{kept / 'report.html'}\n"
    assert copied.exit_code == 0
    assert (tmp_path / "copy.html").read_text() == (kept / "report.html").read_text() == page


def _correct_the_summary(kept):
    text = (kept / "summary.json").read_text()
    (kept / "summary.json").write_text(text.replace('"finished_at": 5000.0', '"finished_at": 5001.0'))


def _correct_a_result(kept):
    [path] = kept.glob("cells/*/result.json")
    # Neither its size nor its time tells that it is another.
    time = path.stat()
    path.write_text(path.read_text().replace('"i-0001"', '"i-0009"'))
    os.utime(path, ns=(time.st_atime_ns, time.st_mtime_ns))


def _remove_the_results(kept):
    for path in kept.glob("cells/*/result.json"):
        path.unlink()


def _add_a_receipt(kept):
    shutil.copy(RECEIPT, kept / "receipt.json")


def _remove_the_plan(kept):
    (kept / "plan.json").unlink()


def _cut_off_the_page(kept):
    page = (kept / "report.html").read_text()
    (kept / "report.html").write_text(page[: len(page) // 2])


def _link_the_page(kept):
    (kept / "report.html").rename(kept / "mine.html")
    (kept / "report.html").symlink_to(kept / "mine.html")


def _link_a_result(kept):
    [path] = kept.glob("cells/*/result.json")
    path.rename(kept / "mine.json")
    path.symlink_to(kept / "mine.json")


@pytest.mark.parametrize(
    "change",
    [_correct_the_summary, _correct_a_result, _remove_the_results, _add_a_receipt, _remove_the_plan, _cut_off_the_page,
     _link_the_page, _link_a_result],
)  # fmt: skip
def test_a_page_that_is_not_current_is_drawn_anew(kept, matrix, drawn, change):
    matrix("report", "r")
    change(kept)

    matrix("report", "r")

    assert len(drawn) == 2
    assert "drawing 2" in (kept / "report.html").read_text()


@pytest.mark.parametrize("how", [["--redraw"], ["--charts", "charts"]])
def test_a_page_is_drawn_anew_where_that_is_asked_for(kept, matrix, drawn, how, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    matrix("report", "r")

    matrix("report", "r", *how)

    assert len(drawn) == 2


def test_a_page_of_other_code_is_drawn_anew(kept, matrix, drawn, monkeypatch):
    matrix("report", "r")
    monkeypatch.setattr("matrix.report.origin.code", lambda: "edited")

    matrix("report", "r")

    assert len(drawn) == 2


def test_a_page_that_lacks_a_damaged_document_is_not_current(kept, matrix, drawn):
    (kept / "plan.json").write_text("{")

    seen = [matrix("report", "r").exit_code for _ in range(2)]

    assert (len(drawn), seen) == (2, [seen[0]] * 2)
    assert seen[0] != 0


def test_a_document_that_changes_while_a_page_is_drawn_makes_it_old(kept, matrix, drawn, monkeypatch):
    find = summaries.find

    def find_late(*arguments, **options):
        _correct_the_summary(kept)
        monkeypatch.setattr("cli.commands.report.find", find)
        return find(*arguments, **options)

    monkeypatch.setattr("cli.commands.report.find", find_late)
    matrix("report", "r")

    matrix("report", "r")

    assert len(drawn) == 2
