"""EC2's console output of instances that wrote nothing to the bucket: the only source for why they ended."""

from collections.abc import Sequence

from botocore.exceptions import BotoCoreError, ClientError

from aws.stack.clients import impatient_client
from contract.retryable import reason_of
from matrix.run.console_output import last_lines
from matrix.run.polling import alike

# Instances of one fleet mostly end for one reason, and each takes up to two calls of 5 s.
MAX_ASKED = 3


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
            words.setdefault(alike(lines), f"the console of {instance} ends: {lines}")
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
