"""Which tests belong to which tier: `make quick`, `make test`, `make test-all` (CONTRIBUTING.md)."""

from pathlib import Path

import pytest

TESTS = Path(__file__).parent
# Folders whose tests start a local cloud, whole runs or emulated machines.
SYSTEM = ("local", "system", "faults")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what starts a cloud or a fleet of agents as `system`, but for the smoke run of `make test`."""
    for item in items:
        folder = item.path.relative_to(TESTS).parts[0]
        starts_agents = folder == "agent" and "fleet" in getattr(item, "fixturenames", ())
        if (folder in SYSTEM or starts_agents) and not item.get_closest_marker("smoke"):
            item.add_marker("system")
