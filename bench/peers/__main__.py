"""`make peers`, or `python -m bench.peers [DIRECTORY]`: the project's engines and tools of others, in one run.

Each line has both medians, the ratio of the pairs (median, least to most) and that of the best rounds, which other
programs disturbed least: above 1 the project's engine is ahead. A tool that is not on the PATH is listed with its
source.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "functions")]

from bench.peers import files, objects, reads  # noqa: E402 - found by the path above
from bench.peers.contests import Contest, Missing, rows  # noqa: E402
from bench.peers.programs import fio_server  # noqa: E402
from bench.places import place  # noqa: E402


def main() -> int:
    """Print a row after each peer's measurement."""
    arguments = parse_arguments()
    with place(arguments.directory) as (folder, what):
        load = "/".join(f"{minutes:.1f}" for minutes in os.getloadavg())
        print(f"on {what}; {arguments.rounds} pairs; load before {load} on {os.cpu_count()} processors\n")
        print("| what | ours | peer | theirs | ratio: median (least to most) | of best rounds |")
        print("|---|---|---|---|---|---|")
        with fio_server(folder) as server:
            for contest in (files.contest(folder, server), *reads.contests(folder, server)):
                show(contest, arguments.rounds)
        if shutil.which("nginx"):
            with objects.static_server(folder) as record:
                for contest in objects.contests(folder, record):
                    show(contest, arguments.rounds)
        else:
            print(Missing("object GETs/s", "s5cmd", "not here: its server, apt-get install nginx-light").line())
    return 0


def show(contest: Contest, rounds: int) -> None:
    """Print the rows of a contest as they are measured."""
    for row in rows(contest, rounds):
        print(row.line(), flush=True)


def parse_arguments() -> argparse.Namespace:
    """Return the parsed command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.peers", description=__doc__)
    parser.add_argument("directory", type=Path, nargs="?", help="where to measure (default: an XFS made for it)")
    parser.add_argument("--rounds", type=int, default=5, help="pairs of each peer (default: 5)")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
