"""The statistics page of Nitro volumes: bytes as AWS's own reader lays them out, and a controller that is played."""

import ctypes
import struct
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from agent import samples, session
from agent.job import Step
from agent.machine import nvme, over_time
from agent.workloads.trial import Outcome

# Offset and size of each field in struct nvme_get_amzn_stats_logpage of amazon-ec2-utils (ebsnvme), all little-endian.
FIELDS = {
    "_magic": (0, 4), "_reserved0": (4, 4), "total_read_ops": (8, 8), "total_write_ops": (16, 8),
    "total_read_bytes": (24, 8), "total_write_bytes": (32, 8), "total_read_time": (40, 8), "total_write_time": (48, 8),
    "ebs_volume_performance_exceeded_iops": (56, 8), "ebs_volume_performance_exceeded_tp": (64, 8),
    "ec2_instance_ebs_performance_exceeded_iops": (72, 8), "ec2_instance_ebs_performance_exceeded_tp": (80, 8),
    "volume_queue_length": (88, 8),
}  # fmt: skip
EBS, INSTANCE_STORE = 0x3C23B510, 0xEC2C0D7E


def page(magic: int = EBS, **fields: int) -> bytes:
    """A statistics page with these fields."""
    built = bytearray(4096)
    for name, value in {"_magic": magic, **fields}.items():
        offset, size = FIELDS[name]
        built[offset : offset + size] = value.to_bytes(size, "little")
    return bytes(built)


BUSY = {
    "total_read_ops": 101, "total_write_ops": 1_202, "total_read_bytes": 413_696, "total_write_bytes": 2**41,
    "total_read_time": 50_500, "total_write_time": 3_606_000, "ebs_volume_performance_exceeded_iops": 1_500_000,
    "ebs_volume_performance_exceeded_tp": 250_000, "ec2_instance_ebs_performance_exceeded_iops": 125_000,
    "ec2_instance_ebs_performance_exceeded_tp": 62_500, "volume_queue_length": 7,
}  # fmt: skip


def test_a_volume_tells_operations_bytes_and_how_long_it_was_asked_for_more_than_it_has():
    assert nvme.parse_statistics(page(**BUSY)) == {
        "volume_read_operations": 101,
        "volume_write_operations": 1_202,
        "volume_read_bytes": 413_696,
        "volume_write_bytes": 2**41,
        "volume_read_s": 0.0505,
        "volume_write_s": 3.606,
        "volume_iops_exceeded_s": 1.5,
        "volume_throughput_exceeded_s": 0.25,
        "instance_ebs_iops_exceeded_s": 0.125,
        "instance_ebs_throughput_exceeded_s": 0.0625,
    }


def test_a_disk_of_the_instance_type_tells_its_own_limits_where_a_volume_tells_the_instances():
    told = nvme.parse_statistics(page(INSTANCE_STORE, **BUSY))

    assert (told["volume_iops_exceeded_s"], told["volume_throughput_exceeded_s"]) == (0.125, 0.0625)
    assert not [name for name in told if name.startswith("instance_ebs")]


@pytest.mark.parametrize("text", [b"", b"\x10\xb5#<", bytes(4096), page(0x12345678, **BUSY)])
def test_what_is_not_a_page_of_amazon_tells_nothing(text):
    assert nvme.parse_statistics(text) == {}


@pytest.fixture
def nitro(tmp_path: Path) -> Path:
    """A sysfs with two volumes of which one has a partition, an array of both, and a virtio disk."""
    devices = tmp_path / "sys/devices"
    for name in ("nvme1n1", "nvme1n1/nvme1n1p1", "nvme2n1", "md0", "vda"):
        (devices / name).mkdir(parents=True)
        (devices / name / "slaves").mkdir()
    (devices / "nvme1n1/nvme1n1p1/partition").write_text("1\n")
    for member in ("nvme1n1", "nvme2n1"):
        (devices / "md0/slaves" / member).symlink_to(devices / member)
    return devices


def test_the_disks_below_a_file_system_are_itself_those_of_its_partition_or_of_its_array(nitro):
    assert nvme.disks_below(nitro / "nvme1n1") == ["nvme1n1"]
    assert nvme.disks_below(nitro / "nvme1n1/nvme1n1p1") == ["nvme1n1"]
    assert nvme.disks_below(nitro / "md0") == ["nvme1n1", "nvme2n1"]
    assert nvme.disks_below(nitro / "vda") == []
    assert nvme.disks_below(nitro / "nowhere") == []
    (nitro / "md0/slaves/vda").symlink_to(nitro / "vda")
    assert nvme.disks_below(nitro / "md0") == []


