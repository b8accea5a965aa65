"""The console's only access to data. Tests replace both parts by fakes."""

from dataclasses import dataclass

from cli.target.service import Service
from cli.target.traces import Traces


@dataclass(frozen=True)
class Source:
    """A deployment as the console sees it."""

    commands: Service
    """What commands show too."""
    traces: Traces
    environment: str
    """local or aws."""
    flag: str = ""
    """The option by which commands choose it."""
