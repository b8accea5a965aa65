"""Shorter waits between the attempts of an AWS call, for programs of the local cloud with injected faults.

botocore waits up to 20 s before an attempt. The number of attempts and the retried errors stay the same.
"""

import time
from types import SimpleNamespace


def hurry(scale: float) -> None:
    """Divide the waits of botocore's retries in this process by `scale`."""
    import botocore.endpoint

    botocore.endpoint.time = SimpleNamespace(sleep=lambda seconds: time.sleep(seconds / scale))
