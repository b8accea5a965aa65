"""One local cloud for all records."""

from collections.abc import Iterator

import pytest
from support.runs import Cloud, start_cloud


@pytest.fixture(scope="session")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    """A cloud as `matrix verify --local` finds it."""
    with start_cloud(tmp_path_factory.mktemp("cloud")) as started:
        yield started
