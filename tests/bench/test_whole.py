"""A whole run through the definition, without instances: what it asks grows as fast as cells, instances and steps.

`python -m bench.whole` shows 200 cells of 50 instances, and 1,000 instances × 60 steps; here runs are small, and only
counts are compared, which no other program on the machine disturbs.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# Of counts below this, what comes once for a run or file system is the larger part.
LEAST = 30
# Each look enters three states, which are nine events.
LOOKS = ("calls of check_deleted", "calls of poll_fleet")
pytestmark = pytest.mark.slow


def counts(*sizes: str) -> list[dict[str, float]]:
    """What runs of these sizes came to; exit status 1 would say that one passed a limit of AWS."""
    command = [sys.executable, "-m", "bench.whole", "--counts", *sizes]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def growth(small: float, medium: float, large: float) -> float:
    """By what factor each one more costs at the end, where each size is twice the one before; 1 is linear."""
    return (large - medium) / 2 / max(1.0, medium - small)


def steeper(small: dict[str, float], medium: dict[str, float], large: dict[str, float]) -> dict[str, float]:
    """Which counts grow faster than the sizes, each with its growth."""
    grown = {name: growth(small[name], medium[name], large[name]) for name in large if large[name] >= LEAST}
    return {name: factor for name, factor in grown.items() if factor > 1.25}


def beside_looks(seen: dict[str, float]) -> dict[str, float]:
    """States, events and calls but for looks at what is deleted, or nears its end: how many is up to the processor."""
    of_a_look, looks = {"states entered": 3, "history events": 9}, sum(seen[name] for name in LOOKS)
    kept = {name: count for name, count in seen.items() if name in of_a_look or "calls" in name}
    return {name: count - of_a_look.get(name, 0) * looks for name, count in kept.items() if name not in LOOKS}


def test_a_run_asks_twice_as_much_for_twice_as_many_cells_and_its_states_do_not_count_steps():
    one, two, four, longer, more, most = counts(
        "1x2x8x2x5", "2x2x8x2x5", "4x2x8x2x5", "1x2x8x8x5", "1x4x8x2x5", "1x8x8x2x5"
    )

    assert steeper(one, two, four) == {}, "more storages"
    assert steeper(one, more, most) == {}, "more cells of a storage"
    # Steps are the instances' own: no state is entered for one, and each of two fleets is looked at as often but for
    # two looks near its end.
    assert beside_looks(longer) == beside_looks(one)
    assert abs(longer["calls of poll_fleet"] - one["calls of poll_fleet"]) <= 2 * 2
