"""`python -m bench.engines [DIRECTORY]`: the project's engines beside C, dd and fio, each against its bar."""

from __future__ import annotations

import argparse
import itertools
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "functions")]

from bench import blocks, creates  # noqa: E402 - found by the path above
from bench.places import place  # noqa: E402


def main() -> None:
    """Print one line per bar as it is measured."""
    parser = argparse.ArgumentParser(prog="python -m bench.engines", description=__doc__)
    parser.add_argument("directory", type=Path, nargs="?", help="where to measure (default: an XFS made for it)")
    parser.add_argument("--rounds", type=int, default=5, help="turns of each pair (default: 5)")
    arguments = parser.parse_args()
    with place(arguments.directory) as (folder, what):
        print(f"on {what}; medians of both sides, ratio of their best rounds, theirs beside itself")
        bars = (part.bars(folder, arguments.rounds) for part in (creates, blocks))
        for result in itertools.chain.from_iterable(bars):
            print(result.line(), flush=True)


if __name__ == "__main__":
    main()
