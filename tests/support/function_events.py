"""The example events of the functions, which `sam local invoke --event` takes too."""

import json
from pathlib import Path
from typing import Any

RUN = "builds-1"
EVENTS = Path(__file__).parents[2] / "events" / "functions"


def load_event(name: str) -> dict[str, Any]:
    """Return the example event of a function."""
    return json.loads((EVENTS / f"{name}.json").read_text())
