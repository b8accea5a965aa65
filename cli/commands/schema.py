"""`matrix schema`: the JSON Schema of a matrix."""

import typer


def schema() -> None:
    """Print the JSON Schema of a matrix.

    Editors use it to complete and check a matrix, and validators to check it.

    Example: matrix schema > matrix.schema.json
    """
    from matrix.check.schema import schema_text

    typer.echo(schema_text(), nl=False)
