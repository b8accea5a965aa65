"""What Analyse cell and Record failed cell have in common: read the fleet's samples, write the cell's result."""

from collections.abc import Sequence
from typing import Any

from aws import blackboard, ledger
from aws.clock import now
from matrix.errors import InvalidSamples
from matrix.keys import Board
from matrix.polling import named
from matrix.results import cell_result
from matrix.samples import SampleFile, read_samples


def samples_of(run: str, cell: str) -> tuple[list[SampleFile], list[str]]:
    """Return the sample files of a cell's fleet, and a sentence for each reason why others cannot be believed."""
    board = Board.of_cell(run, cell)
    record = blackboard.get(board.fleet) or {"instances": []}
    expected = set(record["instances"])
    files: list[SampleFile] = []
    refused: dict[str, list[str]] = {}
    for key, _ in blackboard.listing(board.instances):
        userid, _, name = key.removeprefix(board.instances).partition("/")
        instance = userid.rpartition(":")[2]
        if name != "samples.json" or instance not in expected:
            continue
        try:
            files.append(read_samples(blackboard.get_bytes(key) or b"", instance=instance, cell=cell))
        except InvalidSamples as error:
            refused.setdefault(str(error), []).append(instance)
    # A fleet runs one agent, so what is wrong with one file is mostly wrong with all: each reason once.
    return files, [f"{named(instances)}: {reason}" for reason, instances in refused.items()]


def write_result(run: str, cell: dict[str, Any], files: Sequence[SampleFile], *, error: dict[str, str] | None) -> None:
    """Write the result of a cell to bucket and table."""
    board = Board.of_cell(run, cell["id"])
    record = blackboard.get(board.fleet)
    finished_at = now()
    actual_s = finished_at - record["launched_at"] if record else None
    result = cell_result(cell, files, error=error, actual_s=actual_s)
    blackboard.put(board.result, result)
    ledger.record_points(run, cell["id"], result["points"])
    ledger.set_cell(run, cell["id"], result["state"], error=error, finished_at=finished_at)
