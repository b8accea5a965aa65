"""`python -m bench.engines [DIRECTORY]`: the project's engines beside reference tools, each against its bar."""

from __future__ import annotations

import argparse
import itertools
import json
import sys
from dataclasses import asdict
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "functions")]

from bench import blocks, creates, merging, phases, serving  # noqa: E402 - found by the path above
from bench.places import place  # noqa: E402


def main() -> int:
    """Print one line per bar as it is measured; with --strict a missed bar is exit status 1."""
    arguments = parse_arguments()
    reached = True
    with place(arguments.directory) as (folder, what):
        if not arguments.json:
            print(f"on {what}; medians of both sides, ratio of their best rounds, theirs beside itself")
        for result in itertools.chain(
            creates.bars(folder, arguments.rounds),
            phases.bars(folder, arguments.rounds),
            blocks.bars(folder, arguments.rounds),
            serving.bars(folder, arguments.rounds),
            merging.bars(),
        ):
            reached &= result.is_reached
            document = {**asdict(result), "is_reached": result.is_reached, "is_missed": result.is_missed}
            print(json.dumps(document, ensure_ascii=False) if arguments.json else result.line(), flush=True)
    return 0 if reached or not arguments.strict else 1


def parse_arguments() -> argparse.Namespace:
    """Return the parsed command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.engines", description=__doc__)
    parser.add_argument("directory", type=Path, nargs="?", help="where to measure (default: an XFS made for it)")
    parser.add_argument("--rounds", type=int, default=5, help="turns of each pair (default: 5)")
    parser.add_argument("--json", action="store_true", help="one JSON document per line")
    parser.add_argument("--strict", action="store_true", help="exit status 1 when a bar was not reached")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
