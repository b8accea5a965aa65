"""The lines of an instance's console that may say why it ended."""

import pytest

from aws.ec2.console import MAX_LINE_LETTERS, last_lines

# As Ubuntu prints with cloud-init 23.2 and systemd 249: times of the kernel, carriage returns, colours.
UBUNTU = (
    "[    0.000000] Linux version 6.5.0-1020-aws (buildd@lcy02-amd64-034)\r\n"
    "[    4.891234] cloud-init[402]: Cloud-init v. 23.2.2-0ubuntu0~22.04.1 running 'init' at Tue. Up 4.87 seconds.\r\n"
    "[    4.901234] cloud-init[402]: ci-info: ++++++++++++++++++++++++Net device info+++++++++++++++++++++++++\r\n"
    "[\x1b[0;32m  OK  \x1b[0m] Finished \x1b[0;1;39mInitial cloud-init job\x1b[0m.\r\n"
    "         Starting \x1b[0;1;39mExecute cloud user/final scripts\x1b[0m...\r\n"
    "Ubuntu 22.04.4 LTS ip-10-0-0-9 ttyS0\r\n\r\nip-10-0-0-9 login: \r\n"
    "<14>Dec 12 14:40:58 cloud-init: -----BEGIN SSH HOST KEY FINGERPRINTS-----\r\n"
    "<14>Dec 12 14:40:58 cloud-init: 256 SHA256:abc root@ip-10-0-0-9 (ED25519)\r\n"
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA root@ip-10-0-0-9\r\n"
    "{user_data}"
    "[   73.541234] cloud-init[731]: Cloud-init v. 23.2.2-0ubuntu0~22.04.1 finished at Tue. Up 73.54 seconds\r\n"
    "         Stopping \x1b[0;1;39mOpenBSD Secure Shell server\x1b[0m...\r\n"
    "[\x1b[0;32m  OK  \x1b[0m] Reached target \x1b[0;1;39mPower-Off\x1b[0m.\r\n"
    "[   74.912345] systemd-shutdown[1]: Syncing filesystems and block devices.\r\n"
    "[   75.012345] reboot: Power down\r\n"
)


def test_of_a_boot_that_ends_in_the_user_data_its_words_are_left():
    said = "s3://b/agents/a.pyz was not fetched: URLError(TimeoutError('timed out'))"

    assert last_lines(UBUNTU.format(user_data=f"[   73.1] cloud-init[731]: {said}\r\n")) == (
        f"Linux version 6.5.0-1020-aws (buildd@lcy02-amd64-034) | cloud-init[731]: {said}"
    )


def test_a_panic_after_the_user_data_is_told_beside_its_last_words():
    said = "".join(f"cloud-init[7]: line {number}\n" for number in range(9))
    panic = [f"[  80.{number}] panic {number}" for number in range(9)]

    assert last_lines(said + "\n".join(panic)) == " | ".join(
        [*(f"cloud-init[7]: line {number}" for number in (6, 7, 8)), "panic 6", "panic 7", "panic 8"]
    )


def test_a_service_that_failed_to_start_is_told():
    assert last_lines("[FAILED] Failed to start cloud-final.service.\n[  OK  ] Reached target Multi-User.\n") == (
        "[FAILED] Failed to start cloud-final.service."
    )


@pytest.mark.parametrize("output", ["", "\r\n\n", "ip-10-0-0-9 login: \n", "\x1b[2J\x1b[H", "\x00\x00\n"])
def test_where_nothing_was_printed_there_are_no_words(output):
    assert last_lines(output) == ""


def test_what_a_stranger_prints_does_nothing_to_a_terminal_and_is_short():
    hostile = "\x1b]0;PWN\x07\x1b[2J\x9b31m\u202egpj.exe\ud800 \x1bcmine" + "x" * 100_000

    words = last_lines("\n".join([hostile] * 50))

    assert all(letter.isprintable() for letter in words)
    assert "PWN" not in words
    assert len(words) <= 3 * MAX_LINE_LETTERS + 2 * len(" | ")
