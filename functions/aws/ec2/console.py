"""EC2's console output of instances that wrote nothing to the bucket: the only source for why they ended."""

import re
from collections.abc import Sequence

from botocore.exceptions import BotoCoreError, ClientError

from aws.stack.clients import impatient_client
from contract.retryable import reason_of
from matrix.run.polling import without_figures

# EC2 keeps 64 KB. An instance wrote them: they may be anything.
MAX_LETTERS = 65_536
MAX_LINES, MAX_LINE_LETTERS = 3, 200
# Terminal control sequences: colours and cursor moves (CSI), titles (OSC), others of two characters (ECMA-48).
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
# Instances of one fleet mostly end for one reason, and each takes up to two calls of 5 s.
MAX_ASKED = 3


def last_lines(output: str) -> str:
    """Return the last lines that may show why an instance ended; '' if there are none.

    These are the last lines of the user data and the last lines of all: a kernel panic comes after the user data, and a
    shutdown prints more than the known noise.
    """
    lines = [line for line in map(_plain, output[-MAX_LETTERS:].splitlines()) if line and not NOISE.search(line)]
    of_user_data = [number for number, line in enumerate(lines) if USER_DATA.search(line)]
    shown = sorted({*of_user_data[-MAX_LINES:], *range(max(0, len(lines) - MAX_LINES), len(lines))})
    return " | ".join(lines[number][:MAX_LINE_LETTERS] for number in shown)


def _plain(line: str) -> str:
    """Return a line without terminal control characters, the kernel's time and wide gaps."""
    text = "".join(letter if letter.isprintable() else " " for letter in ESCAPES.sub("", line))
    return " ".join(KERNEL_TIME.sub("", text.strip()).split())


def last_output(instances: Sequence[str]) -> list[str]:
    """Return the last console lines of the first of these instances, each once, or the reason why they are missing."""
    words: dict[str, str] = {}
    for instance in instances[:MAX_ASKED]:
        try:
            lines = last_lines(_output(instance))
        except (ClientError, BotoCoreError) as error:
            # The cell has failed already, and its error must stay the reported one.
            words.setdefault("refused", f"the console output of {instance} was not read: {reason_of(error)}")
            continue
        if lines:
            words.setdefault(without_figures(lines), f"the console of {instance} ends: {lines}")
        else:
            words.setdefault("empty", f"EC2 has no console output yet; later: {_by_hand(instance)}")
    return list(words.values())


def _output(instance: str) -> str:
    """Return the console output of an instance so far.

    EC2 posts it minutes after a boot and after the end of an instance. Only types on Nitro have it at any time
    (`Latest`). EC2 refuses that call for other types, and may do so for an instance that has ended.
    https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_GetConsoleOutput.html
    """
    ec2 = impatient_client("ec2")
    try:
        latest = ec2.get_console_output(InstanceId=instance, Latest=True).get("Output")
    except ClientError:
        latest = None
    return latest or ec2.get_console_output(InstanceId=instance).get("Output") or ""


def _by_hand(instance: str) -> str:
    return f"aws ec2 get-console-output --instance-id {instance}"
