"""The machine image: Debian's cloud kernel, and one initramfs with systemd, cloud-init, mdadm, XFS and NFS.

mmdebstrap builds it once for each release of Debian (needs root, two minutes). It is kept in the user's cache, under a
hash of its inputs.
"""

import hashlib
import lzma
import os
import shlex
import shutil
import struct
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

# The releases that an image can be of, and the variable that chooses. Debian 11 is older in every program than Amazon
# Linux 2023 and Ubuntu 22.04; 12 has the kernel and the systemd of Amazon Linux 2023 (6.1, 252), so it is the default.
SUITES, DEFAULT_SUITE = ("bullseye", "bookworm", "trixie"), "bookworm"
SUITE_VARIABLE = "STORAGE_MATRIX_VM_SUITE"
PACKAGES = (
    *("systemd-sysv", "dbus", "udev", "kmod", "iproute2", "cloud-init", "python3"),
    *("mdadm", "xfsprogs", "nfs-common", "rsync", "parallel", "nftables", "fio"),
)
TOOLS = ("qemu-system-x86_64", "mmdebstrap", "apt-get", "dpkg-deb", "depmod", "cpio", "ganesha.nfsd")
INSTALL = "apt-get install qemu-system-x86 mmdebstrap kmod cpio nfs-ganesha nfs-ganesha-vfs"
# The kernel modules that a machine needs; all of them would double the data to unpack at each boot.
MODULES = (
    *("drivers/block", "drivers/virtio", "drivers/net", "drivers/md", "drivers/firmware", "drivers/char"),
    *("fs/nfs", "fs/nfs_common", "fs/lockd", "fs/fscache", "fs/netfs", "fs/xfs", "lib", "crypto", "arch/x86/crypto"),
    *("net/sunrpc", "net/core", "net/dns_resolver"),
    *(f"net/netfilter/{name}.ko" for name in ("nfnetlink", "nf_tables", "nft_log", "nf_log_syslog")),
    *("net/netfilter/nf_log_common.ko", "net/ipv4/netfilter/nf_log_ipv4.ko"),  # Linux 5.10, in place of nf_log_syslog
)
LOADED = ("virtio_pci", "virtio_net", "virtio_blk", "virtio_rng", "qemu_fw_cfg", "nfsv4", "xfs", "raid0", "nf_tables")
# apt would retry a mirror that does not answer for many minutes.
BUILD_TIMEOUT_S = 600
# Debian's own mirror, unless this names another: archive.debian.org has the releases that Debian no longer supports.
MIRROR_VARIABLE = "STORAGE_MATRIX_DEBIAN_MIRROR"
# Downloaded but not installed, because an installation would build an initramfs. The name is that of a release.
FETCH_KERNEL = """cd {folder}
export APT_CONFIG="$MMDEBSTRAP_APT_CONFIG"
apt-get -qq download "$(apt-cache depends linux-image-cloud-amd64 | sed -n 's/^ *Depends: linux-image-/linux-image-/p')"
"""
# A machine that lives for a minute needs none of these, and each costs a second of emulated boot.
MASKED = (
    *("apt-daily.timer", "apt-daily-upgrade.timer", "dpkg-db-backup.timer", "e2scrub_all.timer", "fstrim.timer"),
    *("e2scrub_reap.service", "getty.target", "serial-getty@.service", "systemd-timesyncd.service", "ldconfig.service"),
    *("systemd-networkd-wait-online.service", "mdmonitor.service", "rpcbind.service", "rpcbind.socket"),
    *("nfs-client.target", "cloud-init-hotplugd.socket", "systemd-update-utmp.service", "systemd-hwdb-update.service"),
    *("systemd-journal-flush.service", "systemd-random-seed.service", "systemd-sysusers.service"),
    *("modprobe@configfs.service", "modprobe@dm_mod.service", "modprobe@drm.service", "modprobe@efi_pstore.service"),
    *("modprobe@fuse.service", "modprobe@loop.service", "proc-sys-fs-binfmt_misc.automount", "sysstat.service"),
    *("systemd-journal-catalog-update.service", "systemd-tmpfiles-setup-dev-early.service"),
)
# The trailer of a signed module, and the header before it, which ends with its length (module_signature.h).
SIGNATURE_MAGIC, SIGNATURE_HEADER = b"~Module signature appended~\n", struct.Struct(">8xI")
# A third of the data to unpack at each boot: conversions, and descriptions of hardware that no VM has. ICU stays,
# because Debian 12's fio needs it.
SUPERFLUOUS = (
    *("usr/share/doc", "usr/share/man", "usr/share/locale", "usr/share/i18n", "usr/share/info", "var/lib/apt/lists"),
    *("usr/lib/udev/hwdb.bin", "usr/lib/udev/hwdb.d", "usr/lib/x86_64-linux-gnu/gconv", "usr/lib/python3*/test"),
    *("usr/lib/python3*/pydoc_data", "usr/share/zoneinfo", "var/cache/apt/*.bin"),
)


