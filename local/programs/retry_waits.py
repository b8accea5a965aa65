"""Shorter waits between the attempts of an AWS call, for programs of the local cloud that meet injected faults.

botocore waits up to 20 s before an attempt. The number of attempts, and what is retried, stay as they are.
As a program: `python retry_waits.py SCALE PROGRAM ARGUMENT…` runs PROGRAM so.
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
