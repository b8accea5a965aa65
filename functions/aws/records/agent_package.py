"""The agent as one zip in the bucket, named by its content, so that every run records its exact agent."""

import hashlib
import io
import os
import zipfile
from functools import cache
from pathlib import Path

import contract
from aws.records import bucket
from aws.stack.clients import client
from aws.stack.environment import environment
from matrix.terms.keys import agent_key

# The earliest time that a zip can hold: the same sources give the same bytes, whenever they were checked out.
_EPOCH = (1980, 1, 1, 0, 0, 0)
# Entry point of `python3 agent.pyz`: agent/unpack.py.
_MAIN = "unpack.py"


def publish() -> str:
    """Put the agent into the bucket unless it is there already; return its key."""
    package = _of_this_stack()
    key = agent_key(hashlib.sha256(package).hexdigest())
    if not bucket.exists(key):
        client("s3").put_object(Bucket=environment().bucket, Key=key, Body=package, ContentType="application/zip")
    return key


@cache
def _of_this_stack() -> bytes:
    """Return the zip, made once in each sandbox: it takes a third of a second of processor time."""
    return build(Path(os.environ["AGENT_ROOT"]), Path(os.environ["AGENT_CLIENT"]))


def build(root: Path, aws_client: Path) -> bytes:
    """Return the agent's sources below `root`, `contract`, and the packages in `aws_client`, as an executable zip.

    On Lambda `root` is /opt, which all layers share. The agent consists of its modules and packages there; packages
    have an `__init__.py`, which folders of other layers lack.
    """
    packages = [folder for folder in root.iterdir() if (folder / "__init__.py").is_file()]
    sources = [*root.glob("*.py"), *(path for package in packages for path in package.rglob("*.py"))]
    files = {f"agent/{path.relative_to(root).as_posix()}": path for path in sources}
    files |= {f"contract/{path.name}": path for path in Path(contract.__file__).parent.glob("*.py")}
    packed = [path for path in aws_client.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    if not packed:
        raise FileNotFoundError(f"{aws_client} holds no AWS client for the agent; build it anew: sam build")
    files |= {path.relative_to(aws_client).as_posix(): path for path in packed}
    files["__main__.py"] = root / _MAIN
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, path in sorted(files.items()):
            archive.writestr(zipfile.ZipInfo(name, _EPOCH), path.read_bytes(), zipfile.ZIP_DEFLATED)
    return buffer.getvalue()