class ImageUnavailableError(RuntimeError):
    """This machine cannot run instances as VMs; the message has the reason, `advice` the remedy."""

    def __init__(self, why: str, advice: str = "") -> None:
        """Keep both; as text they are one."""
        super().__init__(f"instances cannot be VMs here: {why}" + (f"; {advice}" if advice else ""))
        self.why, self.advice = why, advice


@dataclass(frozen=True)
class Image:
    kernel: Path
    initramfs: Path


def image(cache: Path | None = None) -> Image:
    """Return the image; build it if it does not exist. Raises ImageUnavailableError with advice."""
    require_tools()
    wanted = _image(cache)
    if not wanted.initramfs.exists():
        folder = wanted.kernel.parent
        partial = folder.with_suffix(f".{os.getpid()}")
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        try:
            _build(partial)
            partial.rename(folder)
        finally:
            shutil.rmtree(partial, ignore_errors=True)
    return wanted


def is_built() -> bool:
    """Return whether the image exists, so that the first machine need not wait for it."""
    return _image(None).initramfs.exists()


def require_tools() -> None:
    """Raise ImageUnavailableError where programs or rights are missing that the image, or its machines, need."""
    missing = [name for name in TOOLS if shutil.which(name) is None]
    if missing:
        raise ImageUnavailableError(f"{', '.join(missing)} missing", f"on Debian or Ubuntu, as root: {INSTALL}")
    if os.geteuid() != 0:
        raise ImageUnavailableError(
            "building the image and serving NFS need root", "run it as root, in a container or VM"
        )


def suite() -> str:
    """Return the release of Debian for machines; raises ImageUnavailableError if it is not supported."""
    chosen = os.environ.get(SUITE_VARIABLE) or DEFAULT_SUITE
    if chosen not in SUITES:
        raise ImageUnavailableError(
            f"{SUITE_VARIABLE} is '{chosen}', which is none of {', '.join(SUITES)}", f"leave it out for {DEFAULT_SUITE}"
        )
    return chosen


def bootstrap(release: str, packages: Iterable[str], root: Path, *options: str) -> None:
    """Make a minimal Debian with these packages in a folder, with this machine's apt settings (proxies, certificates).

    mmdebstrap mounts /proc, /sys and /dev below the folder. If it is killed these mounts must not stay, because
    removing the folder would remove their content. In a separate mount namespace they end with the process.
    """
    settings = root.with_name("apt.conf")
    settings.write_text(_run(["apt-config", "dump", "Acquire"]))
    made_of = [f"--include={','.join(packages)}", f"--aptopt={settings}", *options]
    mirror = os.environ.get(MIRROR_VARIABLE)
    command = ["unshare", "--mount", "mmdebstrap", "--quiet", "--variant=minbase", *made_of, release, str(root)]
    _run([*command, mirror] if mirror else command)
    settings.unlink()


