"""DynamoDB: one call at a time, as its updates are atomic and moto's are not.

moto's UpdateItem puts an empty item and fills it afterwards, and looks at a condition before it takes effect. Of two
calls at once a query may see a row without its attributes, and both of two conditional writes may win.
"""

import threading
from typing import Any

from moto.dynamodb.responses import DynamoHandler


def install() -> None:
    """Answer DynamoDB's calls one after the other. After the enforcement of roles, which this shall contain."""
    lock, call_action = threading.Lock(), DynamoHandler.call_action

    def call_action_alone(self: Any) -> Any:
        with lock:
            return call_action(self)

    DynamoHandler.call_action = call_action_alone
