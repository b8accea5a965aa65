"""Admin commands to an NVMe controller that is played."""

import ctypes
import struct

from agent.machine import nvme


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


def test_a_command_has_the_layout_of_the_kernel_and_a_refusal_is_no_page(monkeypatch, tmp_path):
    controller = Controller(b"serial", b"")
    monkeypatch.setattr(nvme.fcntl, "ioctl", controller.ioctl)
    disk = tmp_path / "nvme1n1"
    disk.touch()

    told, refused = (nvme.command(disk, 6, namespace=1, cdw10=0x03FF00D0) for _ in range(2))

    assert (told[:6], len(told), refused) == (b"serial", 4096, b"")
    assert nvme.command(tmp_path / "gone", 6) == b""
    assert {(raw[0], struct.unpack_from("<I", raw, 4)[0], struct.unpack_from("<I", raw, 40)[0])
            for raw in controller.commands} == {(6, 1, 0x03FF00D0)}  # fmt: skip
