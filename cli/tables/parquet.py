"""A run's figures as Parquet, for whatever reads that: the same rows and columns as in the table and for Athena."""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from cli.messages.errors import CommandError, ExitCode
from matrix.answer.rows import COLUMNS, Row, to_json_lines


def to_parquet(rows: Sequence[Row]) -> bytes:
    """Return rows as one Parquet file. Raises CommandError where DuckDB, which writes it, is not installed."""
    try:
        import duckdb
    except ImportError as error:
        raise CommandError(
            "Parquet is written by DuckDB, which is not installed",
            'install it: `pip install "storage-matrix[parquet]"`, in a clone `.venv/bin/uv pip install duckdb`; '
            "or take --format csv",
            ExitCode.BAD_INPUT,
        ) from error
    with TemporaryDirectory() as folder, duckdb.connect() as database:
        lines, file = Path(folder, "rows.jsonl"), Path(folder, "rows.parquet")
        lines.write_text(to_json_lines(rows))
        points = database.read_json(str(lines), columns=dict(COLUMNS), format="newline_delimited")
        points.write_parquet(str(file))
        return file.read_bytes()
