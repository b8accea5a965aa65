"""What a fleet lacks to be compared, in words."""

from collections.abc import Iterable

from matrix.statistics.shortage import LEAST_LAUNCHES, Shortage
from matrix.terms.documents import summary as documents

FIELDS = {"instance": "count", "repetition": "repetitions", "launch": "launches"}


def shortage_words(shortages: Iterable[documents.Shortage | Shortage]) -> str:
    """Write what is missing and the fields to set: `only 2 repetitions: set "repetitions": 3, or "launches": 3`."""
    known = [_parts(each) for each in shortages]
    if not known:
        return "samples are missing"
    few = " and ".join(f"{count} {unit}{'' if count == 1 else 'es' if unit.endswith('ch') else 's'}"
                       for unit, count, _ in known)  # fmt: skip
    fields = " and ".join(f'"{FIELDS[unit]}": {least}' for unit, _, least in known)
    is_launched = any(unit == "launch" for unit, _, _ in known)
    return f"only {few}: set {fields}" + ("" if is_launched else f', or "launches": {LEAST_LAUNCHES}')


def _parts(shortage: documents.Shortage | Shortage) -> tuple[str, int, int]:
    if isinstance(shortage, Shortage):
        return shortage.unit, shortage.count, shortage.least
    return shortage["unit"], shortage["count"], shortage["least"]
