"""Shorter waits between the attempts of an AWS call, for programs of the local cloud with injected faults.

botocore waits up to 20 s before an attempt. How often and what it retries stays the same.
As a program: `python retry_waits.py SCALE PROGRAM ARGUMENT…` runs PROGRAM with shorter waits.
"""

import runpy
import sys
import time
from types import SimpleNamespace


def hurry(scale: float) -> None:
    """Divide the waits of botocore's retries in this process by `scale`."""
    import botocore.endpoint

    botocore.endpoint.time = SimpleNamespace(sleep=lambda seconds: time.sleep(seconds / scale))


if __name__ == "__main__":
    scale, *sys.argv = sys.argv[1:]
    sys.path.pop(0)
    hurry(float(scale))
    runpy.run_path(sys.argv[0], run_name="__main__")
