"""DynamoDB: one call at a time, as its updates are atomic and moto's are not.

moto's UpdateItem puts an empty item and fills it afterwards, and checks a condition some time before it writes. So a
query may see a row without its attributes, and two conditional writes at once may both succeed.
"""

import threading
from typing import Any

from moto.dynamodb.responses import DynamoHandler

from local.corrections import dynamodb_speed


def install() -> None:
    """Answer DynamoDB's calls one after the other; install it after the enforcement of roles, to serialize that too."""
    dynamodb_speed.install()
    lock, call_action = threading.Lock(), DynamoHandler.call_action

    def call_action_alone(self: Any) -> Any:
        with lock:
            return call_action(self)

    DynamoHandler.call_action = call_action_alone
