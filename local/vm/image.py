"""The machine image: Debian's cloud kernel, and one initramfs with systemd, cloud-init, mdadm, XFS and NFS.

Built once by mmdebstrap (needs root, two minutes), kept in the user's cache, found again by what went into it.
"""

import hashlib
import os
import shutil
import subprocess
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

# The first release whose boto3 heeds AWS_ENDPOINT_URL (botocore 1.31), by which a machine finds the local cloud.
SUITE = "trixie"
PACKAGES = (
    *("systemd-sysv", "dbus", "udev", "kmod", "iproute2", "cloud-init", "dhcpcd-base", "python3", "python3-boto3"),
    *("mdadm", "xfsprogs", "nfs-common", "rsync", "parallel"),
)
TOOLS = ("qemu-system-x86_64", "mmdebstrap", "apt-get", "dpkg-deb", "depmod", "cpio", "ganesha.nfsd")
INSTALL = "apt-get install qemu-system-x86 mmdebstrap kmod cpio nfs-ganesha nfs-ganesha-vfs"
# What a machine needs of the kernel's modules; the whole set would double what is unpacked at each boot.
MODULES = (
    *("drivers/block", "drivers/virtio", "drivers/net", "drivers/md", "drivers/firmware", "drivers/char"),
    *("fs/nfs", "fs/nfs_common", "fs/lockd", "fs/fscache", "fs/netfs", "fs/xfs", "lib", "crypto", "arch/x86/crypto"),
    *("net/sunrpc", "net/core", "net/dns_resolver"),
)
LOADED = ("virtio_pci", "virtio_net", "virtio_blk", "virtio_rng", "qemu_fw_cfg", "nfsv4", "xfs", "raid0")
# A mirror that does not answer is retried by apt for many minutes.
BUILD_TIMEOUT_S = 240
# Only these services of AWS are spoken to from an instance; the descriptions of all others are 80 MB.
CLIENTS = ("s3", "sts", "sso", "sso-oidc")
# Nothing of these is needed in a machine that lives for a minute, and each costs a second of emulated boot.
MASKED = (
    *("apt-daily.timer", "apt-daily-upgrade.timer", "dpkg-db-backup.timer", "e2scrub_all.timer", "fstrim.timer"),
    *("e2scrub_reap.service", "getty.target", "serial-getty@.service", "systemd-timesyncd.service", "ldconfig.service"),
    *("systemd-networkd-wait-online.service", "mdmonitor.service", "rpcbind.service", "rpcbind.socket"),
    *("nfs-client.target", "cloud-init-hotplugd.socket", "systemd-update-utmp.service", "systemd-hwdb-update.service"),
    *("systemd-journal-flush.service", "systemd-random-seed.service", "systemd-sysusers.service"),
)


class ImageUnavailableError(RuntimeError):
    """This machine cannot run instances as VMs; the message says what is missing."""


@dataclass(frozen=True)
class Image:
    """What a machine boots."""

    kernel: Path
    initramfs: Path


def image(cache: Path | None = None) -> Image:
    """Return the image, built if it is not there. Raises ImageUnavailableError with what to install."""
    missing = [name for name in TOOLS if shutil.which(name) is None]
    if missing or os.geteuid() != 0:
        why = f"{', '.join(missing)} missing: {INSTALL}" if missing else "building the image and NFS need root"
        raise ImageUnavailableError(f"instances cannot be VMs here: {why}")
    folder = (cache or _cache()) / _key()
    found = Image(folder / "vmlinuz", folder / "initramfs.cpio")
    if not found.initramfs.exists():
        partial = folder.with_suffix(f".{os.getpid()}")
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        try:
            _build(partial)
            partial.rename(folder)
        finally:
            shutil.rmtree(partial, ignore_errors=True)
    return found


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "storage-matrix" / "vm"


def _key() -> str:
    return hashlib.sha256(Path(__file__).read_bytes() + _prepare_script()).hexdigest()[:16]


def _prepare_script() -> bytes:
    return resources.files("local.vm").joinpath("prepare.sh").read_bytes()


def _build(folder: Path) -> None:
    root = folder / "root"
    _run(["mmdebstrap", "--quiet", "--variant=minbase", f"--include={','.join(PACKAGES)}", SUITE, str(root)])
    _add_kernel(folder, root)
    _configure(root)
    _slim(root)
    command = f"find . -print0 | cpio --null --create --format=newc --quiet > {folder / 'initramfs.cpio'}"
    subprocess.run(["bash", "-c", command], cwd=root, check=True)  # noqa: S603, S607
    shutil.rmtree(root)


