"""The AWS client in the agent's zip: the files of pinned packages that the agent needs.

`python3 carry.py FOLDER` downloads the packages pinned in requirements.txt and writes these files to FOLDER: `sam
build` does so for a layer (Makefile), `make` for the local cloud. It needs Python 3.9 and pip.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution, distributions
from pathlib import Path

REQUIREMENTS = Path(__file__).with_name("requirements.txt")
# The folder in the virtual environment to which `make` writes the files.
MADE = Path(sys.prefix) / "agent-client"
# All of botocore's models are 27 MB. The agent calls S3 and STS; a session reads the other four for any call.
KEPT = re.compile(
    r"""
    botocore/data/(s3|sts)/[^/]+/(service-2(\.sdk-extras)?|endpoint-rule-set-1)\.json(\.gz)?
    | botocore/data/(_retry|endpoints|partitions|sdk-default-configuration)\.json(\.gz)?
    | botocore/cacert\.pem
    | [^/]+\.dist-info/(METADATA|(licenses/)?(LICEN[SC]E|NOTICE)[^/]*)
    # Of contrib botocore would import the one for pyOpenSSL, and with it whichever of these the machine has.
    | (?!urllib3/contrib/|\.\./).+\.py
    """,
    re.VERBOSE,
)


class NotCarried(Exception):
    """The client cannot be put together; the message has the reason."""


def names() -> list[str]:
    """Return the names of the client's packages."""
    return re.findall(r"^([\w.-]+)==", REQUIREMENTS.read_text(encoding="utf-8"), re.MULTILINE)


def download(folder: Path) -> Iterable[Distribution]:
    """Install the packages pinned in requirements.txt below `folder`, by this Python's pip."""
    options = ["--require-hashes", "--no-deps", "--only-binary=:all:", "--python-version=3.9", "--no-compile"]
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", *options]
    try:
        subprocess.run([*command, "--target", folder, "--requirement", REQUIREMENTS], check=True)  # noqa: S603
    except subprocess.CalledProcessError as err:
        raise NotCarried(
            f"pip of {sys.executable} did not install the agent's AWS client ({REQUIREMENTS}); its reason stands above."
            " Where pip is missing: put a python3 that has it first on the PATH"
        ) from err
    return list(distributions(path=[str(folder)]))


def installed() -> Iterable[Distribution]:
    """Return the packages of this Python itself, in any version."""
    for name in names():
        try:
            yield distribution(name)
        except PackageNotFoundError as err:
            raise NotCarried(f"{sys.executable} has no {name}, which the agent's AWS client needs") from err


def files(packages: Iterable[Distribution]) -> Iterator[tuple[str, bytes]]:
    """Yield the files of packages that the agent needs, each with its name relative to the import root."""
    for package in packages:
        if package.files is None:
            raise NotCarried(f"{package.metadata['Name']} has no list of its files (RECORD); install it with pip")
        for file in package.files:
            if KEPT.fullmatch(file.as_posix()):
                yield file.as_posix(), Path(str(file.locate())).read_bytes()


def content() -> dict[str, bytes]:
    """Return the client for the local cloud: the files that `make` has written, else this Python's own packages.

    A wheel that is installed without `make` has only the latter. Its agents run on the same Python, so they are
    compatible.
    """
    if MADE.is_dir():
        return {path.relative_to(MADE).as_posix(): path.read_bytes() for path in MADE.rglob("*") if path.is_file()}
    return dict(files(installed()))


def write(folder: Path) -> None:
    """Write the client into a folder, and replace the folder's former content."""
    with tempfile.TemporaryDirectory() as temporary:
        kept = dict(files(download(Path(temporary))))
    partial = folder.with_name(f"{folder.name}.partial")
    for name, body in kept.items():
        path = partial / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(body)
    shutil.rmtree(folder, ignore_errors=True)
    partial.rename(folder)


if __name__ == "__main__":
    try:
        write(Path(sys.argv[1]))
    except NotCarried as err:
        sys.exit(str(err))
