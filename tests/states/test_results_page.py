"""docs/results.md: its commands, statements and columns, run as they stand there on what Analyse run has written."""

import json
import re
import shlex
from pathlib import Path

import boto3
import duckdb
import jmespath
import pytest
import sqlglot
from support.runs_for_reports import build_run
from typer.testing import CliRunner

from aws.results import rows
from cli.main import app
from matrix.answer.costs import Bill
from matrix.answer.rows import COLUMNS

PAGE = (Path(__file__).parents[2] / "docs" / "results.md").read_text()
SHELL, SQL = (re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL) for language in ("sh", "sql"))
COMMANDS = [command for command in SHELL if command.startswith("aws dynamodb")]
CREATE, *SELECTS, COPY = SQL
CELL = "efs-bursting.build.m6i.large-x4"


@pytest.fixture(scope="module")
def measured():
    """Summary, plan and results of the page's run: builds on EBS and EFS, by one instance and by four."""
    summary, results, planned = build_run({"ebs": {1: 3000.0, 4: 3000.0}, "efs": {1: 3500.0, 4: 3900.0}})
    facts = {"run": "nightly-7", "environment": "aws", "region": "us-east-1", "created_at": 1_795_370_400.0}
    named = {"run": "nightly-7", "environment": "aws", "started_at": facts["created_at"]}
    return summary | named, planned | facts, results


@pytest.fixture
def bucket(stack, measured):
    """The bucket after Analyse run has written the rows, which it has also put into the table."""
    _, planned, results = measured
    assert rows.record_run(planned, results.values(), Bill.of(planned, None)) == []
    return boto3.resource("s3").Bucket(stack["BUCKET"])


@pytest.fixture
def athena(bucket, tmp_path):
    """The bucket's rows in DuckDB, under the name and with the columns of the page's table."""
    lines = tmp_path / "points.jsonl"
    lines.write_bytes(b"".join(each.get()["Body"].read() for each in bucket.objects.filter(Prefix="points/")))
    with duckdb.connect() as database:
        database.register("points", database.read_json(str(lines), columns=dict(COLUMNS), format="newline_delimited"))
        yield database


def answer(command, stack):
    """What a command of AWS's command line answers, by its own expression."""
    _, service, operation, *words = shlex.split(command.replace("\\\n", " ").replace("$TABLE", stack["TABLE"]))
    options = dict(zip(words[::2], words[1::2], strict=True))
    output, shown = options.pop("--output", None), options.pop("--query", "@")
    assert output in (None, "table")
    client = boto3.client(service)
    # moto's PartiQL knows no index; only rows of the index have what these statements ask for.
    options = {name: value.replace('."cell-over-runs"', "") for name, value in options.items()}
    asked = {_camel(name): json.loads(value) if value[0] == "{" else value for name, value in options.items()}
    return jmespath.search(shown, getattr(client, operation.replace("-", "_"))(**asked))


def _camel(option):
    return "".join(word.capitalize() for word in option.strip("-").split("-"))


@pytest.mark.usefixtures("bucket")
def test_each_query_of_the_table_answers_what_the_page_says(stack):
    of_run, over_runs, partiql, of_efs = (answer(command, stack) for command in COMMANDS)

    assert len(of_run) == 4
    assert {row[0] for row in of_run if row[5] in PAGE} == {CELL}
    assert [row[:3] for row in over_runs] == [["2026-11-22T18:00:00Z", "nightly-7", "jobs 4"]]
    assert None not in over_runs[0]
    [row] = partiql["Items"]
    assert (row["run"]["S"], row["p90"]["N"]) == ("nightly-7", over_runs[0][4])
    assert {(row["cell"]["S"], "usd" in row) for row in of_efs["Items"]} == {
        (CELL, True),
        (CELL.replace("x4", "x1"), True),
    }


def test_the_table_of_athena_has_the_columns_of_the_rows():
    [created] = sqlglot.parse(CREATE, read="athena")

    columns = {each.name: each.kind.sql("hive").lower() for each in created.find_all(sqlglot.exp.ColumnDef)}
    assert columns == COLUMNS
    for name in COLUMNS:
        assert f"`{name}`" in PAGE, "the table of attributes lacks it"


def test_each_query_of_athena_answers_what_the_page_says(athena):
    over_time, builds, ceilings, by_params = (
        athena.execute(sqlglot.transpile(query, read="athena", write="duckdb")[0]).fetchall() for query in SELECTS
    )

    [point] = over_time
    assert (point[0].isoformat()[:19], point[1]) == ("2026-11-22T18:00:00", "nightly-7")
    assert [row[2] for row in builds] == [1, 1, 4, 4]
    assert all(row[4] > 0 for row in builds)
    assert builds[0][4] < builds[1][4], "the cheapest comes first"
    assert sum(row[2] for row in ceilings) == 4
    assert by_params == []


def test_athena_copies_the_rows_into_parquet():
    [copied] = sqlglot.parse(COPY, read="athena")

    assert copied.find(sqlglot.exp.FileFormatProperty).name.upper() == "PARQUET"
    assert copied.expression.sql() == "SELECT * FROM points"


def test_the_command_writes_the_rows_of_the_bucket(measured, tmp_path, monkeypatch, athena):
    kept = tmp_path / "runs" / "nightly-7"
    monkeypatch.setenv("MATRIX_WORKDIR", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    kept.mkdir(parents=True)
    for name, document in zip(("summary.json", "plan.json"), measured, strict=False):
        (kept / name).write_text(json.dumps(document))
    [command, query] = [line for line in "".join(SHELL).splitlines() if line.startswith(("matrix results", "duckdb"))]
    words, _, file = command.partition(" > ")

    Path(file).write_bytes(CliRunner().invoke(app, shlex.split(words)[1:]).stdout_bytes)

    columns = ", ".join(f"'{name}': '{type_}'" for name, type_ in COLUMNS.items())
    written = f"read_json('{file}', columns={{{columns}}}, format='newline_delimited')"
    ours, theirs = (
        athena.execute(f"SELECT * FROM {rows} ORDER BY cell, metric").fetchall() for rows in (written, "points")
    )
    assert ours == theirs
    assert len(athena.execute(shlex.split(query)[2]).fetchall()) == 4
