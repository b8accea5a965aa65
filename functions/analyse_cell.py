"""Analyse cell: compute the cell's percentiles from the samples that its instances uploaded."""

from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from aws.records import table
from aws.records.plans import cell_of, plan_of
from aws.results import analysing
from aws.stack.entry import entry
from matrix.answer.results import missing_samples
from matrix.terms.errors import InvalidSamples


@entry
def handler(event: dict[str, Any], _context: LambdaContext) -> dict[str, Any]:
    """Write the result of a measured cell. Missing or invalid samples raise InvalidSamples; none is left out."""
    run = event["run"]
    cell = cell_of(plan_of(run), event["cell"])
    table.set_cell(run, cell["id"], "analysing")
    uploads = analysing.uploads_of(run, cell["id"])
    files, refused = analysing.samples_of(cell, uploads)
    problems = refused or missing_samples(cell, files, uploads.launched)
    if problems:
        raise InvalidSamples("; ".join(problems))
    analysing.write_result(cell, uploads, files, error=None)
    return {"cell": cell["id"], "state": "measured"}
