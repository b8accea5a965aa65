"""The JSON Schema of a matrix, for completion and checks in editors.

`PYTHONPATH=functions python -m matrix.check.schema > docs/matrix.schema.json` writes it; a test fails if it is old.
"""

import ast
import inspect
import json
import sys
import textwrap
from functools import cache
from itertools import pairwise
from typing import Any, cast

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from matrix.input.matrix import Matrix


class _Described(GenerateJsonSchema):
    """Adds the docstring below each field as its description.

    pydantic's `use_attribute_docstrings` does the same, but for each class when it is defined. That took 0.2 s of each
    start of a function or a command, and only the schema needs it.
    """

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        """Return the schema of a model, with the texts of its fields."""
        described, model = super().model_schema(schema), schema["cls"]
        for name, field in model.model_fields.items():
            declaring = next(ancestor for ancestor in model.__mro__ if name in ancestor.__annotations__)
            text = field.description or _texts_below(declaring).get(name)
            if text:
                described["properties"][field.alias]["description"] = text
        return described


def matrix_schema() -> dict[str, Any]:
    """Return the schema; it knows shapes and ranges, the limits that link fields are `matrix plan`'s to check."""
    schema = Matrix.model_json_schema(by_alias=True, schema_generator=_Described)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema"} | schema | {"title": "Storage Matrix"}


@cache
def _texts_below(model: type) -> dict[str, str]:
    """Return the docstrings of the fields of a class, by field name."""
    [declared] = ast.parse(textwrap.dedent(inspect.getsource(model))).body
    texts = {}
    for field, text in pairwise(cast("ast.ClassDef", declared).body):
        match field, text:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(words))):
                texts[name] = inspect.cleandoc(words)
    return texts


def schema_text() -> str:
    """Return the schema as it is kept in docs/matrix.schema.json."""
    return json.dumps(matrix_schema(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.write(schema_text())
