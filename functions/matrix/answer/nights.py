"""The earlier runs whose scatter a comparison counts: each of a night of its own, five at least.

Runs that follow each other within hours share what an hour changes, so of these only the first counts.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime

from matrix.statistics.series import MIN_BEFORE
from matrix.terms.documents.values import JudgedCell, ValuesDocument
from matrix.terms.fingerprint import cell_key

APART_S = 6 * 3600.0
# More runs hardly change what is known of their scatter, and each has to be read.
MOST = 20


def chosen(begun: Iterable[tuple[float, str]], *, base_at: float | None, run_at: float | None) -> list[str]:
    """Return the names of the earlier runs that count beside the base, in the order of time.

    `begun` has the start and the name of each run that measured the same. The four nights after the base are among
    them, since they show its level together with it, and the newest others.
    """
    if base_at is None or run_at is None or base_at >= run_at:
        return []
    nights: list[tuple[float, str]] = []
    for at, name in sorted(begun):
        is_apart = abs(at - base_at) >= APART_S and (not nights or at - nights[-1][0] >= APART_S)
        if at < run_at and is_apart:
            nights.append((at, name))
    level = [night for night in nights if night[0] > base_at][: MIN_BEFORE - 1]
    newest = [night for night in nights if night not in level][-(MOST - 1 - len(level)) :]
    return [name for _, name in sorted([*level, *newest])]


def index_key(base: ValuesDocument, run: ValuesDocument) -> str | None:
    """Return the key of a cell that both runs have measured, by which the table knows the runs that did; None if none.

    One is enough: runs of a matrix measure all of its cells.
    """
    of_base, of_run = (
        [key_over_runs(values, cell) for cell in values["cells"] if cell["points"]] for values in (base, run)
    )
    return next((key for key in of_run if key in of_base), None)


def key_over_runs(values: ValuesDocument, cell: JudgedCell) -> str:
    """Return the key of a cell in the index of the results table."""
    return cell_key(values["environment"], cell["storage"], cell["workload"], cell["fleet"])


def chosen_of_rows(begun: Iterable[tuple[str, str]], base: ValuesDocument, run: ValuesDocument) -> list[str]:
    """Return the earlier runs that count, from `measured_at` and name of the runs of a cell in that index."""
    starts = [(datetime.fromisoformat(at).timestamp(), name) for at, name in begun]
    return chosen(starts, base_at=base["started_at"], run_at=run["started_at"])


def in_time(base: ValuesDocument, run: ValuesDocument, earlier: Iterable[ValuesDocument]) -> Sequence[ValuesDocument]:
    """Return the base and the earlier runs that count, in the order of time; none if that is not known."""
    like_run = [each for each in earlier if each["environment"] == run["environment"] and each["run"] != base["run"]]
    begun = [(at, each["run"]) for each in like_run if (at := each["started_at"]) is not None]
    names = chosen(begun, base_at=base["started_at"], run_at=run["started_at"])
    counted = [base, *(each for each in like_run if each["run"] in names)]
    return sorted(counted, key=lambda each: each["started_at"] or 0.0) if names else []