class Controller:
    """Answers admin commands as a volume's controller does, into the memory that the command names."""

    def __init__(self, *answers: bytes) -> None:
        """Give one answer after another."""
        self._answers = list(answers)
        self.commands: list[bytes] = []

    def ioctl(self, _descriptor: int, request: int, command: ctypes.Structure) -> int:
        """Check the request as the kernel does: the command's size is part of its number (linux/ioctl.h)."""
        assert (request >> 16) & 0x3FFF == ctypes.sizeof(command)
        raw = bytes(command)
        self.commands.append(raw)
        # struct nvme_admin_cmd: addr at 24, data_len at 36.
        address, length = struct.unpack_from("<Q4xI", raw, 24)
        answer = self._answers.pop(0)
        if not answer:
            return 0x4002  # invalid field in command, do not retry
        ctypes.memmove(address, answer, min(length, len(answer)))
        return 0


@pytest.fixture
def array(nitro, tmp_path, monkeypatch):
    """A path on the array of two volumes, whose controllers give the answers that `play` is called with."""
    storage = tmp_path / "storage"
    storage.mkdir()
    device = storage.stat().st_dev
    blocks = tmp_path / "sys/dev/block"
    blocks.mkdir(parents=True)
    (blocks / f"{nvme.os.major(device)}:{nvme.os.minor(device)}").symlink_to(nitro / "md0")
    (tmp_path / "dev").mkdir()
    for disk in ("nvme1n1", "nvme2n1"):
        (tmp_path / "dev" / disk).touch()

    def play(*answers: bytes) -> tuple[dict[str, float], Controller]:
        controller = Controller(*answers)
        monkeypatch.setattr(nvme.fcntl, "ioctl", controller.ioctl)
        return nvme.of_storage(storage, tmp_path), controller

    return play


def test_an_array_has_done_what_its_volumes_have_done_and_was_held_back_as_long_as_they_were(array):
    told, controller = array(page(**BUSY), page(total_read_ops=9, ebs_volume_performance_exceeded_iops=500_000))

    assert told["volume_read_operations"] == 110
    assert told["volume_write_bytes"] == 2**41
    assert told["volume_iops_exceeded_s"] == 1.0
    # Opcode 2 for namespace 1; page 0xD0 of 1,024 double words, told as one less.
    assert {(raw[0], struct.unpack_from("<I", raw, 4)[0], struct.unpack_from("<I", raw, 40)[0])
            for raw in controller.commands} == {(2, 1, 0x03FF00D0)}  # fmt: skip


def test_an_array_of_which_one_volume_does_not_tell_tells_nothing(array):
    assert array(page(**BUSY), b"")[0] == {}


def test_a_folder_on_no_nvme_disk_tells_nothing(tmp_path):
    assert nvme.of_storage(tmp_path, tmp_path) == {}
    assert nvme.of_storage(tmp_path / "gone", tmp_path) == {}


def test_what_went_on_before_a_step_stands_beside_it_and_is_not_its_own(monkeypatch, tmp_path):
    kernel = iter([{"disk_write_bytes": 300.0, "cpu_s": 1.0}, {"disk_write_bytes": 700.0, "cpu_s": 3.0}])
    volume = iter([{"volume_write_bytes": 1_000.0}, {"volume_write_bytes": 1_400.0}])
    monkeypatch.setattr(session.counters, "of_storage", lambda _: {"disk_write_bytes": 100.0})
    monkeypatch.setattr(session.counters, "cheap", lambda _: next(kernel))
    monkeypatch.setattr(session.nvme, "of_storage", lambda _: next(volume))
    armed = SimpleNamespace(released_ns=0, ended_ns=0, wall_time=lambda _: 5.0)
    outcome = Outcome({"duration_s": 1.0}, {}, {})
    trial = SimpleNamespace(armed=armed, run=list, read=lambda *_: outcome, workers=1)
    step = Step(0, "p01", 1, {})
    heartbeat = SimpleNamespace(say=lambda *_: None)
    measuring = session.Session(None, "u", None, None)
    measuring._seen = 2.0, {"disk_write_bytes": 100.0}

    _, conditions = measuring._measure(step, trial, "not dropped", heartbeat, tmp_path, over_time.nothing())

    taken = samples.sample(step, outcome, conditions, [])
    assert taken["between"]["counters"] == {"disk_write_bytes": 200.0}
    assert taken["between"]["since"] == pytest.approx(time.time() - time.monotonic() + 2.0, abs=5.0)
    assert {name: taken["counters"][name] for name in ("disk_write_bytes", "volume_write_bytes", "cpu_s")} == {
        "disk_write_bytes": 400.0, "volume_write_bytes": 400.0, "cpu_s": 2.0,
    }  # fmt: skip
    assert measuring._seen[1] == {"disk_write_bytes": 700.0}
