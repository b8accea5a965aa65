"""What surrounds a VM: its disks, image and metadata service; its command, rules and pipes are in test_vm_fleet.py."""

import json
import lzma
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
from cloud.vm import image, machine, machines
from cloud.vm.pipe import SECRET_VARIABLE
from local.instances.metadata import InstanceIdentity, MetadataService


def test_the_disks_of_an_instance_type_have_serial_numbers_but_no_device(tmp_path):
    instance = SimpleNamespace(id="i-0123456789abcdef0", instance_type="c5d.12xlarge")

    disks = machines.instance_store(instance, tmp_path)

    assert [disk.serial for disk in disks] == ["AWS0123456789ABCDEF0", "AWS0123456789ABCDEF1"]
    assert all(INSTANCE_STORE_SERIAL.fullmatch(disk.serial) and not disk.device for disk in disks)
    assert disks[0].path.stat().st_size == 900 * 10**9 > 1000 * disks[0].path.stat().st_blocks * 512
    assert machines.instance_store(SimpleNamespace(id="i-0", instance_type="t3.medium"), tmp_path) == []


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
