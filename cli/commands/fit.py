"""`matrix fit`: how a series of measurements scales, and what it says of sizes that were not measured."""

import json
from pathlib import Path
from typing import Annotated

import typer

from cli.inputs import planning
from cli.messages.errors import ExitCode


def fit(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The series: a JSON file, or - for standard input.")],
) -> None:
    """Fit scaling laws to a series and predict sizes that were not measured.

    The series: {"n": [1, 10, 50, 100], "value": [5921, 5929, 6210, 7026], "higherIsBetter": false, "predict": [200]}.
    Prints JSON: the law that predicts unseen points best, its knee, predictions with the range of all laws that the
    data cannot exclude, and in words why a prediction is refused. Mistakes in the series are listed, exit code 2.

    Example: matrix fit series.json | jq .predictions
    """
    text = planning.read(file)
    # numpy and scipy take a second to import, so `matrix --help` must not import them.
    from matrix.answer.scaling import fitting as scaling
    from matrix.answer.scaling.series import read_series
    from matrix.terms.problems import InvalidMatrix

    try:
        series = read_series(text)
    except InvalidMatrix as invalid:
        # This command writes only JSON, in the form of `matrix plan --json`.
        typer.echo(json.dumps(invalid.to_document(), indent=2, ensure_ascii=False))
        raise typer.Exit(ExitCode.BAD_INPUT) from None
    typer.echo(json.dumps(scaling.report(series), indent=2, ensure_ascii=False))
