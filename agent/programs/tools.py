"""Find the programs of a job before anything is timed; install missing ones, or report them."""

from __future__ import annotations

import functools
import importlib
import os
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent.errors import ToolMissing

if TYPE_CHECKING:
    import logging

# Building the EFS mount helper takes a small instance some minutes; a fleet has 15 to become ready.
INSTALL_TIMEOUT_S = 600
# A whole fleet asks a mirror at the same moment, and a single refusal would cost the cell. dnf asks 10 times by itself.
PATIENT = ["-o", "Acquire::Retries=5"]
# A fresh cloud image has no package lists.
UPDATE = ["apt-get", *PATIENT, "update", "-q"]
# After its README; v2.3.3 is the first release since 2.3.1 that Ubuntu 22.04's Rust 1.75 can build (its issue 303).
BUILD_EFS_UTILS = """
export HOME=/root
apt-get -o Acquire::Retries=5 install -y -q git binutils rustc cargo pkg-config libssl-dev gettext
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
cd "$build"
git init --quiet efs-utils
cd efs-utils
# The commit of v2.3.3: a tag could be moved. Its Cargo.lock has the hashes of what it is built of.
git fetch --quiet --depth 1 https://github.com/aws/efs-utils 943020f1b81a578dc80c8233e29761959bf58581
git checkout --quiet FETCH_HEAD
./build-deb.sh
apt-get install -y -q ./build/amazon-efs-utils*.deb
"""
# From the S3 guide (Installing Mountpoint, DEB-based distributions; Verifying the signature). Both keys are in
# https://github.com/awslabs/mountpoint-s3/blob/main/doc/INSTALL.md; the second is the older one.
INSTALL_MOUNT_S3 = r"""
case "$(uname -m)" in aarch64) architecture=arm64 ;; *) architecture=x86_64 ;; esac
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
cd "$build"
apt-get -o Acquire::Retries=5 install -y -q gpg
release=https://s3.amazonaws.com/mountpoint-s3-release
package=mount-s3-1.23.0-$architecture.deb
for file in "1.23.0/$architecture/$package" "1.23.0/$architecture/$package.asc" public_keys/KEYS; do
  curl -fsSLO --retry 5 "$release/$file"
done
export GNUPGHOME="$build/keys"
mkdir -m 700 "$GNUPGHOME"
gpg --batch --quiet --import KEYS
gpg --batch --status-fd 1 --verify "$package.asc" "$package" > verified
ours='8AEFE705EBE329C0948C75A66F1C3B3AEF4B030B|673FE4061506BB469A0EF857BE397A52B086DA5A'
grep -Eq "^.GNUPG:. VALIDSIG .*($ours)\$" verified
apt-get install -y -q "./$package"
"""


@dataclass(frozen=True)
class Tool:
    """A program: how to ask for its version, and which package contains it."""

    title: str
    debian: str
    amazon: str
    version: tuple[str, ...] = ("--version",)
    marker: str = ""  # a word in its version that distinguishes it from another program of the same name
    # Whether it is in Amazon Linux's supplementary packages (SPAL: those of EPEL 9, since release 2023.9).
    supplementary: bool = False
    amazon_besides: str = ""  # a second package of Amazon Linux, for a part that Debian's first package contains
    is_module: bool = False  # a module of the agent's own Python instead of a program
    debian_build: tuple[str, ...] = ()  # the command that downloads or builds and installs it, where Debian has none


TOOLS = {
    "bash": Tool("bash", "bash", "bash"),
    "touch": Tool("touch", "coreutils", "coreutils"),
    "seq": Tool("seq", "coreutils", "coreutils"),
    "dd": Tool("dd", "coreutils", "coreutils"),
    "cp": Tool("cp", "coreutils", "coreutils"),
    "sync": Tool("sync", "coreutils", "coreutils"),
    "find": Tool("find", "findutils", "findutils"),
    "parallel": Tool("GNU parallel", "parallel", "parallel", marker="GNU parallel", supplementary=True),
    "rsync": Tool("rsync", "rsync", "rsync"),
    "fpart": Tool("fpart", "fpart", "fpart", ("-V",), supplementary=True),
    "fpsync": Tool("fpsync", "fpart", "fpart", ("-h",), supplementary=True),
    "cpio": Tool("cpio", "cpio", "cpio"),
    # Without it Amazon Linux's fio has no ioengine libaio (firecracker, pull request 5862).
    "fio": Tool("fio", "fio", "fio", amazon_besides="fio-engine-libaio"),
    "mkfs.xfs": Tool("mkfs.xfs", "xfsprogs", "xfsprogs", ("-V",)),
    "mkfs.ext4": Tool("mkfs.ext4", "e2fsprogs", "e2fsprogs", ("-V",)),
    "mdadm": Tool("mdadm", "mdadm", "mdadm"),
    "mount.efs": Tool(
        "the EFS mount helper", "amazon-efs-utils", "amazon-efs-utils", debian_build=("bash", "-euc", BUILD_EFS_UTILS)
    ),
    "mount.s3files": Tool(
        "the mount helper of S3 Files (amazon-efs-utils 3.0 or later)", "amazon-efs-utils", "amazon-efs-utils"
    ),
    "mount.nfs": Tool("mount.nfs", "nfs-common", "nfs-utils", ("-V",)),
    "lctl": Tool("lctl of the Lustre client", "lustre-client-modules-aws", "lustre-client"),
    "lfs": Tool("lfs of the Lustre client", "lustre-client-modules-aws", "lustre-client"),
    "docker": Tool("docker", "docker.io", "docker"),
    "awscrt": Tool("the AWS Common Runtime for Python", "python3-awscrt", "python3-awscrt", is_module=True),
    "mount-s3": Tool(
        "Mountpoint for Amazon S3", "mount-s3", "mount-s3", debian_build=("bash", "-euc", INSTALL_MOUNT_S3)
    ),
    "blockdev": Tool("blockdev", "util-linux", "util-linux"),
    "blkid": Tool("blkid", "util-linux", "util-linux"),
}


