"""Sizes, as people write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matrix.terms.sizes import NotASize, format_size, parse_size


@pytest.mark.parametrize(
    ("text", "size"),
    [("2GiB", 2147483648), ("1MiB", 1048576), ("500MB", 500_000_000), ("4 KiB", 4096), ("7", 7), (7, 7), ("1kB", 1000)],
)
def test_a_size_is_read_as_bytes(text, size):
    assert parse_size(text) == size


@pytest.mark.parametrize(
    "text", ["", "GiB", "1.5GiB", "-1MiB", "0", 0, -1, True, 1.0, None, "1 gib", "9" * 19, "2000TiB"]
)
def test_what_is_not_a_size_is_refused(text):
    with pytest.raises(NotASize):
        parse_size(text)


@given(st.integers(min_value=1, max_value=2**50))
def test_a_written_size_reads_back_as_the_same(size):
    assert parse_size(format_size(size)) == size
