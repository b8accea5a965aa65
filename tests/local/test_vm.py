"""What surrounds a VM: its command line, its metadata service and its pipes; a whole fleet is in test_vm_fleet.py."""

import json
import lzma
import socket
import socketserver
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from pathlib import Path
from types import SimpleNamespace

import pytest

from agent.machine.disks import INSTANCE_STORE_SERIAL
from local.instances.metadata import InstanceIdentity, MetadataService
from local.instances.vm import groups, image, machine, machines
from local.instances.vm.pipe import SECRET_VARIABLE

VOLUMES = ("vol-0123456789abcdef0", "vol-0fedcba9876543210")


FLEET = groups.Interface(
    "10.0.0.7", (groups.Group("sg-1", (), (groups.Rule("tcp", 2049, 2049, frozenset({"sg-2"})),)),)
)
OPEN, CLOSED = (
    groups.Interface("10.0.0.9", (groups.Group(name, (groups.Rule("-1", 0, 65_535, frozenset({"sg-1"})),), ()),))
    for name in ("sg-2", "sg-3")
)


@pytest.fixture
def argv(tmp_path):
    """The command of a machine with two volumes and two file systems, of which its group lets it reach the first."""
    return machine.command(
        image.Image(tmp_path / "vmlinuz", tmp_path / "initramfs"), instance_id="i-0123456789abcdef0", aws_port=5000,
        metadata_port=6000, folder=tmp_path, interface=FLEET,
        volumes=[machine.Volume(one, f"sd{letter}", tmp_path / one) for one, letter in zip(VOLUMES, "fg", strict=True)],
        file_systems=[
            machine.FileSystem("fs-1.efs.x.amazonaws.com", 7001, OPEN), machine.FileSystem("fs-2.fsx.x", 7002, CLOSED),
        ],
    )  # fmt: skip


def test_volumes_carry_their_ids_and_the_guest_learns_their_devices(argv, tmp_path):
    serials = [word.rpartition("serial=")[2] for word in argv if word.startswith("virtio-blk-pci")]

    assert serials == ["vol0123456789abcdef0", "vol0fedcba9876543210"]
    assert (tmp_path / "volumes").read_text() == "vol0123456789abcdef0 sdf\nvol0fedcba9876543210 sdg\n"


def test_the_disks_of_an_instance_type_have_serial_numbers_but_no_device(tmp_path):
    instance = SimpleNamespace(id="i-0123456789abcdef0", instance_type="c5d.12xlarge")

    disks = machines.instance_store(instance, tmp_path)

    assert [disk.serial for disk in disks] == ["AWS0123456789ABCDEF0", "AWS0123456789ABCDEF1"]
    assert all(INSTANCE_STORE_SERIAL.fullmatch(disk.serial) and not disk.device for disk in disks)
    assert disks[0].path.stat().st_size == 900 * 10**9 > 1000 * disks[0].path.stat().st_blocks * 512
    assert machines.instance_store(SimpleNamespace(id="i-0", instance_type="t3.medium"), tmp_path) == []


def test_each_file_system_has_an_address_of_its_own_where_its_server_answers(argv, tmp_path):
    [network] = [word for word in argv if word.startswith("user,id=net")]
    hosts = dict(reversed(line.split()) for line in (tmp_path / "hosts").read_text().splitlines())

    assert len(set(hosts.values())) == 2
    for name, port in (("fs-1.efs.x.amazonaws.com", 7001), ("fs-2.fsx.x", 7002)):
        assert f"guestfwd=tcp:{hosts[name]}:2049-cmd:{sys.executable} -S {machine.PIPE} {port}" in network
    assert f"guestfwd=tcp:169.254.169.254:80-cmd:{sys.executable} -S {machine.PIPE} 6000" in network


def test_a_machine_is_given_the_rules_of_its_groups(argv, tmp_path):
    hosts = dict(reversed(line.split()) for line in (tmp_path / "hosts").read_text().splitlines())
    rules = (tmp_path / "groups").read_text()

    assert f"name=opt/storage-matrix/groups,file={tmp_path / 'groups'}" in argv
    assert f"ip daddr {hosts['fs-1.efs.x.amazonaws.com']} tcp dport 2049 accept" in rules
    # Neither the second file system nor, without a rule for 443, the APIs of AWS.
    assert hosts["fs-2.fsx.x"] not in rules
    assert machine.HOST not in rules.split()
    assert "{ 169.254.169.3, 169.254.169.254, 169.254.169.123 } accept" in rules


def test_the_firmware_says_ec2_and_the_kernel_which_instance(argv):
    kernel = argv[argv.index("-append") + 1]

    # NFS servers take machines of one name for one client.
    assert "systemd.hostname=i-0123456789abcdef0" in kernel
    assert any(word.startswith("type=1,manufacturer=Amazon EC2,uuid=ec201234-") for word in argv)


def test_a_mirror_that_never_answers_makes_no_image(monkeypatch):
    monkeypatch.setattr(image, "BUILD_TIMEOUT_S", 0.1)

    with pytest.raises(image.ImageUnavailableError, match="sleep did not end within"):
        image._run(["sleep", "5"])


def test_a_release_of_debian_that_machines_cannot_run_is_refused_by_name(monkeypatch):
    monkeypatch.setenv(image.SUITE_VARIABLE, "sarge")

    with pytest.raises(image.ImageUnavailableError, match="STORAGE_MATRIX_VM_SUITE is 'sarge', which is none of bull"):
        image.suite()


def test_an_image_of_one_release_is_never_taken_for_that_of_another(monkeypatch, tmp_path):
    kernels = set()
    for suite in ("", *image.SUITES):
        monkeypatch.setenv(image.SUITE_VARIABLE, suite)
        kernels.add(image._image(tmp_path).kernel)

    assert len(kernels) == len(image.SUITES)