def find(name: str) -> str | None:
    """Return the path of a program, or of a module of this Python; None if it is not installed."""
    if name in TOOLS and TOOLS[name].is_module:
        return _module_path(name)
    return shutil.which(name)


def _module_path(name: str) -> str | None:
    importlib.invalidate_caches()
    try:
        return importlib.import_module(name).__file__
    except ImportError:
        return None


def version(name: str) -> str | None:
    """Return the first line of a tool's version output, or None if it prints nothing or is not installed."""
    path = find(name)
    if path is None:
        return None
    arguments = TOOLS[name].version if name in TOOLS else ("--version",)
    try:
        answer = subprocess.run(  # noqa: S603
            [path, *arguments], capture_output=True, text=True, errors="replace", timeout=20, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    lines = (answer.stdout.strip() or answer.stderr.strip()).splitlines()
    return lines[0].strip() if lines else None


def recorded_version(name: str) -> str | None:
    """Return the same for a sample; a program is asked once, not after each step."""
    path = find(name)
    return None if path is None else _version_at(path, name)


@functools.cache
def _version_at(path: str, name: str) -> str | None:
    del path  # another program of this name is another path
    return version(name)


def load(names: Iterable[str]) -> None:
    """Have the programs, and the libraries that they start with, in memory: each is run once for its version."""
    for name in sorted(names):
        version(name)


def require(names: Iterable[str], may_install: bool, log: logging.Logger) -> None:
    """Make sure that all are there; raise ToolMissing, which names all missing ones and their packages."""
    wanted = sorted(set(names))
    absent = [name for name in wanted if not is_present(name)]
    if absent and may_install and os.geteuid() == 0:
        install(absent, log)
        absent = [name for name in wanted if not is_present(name)]
    if absent:
        raise ToolMissing("; ".join(explain_missing(name) for name in absent))


def is_present(name: str) -> bool:
    """Return whether the right program is installed (moreutils has a `parallel` too)."""
    if find(name) is None:
        return False
    marker = TOOLS[name].marker if name in TOOLS else ""
    return not marker or marker in (version(name) or "")


def explain_missing(name: str) -> str:
    """Return a sentence on a missing program and how to install it on each distribution."""
    tool = TOOLS.get(name)
    if tool is None:
        return f"{name} is not installed"
    repository = ", after 'spal-release'" if tool.supplementary else ""
    return (
        f"{tool.title} is not installed; install the package '{tool.debian}' (Debian, Ubuntu: apt-get) "
        f"or '{tool.amazon}' (Amazon Linux 2023: dnf{repository})"
    )


def install(names: list[str], log: logging.Logger) -> None:
    """Install the distribution's packages; errors go to the log, and the caller checks again."""
    for command in install_commands(names):
        log.info("installing: %s", " ".join(command))
        try:
            ended = subprocess.run(  # noqa: S603
                command,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=INSTALL_TIMEOUT_S,
                check=False,
                env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
            )
        except (OSError, subprocess.TimeoutExpired) as err:
            log.warning("%s: %s", command[0], err)
            return
        if ended.returncode != 0:
            log.warning("%s ended with %d: %s", command[0], ended.returncode, ended.stderr[-500:])


def install_commands(names: list[str]) -> list[list[str]]:
    """Return the command lines that install the tools with this distribution's package manager."""
    known = [TOOLS[name] for name in names if name in TOOLS]
    if find("dnf"):
        commands: list[list[str]] = []
        for packages in amazon_packages(known):
            commands += package_commands(packages)
        return commands
    if find("apt-get") and known:
        packages = sorted({tool.debian for tool in known if not tool.debian_build})
        builds = [list(tool.debian_build) for tool in known if tool.debian_build]
        return [*(package_commands(packages) or [UPDATE]), *builds]
    return []


def package_commands(packages: list[str]) -> list[list[str]]:
    """Return the command lines that install packages by their own names."""
    if not packages:
        return []
    if find("dnf"):
        return [["dnf", "install", "-y", "-q", *packages]]
    if find("apt-get"):
        # Wait for the lock: the system may be updating itself.
        wait = ["-o", f"DPkg::Lock::Timeout={INSTALL_TIMEOUT_S}"]
        return [UPDATE, ["apt-get", *PATIENT, *wait, "install", "-y", "-q", *packages]]
    return []


def amazon_packages(known: list[Tool]) -> list[list[str]]:
    """Return package lists to install in turn, because dnf installs all packages of a command or none."""
    core = sorted({tool.amazon for tool in known if not tool.supplementary})
    supplementary = sorted({tool.amazon for tool in known if tool.supplementary})
    besides = sorted({tool.amazon_besides for tool in known if tool.amazon_besides})
    alone = [*besides, *(["spal-release"] if supplementary else []), *supplementary]
    return ([core] if core else []) + [[name] for name in alone]
