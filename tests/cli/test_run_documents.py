"""Each document of a run is read as the type that it was checked to be."""

from pathlib import PurePosixPath
from types import SimpleNamespace
from typing import get_args, get_type_hints

import pytest

from cli.target.run_documents import RunDocuments
from matrix.terms.documents.reading import DOCUMENTS


@pytest.mark.parametrize(
    ("member", "asked"),
    [
        (RunDocuments.plan, ()),
        (RunDocuments.receipt, ()),
        (RunDocuments.result, ("cell",)),
        (RunDocuments.written_summary, ()),
    ],
)
def test_a_document_has_the_type_that_its_name_is_checked_by(member, asked):
    names = []
    store = SimpleNamespace(document=lambda run, name: names.append(name))

    member(RunDocuments(store, "r"), *asked)

    assert get_args(get_type_hints(member)["return"])[0] is DOCUMENTS[PurePosixPath(names[0]).stem]
