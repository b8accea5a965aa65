"""Read requests as moto hands them on."""

import json
from typing import Any


def body_of(response: Any) -> dict:
    """Return the request's JSON; of moto's services only DynamoDB has parsed it already."""
    parameters = response.body or {}
    if isinstance(parameters, (str, bytes)):
        try:
            parameters = json.loads(parameters)
        except ValueError:
            return {}
    return parameters if isinstance(parameters, dict) else {}
