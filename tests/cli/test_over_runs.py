"""`matrix history` of a stack: runs that Step Functions has forgotten are found by the table's index."""

import pytest
from support.cli_documents import CELLS, summary_document
from support.refusals import refusing

from cli.target import over_runs
from cli.target.place import Place
from cli.target.service import Service
from matrix.answer.rows import Origin, rows_of

OF_2026 = 1_795_370_400.0


def keep(stack, run, days, *, name="ebs-gp3"):
    """What a run leaves in bucket and table; `name` is what its matrix calls the storage."""
    summary = summary_document(run, environment="aws") | {"started_at": OF_2026 + 86_400 * days}
    origin = Origin(run, "small", "aws", "eu-central-1", summary["started_at"])
    for cell in summary["cells"]:
        cell["id"] = cell["id"].replace("ebs-gp3", name)
        rows = list(rows_of(origin, cell, None))
        stack.write_rows(run, ({**row, "SK": f"RESULT#{cell['id']}#{row['point']}"} for row in whole(rows)))
    stack.write_document(run, "summary.json", summary)


def whole(rows):
    """Rows with figures that DynamoDB's serializer takes."""
    return [{name: str(value) if isinstance(value, float) else value for name, value in row.items()} for row in rows]


def test_a_cell_is_followed_over_runs_that_step_functions_has_forgotten_whatever_they_call_it(stack, matrix):
    keep(stack, "forgotten", -100, name="disk")
    keep(stack, "other", -99)
    keep(stack, "newest", 0)
    stack.start("newest")

    seen = matrix("history", CELLS[0], "--stack", "mine")

    assert seen.exit_code == 0, seen.output
    # Below each table a line may say where too little was measured.
    tables = [table.splitlines()[2:5] for table in seen.stdout.split("\n\n")]
    first, second = ([row.split()[0] for row in rows] for rows in tables)
    assert first == second == ["forgotten", "other", "newest"]


def test_what_no_newest_run_has_measured_is_looked_for_in_the_whole_index(stack, matrix):
    keep(stack, "forgotten", -100)
    stack.start("newest")

    assert "forgotten" in matrix("history", CELLS[1], "--stack", "mine").stdout
    assert over_runs.runs_of(Place(stack="mine").service().rows, "no-such-cell", ["newest"]) == []


@pytest.mark.parametrize("code", ["ValidationException", "AccessDeniedException"])
def test_a_table_without_the_index_is_told_and_the_newest_runs_are_shown(stack, matrix, monkeypatch, code):
    keep(stack, "forgotten", -100)
    keep(stack, "newest", 0)
    stack.start("newest")

    monkeypatch.setattr(Service, "rows", refusing(code))

    seen = matrix("history", CELLS[0], "--stack", "mine")

    assert "newest" in seen.stdout
    assert "forgotten" not in seen.stdout
    assert "only the newest runs are looked at" in seen.stderr
