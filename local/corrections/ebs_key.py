"""An account whose default EBS key is its own: volumes use it, so the caller of a launch needs permission to use it.

RunInstances does not check this: EC2 creates the volumes later in the caller's name, and terminates the instances if
the key refuses. Key policy and the caller's own policies decide together, as for every key.
https://docs.aws.amazon.com/ebs/latest/userguide/ebs-encryption-requirements.html
"""

import json
from collections.abc import Callable
from typing import Any

from moto.ec2.models import ec2_backends
from moto.ec2.models.instances import StateReason
from moto.kms.models import kms_backends

from local.corrections.ec2 import Player
from local.corrections.folders import later

ACTIONS = ("CreateGrant", "Decrypt", "DescribeKey", "GenerateDataKeyWithoutPlaintext", "ReEncryptTo")
# State reason of an instance whose key EC2 may not use (EC2 user guide, "Instance terminates immediately").
CODE, MESSAGE = "Client.InternalError", "Client.InternalError: Client error on launch"
Allows = Callable[[str, str, dict[str, str]], bool]


def make(account: str, region: str) -> str:
    """Make a key of the account its default for EBS; return its ARN. Its policy leaves all to policies of roles."""
    own = {
        "Sid": "Enable IAM User Permissions",
        "Effect": "Allow",
        "Principal": {"AWS": f"arn:aws:iam::{account}:root"},
        "Action": "kms:*",
        "Resource": "*",
    }
    policy = json.dumps({"Version": "2012-10-17", "Statement": [own]})
    key = kms_backends[account][region].create_key(policy, "ENCRYPT_DECRYPT", "SYMMETRIC_DEFAULT", "of disks", None)
    ec2_backends[account][region].modify_ebs_default_kms_key_id(key.id)
    return str(key.arn)


def policy_of(account: str, key: str) -> dict[str, Any]:
    """Return the current policy of a key."""
    backend = kms_backends[account][key.split(":")[3]]
    return dict(json.loads(backend.keys[key.rpartition("/")[2]].policy))


class KeyHolder:
    """Plays instances whose launching role may use the key, and ends the others as EC2 does."""

    def __init__(self, player: Player, key: str, allows: Allows) -> None:
        """`allows` returns whether the caller may do an action with a key, with these condition keys."""
        self._player, self._key, self._allows = player, key, allows

    def begin(self, instance: Any) -> None:
        """Bring a pending instance to life, or to its end."""
        service = {"kms:viaservice": f"ec2.{instance.region_name}.amazonaws.com", "kms:grantisforawsresource": "true"}
        # Check all of them, so that the log of decisions has every missing permission.
        allowed = [self._allows(f"kms:{action}", self._key, service) for action in ACTIONS]
        if all(allowed):
            self._player.begin(instance)
        else:
            # Seconds later on AWS; here the launch has been answered at least.
            later(0.5, _refuse, instance)

    def end(self, instance: Any) -> None:
        self._player.end(instance)

    def console(self, instance: Any) -> bytes:
        """Return the last that an instance has printed."""
        return self._player.console(instance)


def _refuse(instance: Any) -> None:
    instance.finish_termination()
    instance.state_reason = StateReason(MESSAGE, CODE)
