"""The version of moto that the local cloud corrects, checked before anything is patched.

The corrections replace private functions of moto, and an upgrade may rename one without a word.
"""

import importlib.metadata

MOTO_VERSION = "5.2.5"


class MotoChangedError(RuntimeError):
    """The installed moto is not the one whose internals the local cloud corrects."""


def check() -> None:
    """Raise MotoChangedError unless the corrected version is installed."""
    installed = importlib.metadata.version("moto")
    if installed != MOTO_VERSION:
        raise MotoChangedError(
            f"the local cloud corrects moto {MOTO_VERSION}, but {installed} is installed. Install it by "
            f"`pip install moto=={MOTO_VERSION}`, or correct local/ for the other one until `make test-all` passes"
        )
