"""`make bench`, `make bench-fleet`, `python -m bench [PART ...]`: make the figures of docs/tested.md.

Each part is also a separate command with its own options (`python -m bench.engines --help`). The parts run one after
the other, because other load would distort the figures. `make peers` is separate: it needs the tools of others.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
PARTS = {
    "engines": ["bench.engines"],
    "demo": ["bench.demo"],
    "waiting": ["bench.waiting"],
    "gates": ["bench.gates"],
    "scale": ["bench.scale"],
}


def main() -> int:
    """Run the parts, and print the duration of each; exit status 1 if one failed."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)} (default: all)")
    wanted = parser.parse_args().parts or list(PARTS)
    if unknown := ", ".join(part for part in wanted if part not in PARTS):
        parser.error(f"no part is called {unknown}; there are {', '.join(PARTS)}")
    failed = []
    for part in wanted:
        print(f"── python -m {' '.join(PARTS[part])}", flush=True)
        began = time.monotonic()
        if subprocess.run([sys.executable, "-m", *PARTS[part]], cwd=ROOT, check=False).returncode:
            failed.append(part)
        print(f"   {time.monotonic() - began:.0f} s\n", flush=True)
    if failed:
        print(f"failed: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
