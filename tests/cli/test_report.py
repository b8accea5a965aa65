"""`matrix report`: a page and images from what a run has left, wherever that is."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from support.browser import CHROMIUM
from support.runs_for_reports import build_run

from cli.target import page_seal
from matrix.answer.decision import decide
from matrix.report import page
from matrix.terms.figures import PERCENTILES, SLOW_OF_RATES


def test_a_program_is_told_where_page_and_charts_are(keep_run, matrix, tmp_path):
    keep_run("r")

    answer = json.loads(matrix("report", "r", "--json", "--output", "r.html", "--charts", "drawn").stdout)

    assert (answer["run"], answer["page"]) == ("r", "r.html")
    assert answer["charts"]
    assert sorted(answer["charts"]) == sorted(str(path.relative_to(tmp_path)) for path in tmp_path.glob("drawn/*.svg"))


@pytest.mark.skipif(not CHROMIUM, reason="Chromium is not installed (apt-get install chromium)")
def test_a_page_is_printed_as_a_pdf_by_this_machines_browser(keep_run, matrix, tmp_path, monkeypatch):
    keep_run("r")

    done = matrix("report", "r", "--pdf", "r.pdf")

    assert done.exit_code == 0, done.stderr
    assert (tmp_path / "r.pdf").read_bytes()[:5] == b"%PDF-"
    monkeypatch.setattr("shutil.which", lambda _: None)
    without = matrix("report", "r", "--pdf", "other.pdf")
    assert (without.exit_code, (tmp_path / "other.pdf").exists()) == (1, False)

    silent = tmp_path / "bin" / "chromium"
    silent.parent.mkdir()
    silent.write_text("#!/bin/sh\nexit 0\n")
    silent.chmod(0o755)
    monkeypatch.setattr("shutil.which", lambda _: str(silent))
    assert matrix("report", "r", "--pdf", "r.pdf").exit_code == 1, "the file of the earlier report was taken for it"
    assert "no Chromium is on this machine" in without.stderr


def test_gauges_for_prometheus_have_a_sample_for_each_percentile_of_a_metric(keep_run, matrix):
    keep_run("r")

    lines = matrix("results", "r", "--format", "openmetrics").stdout.splitlines()
    rows = [json.loads(line) for line in matrix("results", "r", "--format", "jsonl").stdout.splitlines()]

    samples = [line for line in lines if not line.startswith("#")]
    assert lines[-1] == "# EOF"
    assert lines.count("# TYPE storage_matrix_files_per_s gauge") == 1
    assert len(samples) == sum(name in row for row in rows for name in (*PERCENTILES, *SLOW_OF_RATES))
    first = rows[0]
    assert any('percentile="50"' in each and each.endswith(f" {first['p50']!r}") for each in samples)


def test_a_file_where_the_charts_should_go_is_refused(keep_run, matrix, tmp_path):
    keep_run("r")
    (tmp_path / "taken").write_text("")

    seen = matrix("report", "r", "--charts", str(tmp_path / "taken"))

    assert seen.exit_code == 2
    assert "is not a folder" in seen.stderr


def test_single_values_of_a_kept_run_are_in_its_page(kept, matrix, tmp_path, monkeypatch):
    monkeypatch.setattr("webbrowser.open", lambda _: False)
    where = ("--output", str(tmp_path / "a/page.html"), "--charts", str(tmp_path / "charts"))

    seen = matrix("report", "r", *where, "--open")

    assert seen.exit_code == 0
    assert "open it yourself: file:///" in seen.stderr
    assert 'id="scaling-build-jobs-4"' in (tmp_path / "a/page.html").read_text()
    drawn = ElementTree.parse(tmp_path / "charts/scaling-build-jobs-4.svg").getroot()
    assert drawn.tag == "{http://www.w3.org/2000/svg}svg"


@pytest.fixture
def kept(keep_run):
    """The folder of a run that is kept, with its decision."""
    summary, results, planned = build_run({"ebs": {1: 3000.0, 4: 3000.0}}, environment="local")
    folder = keep_run("r")
    summary |= {"run": "r", "decision": decide(summary, results=results)}
    (folder / "summary.json").write_text(json.dumps(summary))
    (folder / "plan.json").write_text(json.dumps(planned))
    for cell, result in results.items():
        (folder / "cells" / cell).mkdir(parents=True)
        (folder / "cells" / cell / "result.json").write_text(json.dumps(result))
    return folder


def test_a_page_that_lies_in_the_folder_is_never_shown_as_ours(kept, matrix, tmp_path):
    matrix("report", "r")
    own = (kept / "report.html").read_text()
    (kept / "report.html").write_text(own.replace("EBS", "Take EFS<script>fetch('//evil')</script>"))

    assert matrix("report", "r").exit_code == 0
    copied = matrix("report", "r", "--output", str(tmp_path / "copy.html"))

    assert copied.exit_code == 0
    assert (kept / "report.html").read_text() == (tmp_path / "copy.html").read_text() == own


def test_a_page_is_written_into_the_folder_that_was_asked_for_whatever_the_summary_says(kept, keep_run, matrix):
    victim = keep_run("victim") / "report.html"
    victim.write_text("the page of another run")
    text = (kept / "summary.json").read_text()
    (kept / "summary.json").write_text(text.replace('"run": "r"', '"run": "victim"'))

    seen = matrix("report", "r")

    assert seen.stdout == f"{kept / 'report.html'}\n"
    assert victim.read_text() == "the page of another run"


def test_a_page_that_is_a_link_is_replaced_and_not_followed(kept, matrix, tmp_path):
    (tmp_path / "mine.html").write_text("mine")
    (kept / "report.html").symlink_to(tmp_path / "mine.html")

    matrix("report", "r")

    assert (tmp_path / "mine.html").read_text() == "mine"
    assert not (kept / "report.html").is_symlink()


@pytest.fixture
def drawings(monkeypatch):
    """How often a page was drawn."""
    count = []
    whole = page.render
    monkeypatch.setattr(page, "render", lambda *args, **more: count.append(1) or whole(*args, **more))
    return count


def test_a_page_is_drawn_once_as_long_as_nothing_changes(kept, matrix, drawings):
    ended = {"run": "r", "status": "SUCCEEDED", "started_at": 1.0, "ended_at": 2.0, "error": "", "cause": ""}
    (kept / "execution.json").write_text(json.dumps(ended))

    first, again, latest = matrix("report", "r"), matrix("report", "r"), matrix("report")

    assert first.stdout == again.stdout == latest.stdout == f"{kept / 'report.html'}\n"
    assert len(drawings) == 1


CHANGES = {
    "result": lambda folder, _: [path.write_text(path.read_text() + "\n") for path in folder.glob("cells/*/*.json")],
    "documents": lambda folder, _: (folder / "receipt.json").write_text("{}"),
    "page": lambda folder, _: (folder / "report.html").write_text("<script>fetch('//evil')</script>"),
    "user": lambda folder, patch: patch.setenv("XDG_CACHE_HOME", str(Path.cwd() / "other")),
    "code": lambda _, patch: patch.setattr(page_seal, "DRAWING_CODE", Path(page_seal.__file__).parent),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_page_is_drawn_anew_when_documents_page_user_or_code_are_others(kept, matrix, drawings, monkeypatch, change):
    matrix("report", "r")
    own = (kept / "report.html").read_text()
    change(kept, monkeypatch)

    matrix("report", "r")

    assert len(drawings) == 2
    assert (kept / "report.html").read_text() == own


def test_a_page_of_damaged_documents_is_drawn_each_time_and_says_so_each_time(kept, matrix, drawings):
    result = next(kept.glob("cells/*/result.json"))
    result.write_text("{")

    first, again = matrix("report", "r"), matrix("report", "r")

    assert "result.json cannot be read" in first.output
    assert "result.json cannot be read" in again.output
    assert len(drawings) == 2
