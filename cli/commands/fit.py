"""`matrix fit`: the scaling law of a series of measurements, and predictions for other sizes."""

from pathlib import Path
from typing import Annotated

import typer

from cli.commands import plan
from cli.inputs import options, planning
from cli.messages import terminal
from cli.messages.errors import ExitCode


def fit(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The series: a JSON file, or - for standard input.")],
    as_json: options.AsJson = False,
) -> None:
    """Fit scaling laws to a series, and predict other sizes.

    The series: {"n": [1, 10, 50, 100], "value": [5921, 5929, 6210, 7026], "higherIsBetter": false, "predict": [200]}.
    Shows the law with the least AIC, its knee, and predictions with the range of all laws that the data allow. If a
    prediction is refused, it says why. A pipe gets JSON. Mistakes are listed, with exit code 2.

    Example: matrix fit series.json | jq .predictions
    """
    text = planning.read(file)
    console = terminal.stdout()
    # This command always wrote JSON to pipes, and scripts rely on it.
    is_for_program = as_json or not console.is_terminal
    # numpy and scipy take a second to import, so `matrix --help` must not import them.
    from matrix.answer.scaling import fitting as scaling
    from matrix.answer.scaling.series import read_series
    from matrix.terms.problems import InvalidMatrix

    try:
        series = read_series(text)
    except InvalidMatrix as invalid:
        plan.report_problems(file, planning.BadMatrix(invalid.to_document()), is_for_program)
        raise typer.Exit(ExitCode.BAD_INPUT) from None
    report = scaling.report(series)
    if is_for_program:
        terminal.print_json(report)
    else:
        from cli.tables import fit_tables

        fit_tables.show(console, series, report)
