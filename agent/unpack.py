"""Entry of `python3 agent.pyz …`: unpack the zip beside itself, once, and run the agent from there.

botocore reads the descriptions of services from files, and the engines start faster from byte code. The zip has this
text as its `__main__.py`.
"""

from __future__ import annotations

import hashlib
import shutil
import sys
import tempfile
import zipfile
from pathlib import Path


def unpack(archive: Path) -> Path:
    """Return the folder with the zip's content, named by its hash: a baked image may have the folder of an older zip.

    Several agents may start from one zip at the same time.
    """
    folder = archive.with_name(f"{archive.name}.{hashlib.sha256(archive.read_bytes()).hexdigest()[:16]}")
    if not folder.is_dir():
        # Under another name until it is whole: a disk may fill up meanwhile.
        partial = Path(tempfile.mkdtemp(prefix=f"{folder.name}.", dir=folder.parent))
        try:
            with zipfile.ZipFile(archive) as zipped:
                zipped.extractall(partial)
            partial.rename(folder)
        except OSError:
            shutil.rmtree(partial, ignore_errors=True)
            if not folder.is_dir():  # nor has another agent been faster
                raise
    return folder


if __name__ == "__main__":
    sys.path[0] = str(unpack(Path(sys.argv[0]).absolute()))
    from agent.__main__ import main

    sys.exit(main())
