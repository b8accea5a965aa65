"""`matrix report`: a page and images from what a run has left, wherever that is."""

import json
from xml.etree import ElementTree

from support.cli_documents import plan_document, rows, summary_document
from support.runs_for_reports import build_run


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
