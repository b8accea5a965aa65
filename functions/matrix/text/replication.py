"""What a fleet lacks to be compared, in words."""

from collections.abc import Sequence

from matrix.statistics.shortage import LEAST_LAUNCHES
from matrix.terms.documents.summary import Shortage

# What two runs of one launch each do not know of each other: between two nights it is often more than within one.
LAUNCHED_ONCE = (
    "each run was launched once: what another hour, other hosts or another zone change is in no interval, and may be "
    f'the whole difference; set "launches": {LEAST_LAUNCHES} in both'
)
FIELDS = {"instance": "count", "repetition": "repetitions", "launch": "launches"}


def shortage_words(shortages: Sequence[Shortage]) -> str:
    """Write what is missing and the fields to set: `only 2 repetitions: set "repetitions": 3, or "launches": 3`."""
    if not shortages:
        return "samples are missing"
    few = " and ".join(_counted(each) for each in shortages)
    fields = " and ".join(f'"{FIELDS[each["unit"]]}": {each["least"]}' for each in shortages)
    is_launched = any(each["unit"] == "launch" for each in shortages)
    return f"only {few}: set {fields}" + ("" if is_launched else f', or "launches": {LEAST_LAUNCHES}')


def _counted(shortage: Shortage) -> str:
    unit, count = shortage["unit"], shortage["count"]
    return f"{count} {unit}{'' if count == 1 else 'es' if unit == 'launch' else 's'}"
