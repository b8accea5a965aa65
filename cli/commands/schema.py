"""`matrix schema`: the JSON Schema of a matrix."""

import typer


def schema() -> None:
    """Print the JSON Schema of a matrix.

    For editors, which then complete and check a matrix as it is written, and for validators.

    Example: matrix schema > matrix.schema.json
    """
    from matrix.check.schema import schema_text

    typer.echo(schema_text(), nl=False)
