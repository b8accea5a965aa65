"""`python -m bench.whole [STORAGESxFLEETSxINSTANCESxSTEPSxMINUTES ...]`: whole runs without instances, in virtual time.

Nothing of it runs on AWS: the real state machine runs in the local interpreter, the real functions in this process, on
a cloud whose answers are made up; instances are a script that writes what agents write, at the times that the plan
expects. A function takes the processor time that it took here, by the share of a vCPU that its MemorySize buys, and
waits as long as AWS usually takes to answer.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
import time
from contextlib import redirect_stdout
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "functions")]

SIZES = ["20x10x50x6x10", "1x1x1000x60x95"]


def main() -> int:
    """Print the figures of each size; exit status 1 where a limit was exceeded."""
    parser = argparse.ArgumentParser(prog="python -m bench.whole", description=__doc__)
    parser.add_argument("sizes", nargs="*", default=SIZES, help=f"(default: {' '.join(SIZES)})")
    parser.add_argument("--counts", action="store_true", help="print counts only, as JSON; processor time is left out")
    arguments = parser.parse_args()
    from bench.whole import figures, tables
    from bench.whole.run import lasting, play
    from matrix.price.book import published_prices

    is_kept = True
    logging.disable(logging.CRITICAL)
    for size in arguments.sizes:
        storages, fleets, instances, steps, minutes = map(int, size.split("x"))
        matrix = lasting(storages, fleets, instances, steps, minutes)
        with Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere):  # functions log there
            played = play(matrix, f"r{size}", (lambda: 0.0) if arguments.counts else time.process_time)
        of_run = figures.Figures(played, published_prices())
        print(figures.as_json(of_run) if arguments.counts else tables.page(size, of_run), flush=True)
        is_kept &= all(reached.is_kept for reached in of_run.limits())
    return 0 if is_kept else 1


if __name__ == "__main__":
    sys.exit(main())
