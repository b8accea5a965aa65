"""The tables of how much of the work of one layer the next one saw."""

import pytest
from support.cli_documents import summary_document

from matrix.report.page import view_of
from matrix.report.parts import layers
from matrix.tables.layers_table import all_layers_table, far_layers_table


@pytest.fixture
def passed():
    """A point of which a cache answered nine of ten bytes read, and hardly any of those written."""
    summary = summary_document()
    [cell, *others] = summary["cells"]
    layer = {"counts": "bytes", "above": "programs", "below": "mount", "asked": 100.0}
    cell["points"][0]["layers"] = [
        layer | {"way": "write", "seen": 101.0, "ratio": 1.01},
        layer | {"way": "read", "seen": 10.0, "ratio": 0.1},
    ]
    return summary | {"cells": [cell, *others]}


def test_only_a_ratio_far_from_1_is_a_sentence(passed):
    [(cell, label, sentence)] = far_layers_table(passed).texts()

    assert (cell, label) == (passed["cells"][0]["id"], "threads 1")
    assert sentence == "the mount saw 0.100 of the bytes that programs read: the instance's cache answered the rest"


def test_the_table_of_all_has_each_ratio_and_why_it_is_far(passed):
    assert [row[2:] for row in all_layers_table(passed).texts()] == [
        ("write", "bytes", "programs → mount", "100", "101", "1.01", "–"),
        ("read", "bytes", "programs → mount", "100", "10.0", "0.100", "the instance's cache answered the rest"),
    ]


def test_the_page_says_what_is_far_and_folds_the_table_of_all(passed):
    section = layers(view_of(passed)).text

    assert section.count("<li>") == 1
    assert "the mount saw 0.100 of the bytes that programs read" in section
    assert "All 2 ratios" in section


def test_a_run_that_counted_nothing_below_its_programs_has_no_rows():
    assert not all_layers_table(summary_document()).rows
    assert not far_layers_table(summary_document()).rows
    assert not layers(view_of(summary_document())).text
