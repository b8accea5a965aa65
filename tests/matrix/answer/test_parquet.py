"""Our Parquet files, read by DuckDB: another implementation of the format."""

from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from matrix.answer.parquet import parquet_file
from matrix.answer.rows import COLUMNS

TYPES = {"t": "string", "n": "int", "x": "double", "b": "boolean"}
VALUES = {
    "t": st.text(st.characters(exclude_categories=["Cs"])),
    "n": st.integers(-(2**31), 2**31 - 1),
    "x": st.floats(allow_nan=False),
    "b": st.booleans(),
}
ROW = st.fixed_dictionaries({}, optional=VALUES)


def read(file: bytes) -> tuple[list[tuple[str, str]], list[tuple]]:
    """The columns with their types, and the rows, as DuckDB reads a file."""
    with TemporaryDirectory() as folder, duckdb.connect() as database:
        path = Path(folder, "rows.parquet")
        path.write_bytes(file)
        answer = database.execute(f"SELECT * FROM '{path}'")
        return [(name, str(type_)) for name, type_, *_ in answer.description], answer.fetchall()


@settings(max_examples=60, deadline=None)
@given(st.lists(ROW, max_size=40))
def test_what_was_written_is_read(rows):
    _, found = read(parquet_file(rows, TYPES))

    assert found == [tuple(row.get(name) for name in TYPES) for row in rows]


def test_columns_have_the_types_that_were_said_also_without_a_row():
    names, rows = read(parquet_file([], TYPES))

    assert names == [("t", "VARCHAR"), ("n", "INTEGER"), ("x", "DOUBLE"), ("b", "BOOLEAN")]
    assert rows == []


@pytest.mark.parametrize("count", [7, 8, 9, 127, 128, 20_000])
def test_lengths_at_which_a_number_takes_one_more_byte(count):
    rows = [{"b": place % 3 == 0, "t": "ä" * (place % 130)} if place % 5 else {} for place in range(count)]

    _, found = read(parquet_file(rows, TYPES))

    assert found == [(row.get("t"), None, None, row.get("b")) for row in rows]


def test_the_same_rows_are_the_same_file():
    rows = [{"t": "a", "x": 1.5}]

    assert parquet_file(rows, TYPES) == parquet_file(rows, TYPES)


def test_every_column_of_a_row_has_a_type_that_parquet_has():
    assert [name for name, _ in read(parquet_file([], COLUMNS))[0]] == list(COLUMNS)
