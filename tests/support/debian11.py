"""The Python and the programs of Debian 11, for the agents of tests: older than those of both images of instances.

`python -m support.debian11` prints the program that acts as its Python; without root, or without mmdebstrap, it
reports that and prints nothing.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import sys
from pathlib import Path

from cloud.vm import image

ROOT = Path(__file__).parents[2]
PACKAGES = ("python3", "fio", "parallel", "rsync", "fpart", "cpio", "mdadm", "xfsprogs")
# Unpacked but not installed: a boto3 older than Ubuntu 22.04's.
BOTO3 = (
    *("boto3", "botocore", "s3transfer", "jmespath", "dateutil", "six"),
    *("urllib3", "requests", "chardet", "idna", "certifi"),
)
FETCH_BOTO3 = """cd "$1"
export APT_CONFIG="$MMDEBSTRAP_APT_CONFIG"
apt-get -qq download {packages}
for package in python3-*.deb; do dpkg-deb -x "$package" old-client; done
rm python3-*.deb
"""
# Their places in the root.
OLD_CLIENT = "/old-client/usr/lib/python3/dist-packages"
# No mount remains: the mounts are in a namespace of this process. The agent finds its files under the same names.
# pivot_root makes the root a mount point. In a chroot, / is none, and a container of a test could not mount.
PYTHON = """#!/bin/sh
exec /usr/bin/unshare --mount --propagation private /bin/sh -euc '
  root=$1 folder=$PWD
  shift
  /bin/mount --bind "$root" "$root"
  for bound in /proc /sys /dev /tmp {repository} "$folder"; do
    /bin/mkdir -p "$root$bound"
    /bin/mount --rbind "$bound" "$root$bound"
  done
  cd "$root"
  /usr/sbin/pivot_root . mnt
  /bin/umount --lazy /mnt
  exec /usr/bin/env -C "$folder" /usr/bin/python3 "$@"
' sh {root} "$@"
"""
# As in both images, and as the tests' own programs expect: /bin is /usr/bin.
MERGED = 'for name in bin sbin lib lib64; do mkdir -p "$1/usr/$name"; ln -s "usr/$name" "$1/$name"; done'
NEEDED = ("unshare", "pivot_root", "mmdebstrap", "apt-get", "apt-config", "dpkg-deb")


def missing() -> str:
    """The reason why Debian 11 cannot be made here; empty if it can."""
    if os.geteuid() != 0:
        return "only root may make and enter a Debian 11"
    absent = [name for name in NEEDED if shutil.which(name) is None]
    return f"{', '.join(absent)} missing; on Debian: apt-get install mmdebstrap" if absent else ""


def made() -> Path:
    """Return its root, created once in the user's cache (a minute) and then reused while its recipe is unchanged."""
    fetch = FETCH_BOTO3.format(packages=" ".join(f"python3-{name}" for name in BOTO3))
    recipe = hashlib.sha256(f"{PACKAGES} {MERGED} {fetch}".encode()).hexdigest()[:16]
    folder = image.cache_folder() / "debian11" / recipe
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            partial = folder.with_suffix(".partial")
            shutil.rmtree(partial, ignore_errors=True)
            partial.mkdir()
            hooks = (f"--setup-hook={MERGED}", f"--customize-hook={fetch}")
            image.bootstrap("bullseye", PACKAGES, partial / "root", *hooks)
            partial.rename(folder)
    return folder / "root"


def python() -> Path:
    """Return this clone's program that acts as its Python: it binds the clone's folder."""
    program = ROOT / ".local" / "debian11-python"
    program.parent.mkdir(exist_ok=True)
    root = made()
    (root / "etc/hosts").write_text("127.0.0.1 localhost\n")  # which a minimal Debian lacks
    program.write_text(PYTHON.format(root=root, repository=ROOT))
    program.chmod(0o755)
    return program


if __name__ == "__main__":
    if reason := missing():
        print(f"The agent's tests did NOT run on Debian 11: {reason}", file=sys.stderr)
        sys.exit(0)
    try:
        print(python())
    except image.ImageUnavailableError as err:
        sys.exit(f"Debian 11 was not made: {err.why}; is a Debian mirror reachable?")
