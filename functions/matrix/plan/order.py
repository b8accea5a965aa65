"""The order in which a run measures: launches, file systems, their cells, and the steps of a cell.

A random order depends only on the seed, so the same matrix and seed give the same plan.
"""

import hashlib
import json
import random
from collections.abc import Iterator, Sequence
from typing import TypeVar

from matrix.check.cells import Combination
from matrix.input.matrix import Matrix
from matrix.plan.assumptions import UNMEASURED
from matrix.terms.documents.parts import Point, Step
from matrix.terms.grouping import grouped

T = TypeVar("T")
# The steps of one repetition, in rows that stay together. Cells of one workload share them, so nobody changes them.
Rows = Sequence[Sequence[Step]]
# Seeded anew for each order: to make a generator costs as much as to seed it, and a plan has thousands of orders.
_CHANCE = random.Random(0)  # noqa: S311 - an order of measuring is not a secret


def derived_seed(matrix: Matrix, run: str) -> int:
    """Return a seed from the run's name and the measured parts of the matrix, without `UNMEASURED` such as budget.

    If all runs had the same order, its effect on the results would be the same in each run and stay hidden.
    """
    document = matrix.to_document()
    # Earlier versions had no `launches` and launched once: the seed of such a matrix stays the same.
    single = ("launches", 1)
    measured = {name: value for name, value in document.items() if name not in UNMEASURED and (name, value) != single}
    text = json.dumps(measured, sort_keys=True) + run
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4])


def file_systems_in_order(
    cells: Sequence[Combination], launches: int, seed: int, *, is_random: bool
) -> Iterator[tuple[int, list[Combination]]]:
    """Yield the number of the launch and the cells of one file system, in the order of execution.

    All file systems of a launch use one order of workloads and fleets. So they measure the same at about the same time,
    and a change from hour to hour affects all compared storages.
    """
    by_storage = grouped((cell.storage.fingerprint, cell) for cell in cells)
    file_systems = list(by_storage.values())
    comparisons = list(dict.fromkeys(cell.comparison for group in file_systems for cell in group))
    for launch in range(1, launches + 1):
        if not is_random:
            yield from ((launch, group) for group in file_systems)
            continue
        rank = {comparison: i for i, comparison in enumerate(shuffled(comparisons, f"{seed}/{launch}/cells"))}
        # The first launch uses the run's own seed, as runs did before there were launches.
        for group in shuffled(file_systems, seed if launch == 1 else f"{seed}/{launch}"):
            yield launch, sorted(group, key=lambda cell: rank[cell.comparison])


def step_rows(points: Sequence[Point], points_in_a_row: int, repetitions: int) -> list[Rows]:
    """Return the rows of each repetition. A row keeps the phases of one piece of work in their order."""
    starts = range(0, len(points), points_in_a_row)
    return [
        [
            [{"point": point["id"], "repetition": repetition} for point in points[start : start + points_in_a_row]]
            for start in starts
        ]
        for repetition in range(1, repetitions + 1)
    ]


def steps_in_order(rows_of_repetitions: Sequence[Rows], seed: str, *, is_random: bool) -> list[Step]:
    """Return all steps: the points of a repetition before the next one, so drift affects all points equally."""
    steps: list[Step] = []
    order = list(range(len(rows_of_repetitions[0])))
    for repetition, rows in enumerate(rows_of_repetitions, start=1):
        if is_random and len(rows) > 1:
            order = shuffled(order, f"{seed}/{repetition}")
        for i in order:
            steps += rows[i]
    return steps


def shuffled(items: Sequence[T], seed: int | str) -> list[T]:
    """Return the items in a random order that depends on the seed only."""
    _CHANCE.seed(str(seed))
    # `sample` of all items draws them in the opposite order, and takes twice the time for a few.
    order = list(items)
    _CHANCE.shuffle(order)
    return order[::-1]
