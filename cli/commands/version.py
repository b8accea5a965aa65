"""`matrix --version`."""

import platform
from pathlib import Path

TREE = Path(__file__).resolve().parents[2]


def show_version() -> None:
    """Print the installed version and the folder of template.yaml and events/, as `pip --version` prints its own."""
    # Imported here: it imports email, socket and zipfile, 30 ms that no other command needs.
    from importlib.metadata import PackageNotFoundError, version

    try:
        number = version("storage-matrix")
    except PackageNotFoundError:
        number = "(not installed)"
    print(f"matrix {number} from {TREE} (Python {platform.python_version()})")
