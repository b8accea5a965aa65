"""The agent as one zip in the bucket, named by its content, so that every run says exactly what ran."""

import hashlib
import io
import os
import zipfile
from pathlib import Path

from aws.records import bucket
from aws.stack.clients import client
from aws.stack.environment import environment
from matrix.terms.keys import agent_key

_MAIN = "import sys\n\nfrom agent.__main__ import main\n\nsys.exit(main())\n"
# The earliest time that a zip can hold: the same sources give the same bytes, whenever they were checked out.
_EPOCH = (1980, 1, 1, 0, 0, 0)


def publish() -> str:
    """Put the agent into the bucket unless it is there already; return its key."""
    package = build(Path(os.environ["AGENT_ROOT"]))
    key = agent_key(hashlib.sha256(package).hexdigest())
    if not bucket.exists(key):
        client("s3").put_object(Bucket=environment().bucket, Key=key, Body=package, ContentType="application/zip")
    return key


def build(root: Path) -> bytes:
    """Return the agent's sources below `root` as a zip that `python3` runs.

    On Lambda `root` is /opt, which the layers share: the agent is the modules in it and the packages, and a package
    has an `__init__.py`, which the `python` folder of the dependencies has not.
    """
    packages = [folder for folder in root.iterdir() if (folder / "__init__.py").is_file()]
    sources = [*root.glob("*.py"), *(path for package in packages for path in package.rglob("*.py"))]
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo("__main__.py", _EPOCH), _MAIN)
        for path in sorted(sources):
            name = zipfile.ZipInfo(f"agent/{path.relative_to(root).as_posix()}", _EPOCH)
            archive.writestr(name, path.read_bytes(), zipfile.ZIP_DEFLATED)
    return buffer.getvalue()
