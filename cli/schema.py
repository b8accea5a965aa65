"""`matrix schema`: the JSON Schema of a matrix."""

import json

import typer


def schema() -> None:
    """Print the JSON Schema of a matrix.

    For editors, which then complete and check a matrix as it is written, and for validators.

    Example: matrix schema > matrix.schema.json
    """
    from matrix.inputs import Matrix

    typer.echo(json.dumps(Matrix.model_json_schema(), indent=2))
