"""The JSON Schema of a matrix, for completion and checks in editors.

`PYTHONPATH=functions python -m matrix.check.schema > docs/matrix.schema.json` writes it; a test says when that is due.
"""

import json
import sys
from typing import Any

from matrix.input.matrix import Matrix


def matrix_schema() -> dict[str, Any]:
    """Return the schema; it knows shapes and ranges, the limits that link fields are `matrix plan`'s to check."""
    schema = Matrix.model_json_schema(by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema"} | schema | {"title": "Storage Matrix"}


def schema_text() -> str:
    """Return the schema as it is kept in docs/matrix.schema.json."""
    return json.dumps(matrix_schema(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.write(schema_text())
