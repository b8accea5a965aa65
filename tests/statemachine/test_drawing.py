"""The README's drawing is made from the definition and nothing else."""

import importlib.util
import json
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_drawing_in_the_readme_is_that_of_the_definition():
    spec = importlib.util.spec_from_file_location("draw", ROOT / "statemachine/draw.py")
    draw = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(draw)

    drawn = draw.drawing(json.loads((ROOT / "statemachine/run.asl.json").read_text()))

    assert f"```mermaid\n{drawn}\n```" in (ROOT / "README.md").read_text(), "run `make graph`"