def _add_kernel(folder: Path, root: Path) -> None:
    """Take the kernel out of its package: installed, it would want to build an initramfs of its own."""
    depends = _run(["apt-cache", "depends", "linux-image-cloud-amd64"])
    name = next(line.split()[-1] for line in depends.splitlines() if "Depends: linux-image-" in line)
    _run(["apt-get", "download", name], cwd=folder)
    [package] = folder.glob("linux-image-*.deb")
    unpacked = folder / "kernel"
    _run(["dpkg-deb", "-x", str(package), str(unpacked)])
    [kernel] = (unpacked / "boot").glob("vmlinuz-*")
    kernel.rename(folder / "vmlinuz")
    [modules] = (unpacked / "lib/modules").iterdir()
    wanted = root / "usr/lib/modules" / modules.name
    for part in MODULES:
        if (modules / "kernel" / part).is_dir():
            shutil.copytree(modules / "kernel" / part, wanted / "kernel" / part)
    for index in modules.glob("modules.*"):
        shutil.copy(index, wanted / index.name)
    _run(["depmod", "-b", str(root), modules.name])
    package.unlink()
    shutil.rmtree(unpacked)


def _configure(root: Path) -> None:
    """A network by DHCP, cloud-init with EC2's metadata and nothing but user data, and our own preparation."""
    prepare = root / "usr/local/sbin/storage-matrix-vm"
    prepare.write_bytes(_prepare_script())
    prepare.chmod(0o755)
    units = root / "etc/systemd/system"
    (units / "storage-matrix-vm.service").write_text(
        "[Unit]\nDescription=Names of volumes and file systems\nBefore=cloud-final.service\n"
        "After=systemd-udev-settle.service\nWants=systemd-udev-settle.service\n"
        "[Service]\nType=oneshot\nExecStart=/usr/local/sbin/storage-matrix-vm\n[Install]\nWantedBy=multi-user.target\n"
    )
    (root / "etc/modules-load.d/storage-matrix.conf").write_text("\n".join(LOADED) + "\n")
    network = root / "etc/systemd/network/10-vm.network"
    network.write_text("[Match]\nName=e*\n[Network]\nDHCP=ipv4\nLinkLocalAddressing=no\nIPv6AcceptRA=no\n")
    (root / "etc/cloud/cloud.cfg").write_text(
        "datasource_list: [Ec2]\ndatasource: {Ec2: {strict_id: false, timeout: 10, max_wait: 60}}\n"
        "network: {config: disabled}\nusers: []\ndisable_root: true\n"
        "cloud_init_modules: [seed_random]\ncloud_config_modules: []\ncloud_final_modules: [scripts-user]\n"
        "system_info: {distro: debian, paths: {cloud_dir: /var/lib/cloud, templates_dir: /etc/cloud/templates}}\n"
    )
    for unit in MASKED:
        _link(units / unit, "/dev/null")
    _link(units / "default.target", "/lib/systemd/system/multi-user.target")
    _run(["chroot", str(root), "systemctl", "enable", "systemd-networkd", "storage-matrix-vm"])
    (root / "etc/machine-id").write_text("0" * 31 + "1\n")
    _link(root / "init", "/sbin/init")


def _slim(root: Path) -> None:
    for name in ("usr/share/doc", "usr/share/man", "usr/share/locale", "usr/share/i18n", "usr/share/info"):
        shutil.rmtree(root / name, ignore_errors=True)
    for client in (root / "usr/lib/python3/dist-packages/botocore/data").iterdir():
        if client.is_dir() and client.name not in CLIENTS:
            shutil.rmtree(client)


def _link(path: Path, target: str) -> None:
    path.unlink(missing_ok=True)
    path.symlink_to(target)


def _run(command: list[str], cwd: Path | None = None) -> str:
    try:
        done = subprocess.run(  # noqa: S603
            command, cwd=cwd, capture_output=True, text=True, check=False, timeout=BUILD_TIMEOUT_S
        )
    except subprocess.TimeoutExpired as err:
        why = f"{command[0]} did not end within {BUILD_TIMEOUT_S} s; is a Debian mirror reachable?"
        raise ImageUnavailableError(f"building the VM image: {why}") from err
    if done.returncode:
        end = done.stderr.strip().splitlines()[-5:]
        raise ImageUnavailableError(f"building the VM image: {' '.join(command)} ended with {done.returncode}: {end}")
    return done.stdout
