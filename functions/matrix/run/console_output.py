"""Shorten an instance's console output to the lines that may explain its end."""

import re

# EC2 keeps 64 KB. An instance wrote them: they may be anything.
MAX_LETTERS = 65_536
LINES, LINE_MOST_LETTERS = 3, 200
ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|.)")
KERNEL_TIME = re.compile(r"^\[ *[0-9]+\.[0-9]+\] ")
# Lines of each boot and shutdown without information about failures: systemd's successful jobs, cloud-init's tables and
# host keys, the login prompt, the shutdown.
NOISE = re.compile(
    r"^\[ +OK +\]|^(?:Start|Stopp|Mount|Unmount|Reach)ing |\blogin:$|\bci-info: |^ci-info:|SSH HOST KEY|SHA256:"
    r"|^(?:ssh|ecdsa)-\S+ AAAA|\bCloud-init v\. |^reboot: |systemd-shutdown\[|\bsystemd\[1\]: "
    r"|^(?:Amazon Linux|Ubuntu) [0-9]|^Kernel \S+ on an "
)
# Output of the user data, which cloud-init runs and prefixes.
USER_DATA = re.compile(r"\bcloud-init\[[0-9]+\]: ")


def last_lines(output: str) -> str:
    """Return the last lines that may show why an instance ended; '' if there are none.

    These are the last lines of the user data and the last lines of all: a kernel panic comes after the user data, and a
    shutdown prints more than the known noise.
    """
    lines = [line for line in map(_plain, output[-MAX_LETTERS:].splitlines()) if line and not NOISE.search(line)]
    of_user_data = [number for number, line in enumerate(lines) if USER_DATA.search(line)]
    shown = sorted({*of_user_data[-LINES:], *range(max(0, len(lines) - LINES), len(lines))})
    return " | ".join(lines[number][:LINE_MOST_LETTERS] for number in shown)


def _plain(line: str) -> str:
    """Return a line without terminal control characters, the kernel's time and wide gaps."""
    text = "".join(letter if letter.isprintable() else " " for letter in ESCAPES.sub("", line))
    return " ".join(KERNEL_TIME.sub("", text.strip()).split())