def test_a_root_is_made_by_the_settings_of_apt_and_from_the_mirror_that_is_named(monkeypatch, tmp_path):
    seen = []
    monkeypatch.setattr(
        image, "_run", lambda command: seen.append(command) or 'Acquire::http::Proxy "http://p:3128";\n'
    )
    monkeypatch.setenv(image.MIRROR_VARIABLE, "http://archive.debian.org/debian")

    image.bootstrap("bullseye", ("python3", "fio"), tmp_path / "root", "--customize-hook=true")

    assert seen[0] == ["apt-config", "dump", "Acquire"]
    assert {"--include=python3,fio", f"--aptopt={tmp_path}/apt.conf", "--customize-hook=true"} <= set(seen[1])
    assert seen[1][-3:] == ["bullseye", str(tmp_path / "root"), "http://archive.debian.org/debian"]


SIGNED = b"module" + b"signature" + image.SIGNATURE_HEADER.pack(len(b"signature")) + image.SIGNATURE_MAGIC


@pytest.mark.parametrize(
    ("name", "content"),
    [("lib/modules/6", SIGNED), ("usr/lib/modules/6", lzma.compress(SIGNED)), ("lib/modules/6", b"module")],
)
def test_the_modules_of_a_kernel_are_found_where_its_release_has_them_and_made_plain(
    monkeypatch, tmp_path, name, content
):
    suffix = ".xz" if content.startswith(b"\xfd7zXZ") else ""

    def unpack(command):
        if command[0] == "dpkg-deb":
            for file in ("boot/vmlinuz-6", f"{name}/kernel/fs/xfs/xfs.ko{suffix}"):
                path = Path(command[-1]) / file
                path.parent.mkdir(parents=True)
                path.write_bytes(content)

    monkeypatch.setattr(image, "_run", unpack)
    (tmp_path / "linux-image-6.deb").touch()

    image._add_kernel(tmp_path, tmp_path / "root")

    assert (tmp_path / "vmlinuz").exists()
    [module] = (tmp_path / "root/lib/modules/6/kernel/fs/xfs").iterdir()
    assert (module.name, module.read_bytes()) == ("xfs.ko", b"module")


def test_what_is_missing_is_named(monkeypatch):
    monkeypatch.setattr(image.shutil, "which", lambda name: None if name == "mmdebstrap" else f"/usr/bin/{name}")

    with pytest.raises(
        image.ImageUnavailableError, match="mmdebstrap missing; on Debian or Ubuntu, as root: apt-get install qemu"
    ):
        image.image()


@pytest.fixture
def own_endpoint():
    """The metadata service as one VM sees it: each connection is joined to it by the program that qemu runs."""
    service = MetadataService()
    values = {"instance-id": "i-1", "instance-type": "t3.medium", "ami-id": "ami-1"}
    values |= {"placement/region": "us-east-1", "placement/availability-zone": "us-east-1a"}
    session = SimpleNamespace(access_key_id="k", secret_access_key="s", session_token="t")
    identity = InstanceIdentity(values, "role", lambda: session, "#!/bin/bash\necho hello\n")
    service.serve("i-1", identity)
    command = [sys.executable, "-S", str(machine.PIPE), str(service.own_port("i-1")), "secret"]
    secret = {SECRET_VARIABLE: identity.secret}

    class Forward(socketserver.BaseRequestHandler):
        def handle(self):
            subprocess.run(command, stdin=self.request, stdout=self.request, env=secret)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Forward) as qemu:
        threading.Thread(target=qemu.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{qemu.server_address[1]}"
        qemu.shutdown()
    service.close()


def ask(address: str, token: str | None = None) -> str:
    """A GET, with a token if there is one."""
    headers = {"X-aws-ec2-metadata-token": token} if token else {}
    with urllib.request.urlopen(urllib.request.Request(address, headers=headers), timeout=5) as answer:
        return answer.read().decode()


def test_cloud_init_finds_user_data_and_identity_without_an_id_in_the_path(own_endpoint):
    request = urllib.request.Request(f"{own_endpoint}/latest/api/token", method="PUT")
    token = urllib.request.urlopen(request, timeout=5).read().decode()

    assert ask(f"{own_endpoint}/2021-03-23/user-data", token) == "#!/bin/bash\necho hello\n"
    assert ask(f"{own_endpoint}/2021-03-23/meta-data/", token).splitlines() == [
        "ami-id", "instance-id", "instance-type", "placement/",
    ]  # fmt: skip
    assert ask(f"{own_endpoint}/2021-03-23/dynamic/instance-identity", token) == "document"
    document = json.loads(ask(f"{own_endpoint}/2021-03-23/dynamic/instance-identity/document", token))
    assert document["instanceId"] == "i-1"


def test_user_data_needs_a_token(own_endpoint):
    with pytest.raises(urllib.error.HTTPError, match="401"):
        ask(f"{own_endpoint}/latest/user-data")


def test_a_pipe_carries_both_ways_until_one_side_ends():
    server = socket.create_server(("127.0.0.1", 0))

    def echo():
        connection, _ = server.accept()
        with connection:
            while data := connection.recv(1 << 16):
                connection.sendall(data)

    threading.Thread(target=echo, daemon=True).start()
    sent = bytes(range(256)) * 4096
    command = [sys.executable, "-S", str(machine.PIPE), str(server.getsockname()[1])]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as pipe:
        writing = threading.Thread(target=lambda: (pipe.stdin.write(sent), pipe.stdin.flush()), daemon=True)
        writing.start()
        received = b""
        while len(received) < len(sent):
            received += pipe.stdout.read1(1 << 16)
        pipe.stdin.close()
        assert pipe.wait(5) == 0
    assert received == sent
