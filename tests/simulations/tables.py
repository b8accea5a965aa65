"""Decisions on tables of drawn seconds, without files: a hundred times as fast as whole worlds (`worlds.py`).

The decision is the project's own. Instances, repetitions, hourly rates and truths are this file's.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
from simulations.fleets import FleetTruth

from matrix.answer.costs import PointCost
from matrix.answer.decision.answers import answer
from matrix.answer.decision.candidates import Candidate, Question
from matrix.answer.decision.objective import Objective, Percentile
from matrix.statistics.deciding import bound
from matrix.statistics.fleet_costs import FleetTime
from matrix.statistics.fleet_values import FleetValues, Floats
from matrix.statistics.resampling import lacks_replication
from matrix.statistics.sample_size import has_enough_samples
from matrix.terms.findings.risks import MEDIAN, TooFewSamples

LEVEL = 90.0
HOUR_S = 3600.0


def decided(
    tables: Sequence[Floats], usd_an_hour: Sequence[float], wanted: Objective | None = None, *, launches: int = 1
) -> Question:
    """Return the answered question: storages s0, s1, … of these seconds, each fleet at so much an hour.

    The rows of a table are the instances of each of the `launches`.
    """
    wanted = wanted or Objective()
    pairs = zip(tables, usd_an_hour, strict=True)
    candidates = [_candidate(f"s{number}", table, usd, wanted, launches) for number, (table, usd) in enumerate(pairs)]
    instances = len(tables[0]) // launches
    is_tail = wanted.limit is not None or has_enough_samples(LEVEL, instances)
    question = Question(
        workload="build", label="", fleet=f"{instances} x m6i.large", instances=instances, metric="duration_s",
        unit="s", higher_is_better=False, level=LEVEL, candidates=candidates,
        why_median=None if is_tail else TooFewSamples(level=LEVEL, needed=36, count=instances),
    )  # fmt: skip
    for candidate in candidates:
        candidate.ranked = candidate.tail if is_tail else candidate.median
    answer(question, wanted, for_sale=True)
    return question


def star(question: Question) -> int | None:
    """Return the number of the storage with the ★."""
    return int(question.recommended.storage[1:]) if question.recommended else None


def stars(
    truths: Sequence[FleetTruth], usd_an_hour: Sequence[float], worlds: int, *, wanted: Objective | None = None,
    seed: int = 1,
) -> list[int | None]:  # fmt: skip
    """Return the number of the storage with the ★ in each of so many drawn worlds."""
    rng = np.random.default_rng(seed)
    return [star(decided([truth.draw(rng) for truth in truths], usd_an_hour, wanted)) for _ in range(worlds)]


@lru_cache
def usd_of(truth: FleetTruth) -> float:
    """Return the true cost of a result at a dollar an hour, by very many repetitions."""
    seconds = replace(truth, repetitions=20_000).draw(np.random.default_rng(0))
    return float(seconds.max(axis=0).mean()) / HOUR_S / len(seconds)


def _candidate(name: str, table: Floats, usd_an_hour: float, wanted: Objective, launches: int) -> Candidate:
    instances, repetitions = table.shape
    names = tuple(f"i{number:04d}" for number in range(instances))
    numbers = tuple(np.repeat(range(launches), instances // launches).tolist()) if launches > 1 else ()
    values = FleetValues(names, tuple(range(1, repetitions + 1)), np.asarray(table, float), True, numbers)
    tail, median = (
        Percentile(level, values.percentile(level), None, None, None, has_enough_samples=True)
        for level in (LEVEL, MEDIAN)
    )
    if wanted.limit is not None:
        tail = replace(tail, bound=bound(values, LEVEL, is_upper=wanted.is_upper))
    # From the first start to the last end of each repetition, over the pieces of work.
    usd = usd_an_hour * float(table.max(axis=0).sum()) / HOUR_S / table.size
    return Candidate(
        cell=name, point="p01", storage=name, file_system=name, tail=tail, median=median,
        cost=PointCost("build", usd, "list prices"), values=values, lacks=lacks_replication(values),
        time=FleetTime.of_equal_work(values),
    )  # fmt: skip