def cache_folder() -> Path:
    """Return where roots and images are kept."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "storage-matrix"


def _image(cache: Path | None) -> Image:
    folder = (cache or cache_folder() / "vm") / f"{suite()}-{_key()}"
    return Image(folder / "vmlinuz", folder / "initramfs.cpio")


def _key() -> str:
    return hashlib.sha256(Path(__file__).read_bytes() + _prepare_script()).hexdigest()[:16]


def _prepare_script() -> bytes:
    return Path(__file__).with_name("prepare.sh").read_bytes()


def _build(folder: Path) -> None:
    root = folder / "root"
    fetch_kernel = FETCH_KERNEL.format(folder=shlex.quote(str(folder)))
    bootstrap(suite(), PACKAGES, root, f"--customize-hook={fetch_kernel}")
    _add_kernel(folder, root)
    _configure(root)
    _slim(root)
    for program in ("fio", "mkfs.xfs", "mdadm", "rsync"):
        _run(["chroot", str(root), program, "-V" if program == "mkfs.xfs" else "--version"])
    command = f"find . -print0 | cpio --null --create --format=newc --quiet > {folder / 'initramfs.cpio'}"
    subprocess.run(["bash", "-c", command], cwd=root, check=True)
    shutil.rmtree(root)


def _add_kernel(folder: Path, root: Path) -> None:
    [package] = folder.glob("linux-image-*.deb")
    unpacked = folder / "kernel"
    _run(["dpkg-deb", "-x", str(package), str(unpacked)])
    [kernel] = (unpacked / "boot").glob("vmlinuz-*")
    kernel.rename(folder / "vmlinuz")
    # Debian 13 has them below /usr, the others do not.
    [modules] = [*unpacked.glob("lib/modules/*"), *unpacked.glob("usr/lib/modules/*")]
    wanted = root / "lib/modules" / modules.name
    for part in MODULES:
        # Newer kernels of Debian have compressed modules: nf_tables.ko.xz.
        for source in (modules / "kernel").glob(f"{part}*" if part.endswith(".ko") else part):
            copy = wanted / source.relative_to(modules)
            copy.parent.mkdir(parents=True, exist_ok=True)
            (shutil.copytree if source.is_dir() else shutil.copy)(source, copy)
    for module in [*wanted.rglob("*.ko"), *wanted.rglob("*.ko.xz")]:
        _ease(module)
    for index in modules.glob("modules.*"):
        shutil.copy(index, wanted / index.name)
    _run(["depmod", "-b", str(root), modules.name])
    package.unlink()
    shutil.rmtree(unpacked)


def _ease(module: Path) -> None:
    """Take compression and signature off: each costs an emulated processor some tenths of a second, at each boot."""
    content = module.read_bytes()
    if module.suffix == ".xz":
        module.unlink()
        module, content = module.with_suffix(""), lzma.decompress(content)
    if content.endswith(SIGNATURE_MAGIC):
        signed = content[: -len(SIGNATURE_MAGIC)]
        (length,) = SIGNATURE_HEADER.unpack(signed[-SIGNATURE_HEADER.size :])
        content = signed[: -SIGNATURE_HEADER.size - length]
    module.write_bytes(content)


def _configure(root: Path) -> None:
    """Configure DHCP, cloud-init with EC2's metadata and only user data, and our own preparation."""
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
    trigger = units / "systemd-udev-trigger.service.d/vm.conf"
    trigger.parent.mkdir()
    # udev needs to process only disks and the network card.
    wanted = "--action=add --subsystem-match=block --subsystem-match=net"
    trigger.write_text(f"[Service]\nExecStart=\nExecStart=-udevadm trigger {wanted}\n")
    for unit in MASKED:
        _link(units / unit, "/dev/null")
    _link(units / "default.target", "/lib/systemd/system/multi-user.target")
    _run(["chroot", str(root), "systemctl", "enable", "systemd-networkd", "storage-matrix-vm"])
    (root / "etc/machine-id").write_text("0" * 31 + "1\n")
    _link(root / "init", "/sbin/init")


def _slim(root: Path) -> None:
    for pattern in SUPERFLUOUS:
        for path in root.glob(pattern):
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def _link(path: Path, target: str) -> None:
    path.unlink(missing_ok=True)
    path.symlink_to(target)


def _run(command: list[str], cwd: Path | None = None) -> str:
    try:
        done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False, timeout=BUILD_TIMEOUT_S)
    except subprocess.TimeoutExpired as err:
        why = f"building the image: {command[0]} did not end within {BUILD_TIMEOUT_S} s"
        raise ImageUnavailableError(why, "is a Debian mirror reachable?") from err
    if done.returncode:
        end = done.stderr.strip().splitlines()[-5:]
        raise ImageUnavailableError(f"building the image: {' '.join(command)} ended with {done.returncode}: {end}")
    return done.stdout
