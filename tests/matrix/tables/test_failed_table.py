"""The table of cells without a result."""

from support.cli_documents import summary_document

from matrix.tables.failed_table import failed_table


def failed_run(**changes):
    """Two cells of one storage that failed: the large fleet ran first."""
    [cell, *_] = summary_document(states=("failed", "failed"))["cells"]
    cells = [
        cell | {"id": f"c{count}", "fleet": {"instanceType": "m6i.large", "count": count}} | changes
        for count in (10, 2)
    ]
    return summary_document() | {"cells": cells}


def test_cells_without_a_result_stand_in_reading_order_whatever_order_they_ran_in():
    table = failed_table(failed_run())

    assert [*table.texts("Cell", "Fleet", "State")] == [
        ("c2", "2 × m6i.large", "failed"),
        ("c10", "10 × m6i.large", "failed"),
    ]


def test_a_cell_without_an_error_has_its_state():
    assert [*failed_table(failed_run(error=None)).texts("Why")] == [("failed",), ("failed",)]


def test_what_others_did_not_publish_is_not_a_failure():
    summary = failed_run() | {"environment": "published"}

    assert {*failed_table(summary).texts("State")} == {("not published",)}
