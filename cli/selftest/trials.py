"""Without I/O: fleets of known truths are drawn hundreds of times and put through the real analysis.

Each question returns rows: the truth, the observed rate of correct reports, and whether it meets the claim.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.random import Generator

from agent.machine import steady_state
from agent.machine.levels import find_levels
from cli.selftest import hard
from cli.selftest.fleets import (
    FILES,
    SHARED,
    THREADS,
    FleetTruth,
    holds,
    instance_of,
    level_of,
    plan_of,
    result_of,
    summary_of,
    verdict_of,
)
from cli.selftest.judging import Row, Tally
from matrix.terms.documents.result import MetricResult, ResultDocument
from matrix.terms.documents.summary import Decision
from matrix.terms.verdicts import difference_of

LAYER = "drawn"
METRIC = "duration_s"
# A difference of a fifth must be found. Equal storages may be called different in at most one of twenty trials.
SLOWER = 1.2
MOST_WRONG = 0.05
# Intervals state 95 %. Small samples and bootstraps come close: we require 92 %.
LEAST_COVERAGE = 0.92
# Percentiles of small fleets have a small bias on average: less than this.
MOST_BIAS = 0.005
# fio's bins, in which latencies are kept, are at most this much off.
BIN_ERROR = 1 / 128


@dataclass(frozen=True)
class Scenario:
    """Three storages, two of them equal and one a fifth slower, and whether the difference must be found."""

    name: str
    fleet: FleetTruth
    must_be_seen: bool = True
    share_of_trials: float = 1.0


SCENARIOS = (
    Scenario("no shared noise", FleetTruth()),
    Scenario("shared noise of 2 %", FleetTruth(of_repetitions=0.02)),
    # Three repetitions that differ by 5 % leave a difference of 20 % open now and then; five do not.
    Scenario("shared noise of 5 %", FleetTruth(of_repetitions=0.05), must_be_seen=False),
    Scenario("shared noise of 5 %, 5 repetitions", FleetTruth(of_repetitions=0.05, repetitions=5)),
    Scenario("5 instances, shared noise of 5 %", FleetTruth(instances=5, of_repetitions=0.05), must_be_seen=False),
    Scenario("3 instances, 5 repetitions", FleetTruth(instances=3, repetitions=5), must_be_seen=False),
    Scenario("one of ten instances twice as slow", FleetTruth(of_repetitions=0.01, slow_instances=1)),
    Scenario("50 instances, shared noise of 2 %", FleetTruth(instances=50, of_repetitions=0.02), share_of_trials=0.25),
)


@dataclass(frozen=True)
class Outcomes:
    """Outcomes of trials, by interval or by the command that gave the verdict."""

    covered: dict[str, list[bool]] = field(default_factory=lambda: defaultdict(list))
    # `compare` and the decision judge the same draw, so their verdicts are not independent: each has its own tally.
    different: dict[str, list[bool]] = field(default_factory=lambda: defaultdict(list))
    missed: dict[str, list[bool]] = field(default_factory=lambda: defaultdict(list))

    def add(self, others: "Outcomes", *, must_be_seen: bool) -> None:
        """Add the outcomes of a scenario; misses count only if `must_be_seen`."""
        pairs = [(self.covered, others.covered), (self.different, others.different)]
        for mine, theirs in [*pairs, (self.missed, others.missed)] if must_be_seen else pairs:
            for name, outcomes in theirs.items():
                mine[name] += outcomes

    def rows(self, subject: str, *, must_be_seen: bool = True) -> Iterator[Row]:
        """Yield a row on intervals, one on false differences, and one on missed ones."""
        tallies = {name: Tally.of(held) for name, held in sorted(self.covered.items())}
        words = "; ".join(f"{_upper(name)} {tally.words()}" for name, tally in tallies.items())
        is_right = all(tally.may_be_at_least(LEAST_COVERAGE) for tally in tallies.values())
        yield Row(LAYER, subject, "95 % intervals hold the truth", words, is_right)
        words, is_rare = _rarely(self.different)
        yield Row(LAYER, subject, "two storages are the same", f"called different: {words}", is_rare)
        words, is_rare = _rarely(self.missed)
        is_right = is_rare or not must_be_seen
        yield Row(LAYER, subject, "one storage is 20 % slower", f"missed: {words}", is_right, must_be_seen)


def rows(trials: int) -> Iterator[Row]:
    """Yield every row of the layer; `trials` fleets are drawn of each truth."""
    together = Outcomes()
    for number, scenario in enumerate(SCENARIOS):
        rng = np.random.default_rng([2026, number])
        count = max(10, round(trials * scenario.share_of_trials))
        yield from _three_storages(scenario, rng, count, together)
    yield from together.rows("all of these together")
    questions = (_slow_instance, _over_time, _too_few, _levels, _latencies, _ceilings, _settling)
    for number, question in enumerate(questions):
        yield from question(np.random.default_rng([2027, number]), trials)
    yield from hard.rows(trials)


def _three_storages(scenario: Scenario, rng: Generator, trials: int, together: Outcomes) -> Iterator[Row]:
    """Draw two equal storages and a slower one; tally intervals, false differences and missed ones."""
    equal, slower = scenario.fleet, replace(scenario.fleet, seconds=scenario.fleet.seconds * SLOWER)
    planned = plan_of(equal, equal, slower)
    outcomes = Outcomes()
    off: dict[str, list[float]] = defaultdict(list)
    for _ in range(trials):
        results = [
            result_of(cell, truth.draw(rng))
            for cell, truth in zip(planned["cells"], (equal, equal, slower), strict=True)
        ]
        for result, truth in zip(results, (equal, equal, slower), strict=True):
            for name, is_held in _held(result, truth):
                outcomes.covered[name].append(is_held)
            metric = _figures(result)
            off["P50"].append(float(np.log(metric["p50"] / truth.percentile(50))))
            off["mean"].append(float(np.log((metric["mean"] or math.nan) / truth.mean)))
        same, other = (verdict_of(results[0], result) for result in results[1:])
        for compared, ratio in ((same, 1.0), (other, 1 / SLOWER)):
            outcomes.covered[f"ratio {ratio:.2f}"].append(holds(compared["interval"], ratio))
        is_different, is_missed = _decided(summary_of(planned, results)["decision"])
        outcomes.different["compare"].append(same["verdict"] in ("slower", "faster"))
        outcomes.different["decision"].append(is_different)
        outcomes.missed["compare"].append(other["verdict"] != "slower")
        outcomes.missed["decision"].append(is_missed)
    together.add(outcomes, must_be_seen=scenario.must_be_seen)
    yield _bias_row(scenario.name, off)
    yield from outcomes.rows(scenario.name, must_be_seen=scenario.must_be_seen)


def _rarely(outcomes: dict[str, list[bool]]) -> tuple[str, bool]:
    """Return the rate of an outcome by the command that gave it, and whether MOST_WRONG is plausible for each."""
    tallies = {name: Tally.of(of_name) for name, of_name in outcomes.items()}
    words = "; ".join(f"{name} {tally.words()}" for name, tally in tallies.items())
    return words, all(tally.may_be_at_most(MOST_WRONG) for tally in tallies.values())


def _figures(result: ResultDocument) -> MetricResult:
    return result["points"][0]["metrics"][METRIC]


def _held(result: ResultDocument, truth: FleetTruth) -> Iterator[tuple[str, bool]]:
    """Yield each interval of the report with whether it contains the truth."""
    for name, interval in _figures(result)["intervals"].items():
        true_value = truth.mean if name == "mean" else truth.percentile(float(name[1:]))
        yield name, interval["low"] <= true_value <= interval["high"]


def _bias_row(name: str, off: dict[str, list[float]]) -> Row:
    """Figures may miss the truth by chance, and on average by half a per cent at the most."""
    means = {kind: float(np.mean(of_kind)) for kind, of_kind in off.items()}
    errors = {kind: float(np.std(of_kind, ddof=1)) / len(of_kind) ** 0.5 for kind, of_kind in off.items()}
    words = ", ".join(f"{kind} {100 * mean:+.2f} % off on average" for kind, mean in means.items())
    is_right = all(abs(mean) <= MOST_BIAS + 4 * errors[kind] for kind, mean in means.items())
    return Row(LAYER, name, "what steps take, at the median and on average", words, is_right)


def _upper(name: str) -> str:
    return name.upper() if name[0] == "p" else name


def _decided(decision: Decision) -> tuple[bool, bool]:
    """Return whether the decision calls the equal two different, and whether it misses that the third is slower."""
    candidates = decision["questions"][0]["candidates"]
    is_tied = [(difference_of(each) or {"code": "shown"})["code"] == "not-significant" for each in candidates]
    is_slower_last = candidates[2]["verdict"]["code"] == "slower"
    return is_slower_last and not any(is_tied[:2]), is_tied[2] or not is_slower_last


def _drawn(truth: FleetTruth, rng: Generator, trials: int) -> Iterator[MetricResult]:
    """Yield the metric of a fleet's result, drawn so often."""
    [cell] = plan_of(truth)["cells"]
    for _ in range(trials):
        yield _figures(result_of(cell, truth.draw(rng)))


def _slow_instance(rng: Generator, trials: int) -> Iterator[Row]:
    """One of ten instances is twice as slow: it is named, and no other."""
    named = [
        {stray["instance"] for stray in metric["outliers"]["listed"] if stray["kind"] == "far out"}
        for metric in _drawn(FleetTruth(of_repetitions=0.01, slow_instances=1), rng, trials)
    ]
    slow_named = Tally.of([instance_of(0) in instances for instances in named])
    other_named = Tally.of([bool(instances - {instance_of(0)}) for instances in named])
    words = f"named as far out in {slow_named.words()}; another one in {other_named.words()}"
    is_right = slow_named.may_be_at_least(1 - MOST_WRONG) and other_named.may_be_at_most(MOST_WRONG)
    yield Row(LAYER, "one of ten instances twice as slow", "i-…0 takes twice as long", words, is_right)


def _over_time(rng: Generator, trials: int) -> Iterator[Row]:
    """A true change over the repetitions must be a finding; a steady storage must have none."""
    steady = FleetTruth(repetitions=5, of_repetitions=0.01)
    credits_end = replace(steady, by_repetition=(1, 1, 1, 3, 3))
    cold_first = replace(steady, by_repetition=(1.5, 1, 1, 1, 1))
    changes = ("drift", "unsteady", "two-groups-of-repetitions")
    for name, truth, fleet, expected in (
        ("steady", "all five repetitions are alike", steady, ()),
        ("credits run out", "from the fourth repetition on three times as slow", credits_end, changes),
        ("a cache in front", "the first repetition is cold, 50 % slower", cold_first, ("slow-first-run",)),
    ):
        kinds_of_each = [{finding["code"] for finding in metric["findings"]} for metric in _drawn(fleet, rng, trials)]
        right = Tally.of([bool(kinds & set(expected)) if expected else not kinds for kinds in kinds_of_each])
        often = Counter(kind for kinds in kinds_of_each for kind in kinds if kind in expected).most_common(1)
        words = f"{often[0][0] if often else 'nothing odd'} is found in {right.words()}"
        yield Row(LAYER, name, truth, words, right.may_be_at_least(1 - MOST_WRONG))


def _too_few(rng: Generator, trials: int) -> Iterator[Row]:
    """Without replication there is no statement on other instances or hours: no interval, no verdict."""
    for name, truth, fleet in (
        ("two repetitions only", "how much they vary is not known", FleetTruth(of_repetitions=0.05, repetitions=2)),
        ("one instance, 10 repetitions", "other instances differ by 3 %", FleetTruth(instances=1, repetitions=10)),
        ("two instances, 5 repetitions", "other instances differ by 3 %", FleetTruth(instances=2, repetitions=5)),
    ):
        planned = plan_of(fleet, fleet)
        is_decided = []
        for _ in range(min(trials, 20)):
            base, run = (result_of(cell, fleet.draw(rng)) for cell in planned["cells"])
            intervals = base["points"][0]["metrics"][METRIC]["intervals"]
            is_decided.append(bool(intervals) or verdict_of(base, run)["verdict"] != "cannot tell")
        words = f'an interval or a verdict in {sum(is_decided)} of {len(is_decided)}; else "cannot tell"'
        yield Row(LAYER, name, truth, words, not any(is_decided))


def _levels(rng: Generator, trials: int) -> Iterator[Row]:
    """Rates each second of an instance whose credits last 40 s: burst, baseline and moment; and of a steady one."""
    burst, baseline, seconds, noise = 300.0, 60.0, 40, 0.05
    errors, moments, invented = [], [], 0
    for _ in range(trials):
        rates = np.where(np.arange(120) < seconds, burst, baseline) * np.exp(noise * rng.normal(size=120))
        levels = find_levels(rates.tolist())
        errors.append(max(abs(levels.burst / burst - 1), abs(levels.baseline / baseline - 1)) if levels else 1.0)
        moments.append(levels is not None and abs(levels.samples - seconds) <= 1)
        invented += find_levels((baseline * np.exp(noise * rng.normal(size=120))).tolist()) is not None
    exact, none = Tally.of([error <= MOST_WRONG for error in errors]), Tally(trials - invented, trials)
    words = f"both within 5 % and the moment to 1 s in {exact.words()}; of a steady rate no burst in {none.words()}"
    is_right = all(tally.may_be_at_least(1 - MOST_WRONG) for tally in (exact, none, Tally.of(moments)))
    yield Row(LAYER, "credits run out", f"{burst:g} MB/s for {seconds} s, then {baseline:g}", words, is_right)


def _settling(rng: Generator, trials: int) -> Iterator[Row]:
    """Rates each second, noise of 5 %: burst, then baseline; even; falling; and a short, noisier one."""
    seconds, length, noise = 40, 120, 0.05
    falling = np.where(np.arange(length) < seconds, 300.0, 60.0)
    share = 60.0 / float(falling.mean())
    sinking = np.linspace(150.0, 50.0, length)
    ends, always, never, noisy = [], [], [], []
    for _ in range(trials):
        drawn = [
            level * np.exp(noise * rng.normal(size=length)) for level in (falling, np.full(length, 100.0), sinking)
        ]
        ended, steady, sunk = (steady_state.find(rates.tolist()) for rates in drawn)
        # A round is a tenth of the step, so the moment is found to within a round.
        rough = steady_state.find(list(100.0 * np.exp(2 * noise * rng.normal(size=length // 12))))
        is_found = (
            ended is not None
            and ended.from_s is not None
            and 0 <= ended.from_s - seconds <= length / steady_state.ROUNDS
        )
        ends.append(is_found and abs((ended.ratio if ended and ended.ratio else 0.0) / share - 1) <= MOST_WRONG)
        always.append(steady is not None and steady.from_s == 0)
        never.append(sunk is not None and sunk.state == steady_state.NOT_STEADY)
        noisy.append(rough is not None and rough.state != steady_state.NOT_STEADY)
    of_end, of_steady, of_sinking, of_noise = (Tally.of(outcomes) for outcomes in (ends, always, never, noisy))
    words = (
        f"steady from there on, within a round and 5 %, in {of_end.words()}; an even rate from the start in"
        f" {of_steady.words()}; one that sinks from 150 to 50 not steady in {of_sinking.words()};"
        f" an even one of 10 s with noise of 10 % not called unsteady in {of_noise.words()}"
    )
    is_right = all(tally.may_be_at_least(1 - MOST_WRONG) for tally in (of_end, of_steady, of_sinking, of_noise))
    truth = f"{100 * share:.0f} % of the whole rate, from second {seconds} on"
    yield Row(LAYER, "steady state", truth, words, is_right)


def _latencies(rng: Generator, trials: int) -> Iterator[Row]:
    """Operations of 5 ms, 2 % of 80 ms, and one stall of a second: merged percentiles must show the tail."""
    body, tail, share, stall_ns = 5e6, 80e6, 0.02, 1_000_000_000
    fleet = FleetTruth(instances=3, repetitions=2)
    [cell] = plan_of(fleet, files=FILES * 10)["cells"]
    # P50 and P90 are quantiles of the body, at their ranks in it; P99 is the median of the tail.
    spread = 0.1
    normal = {"p50": _rank(0.50 / (1 - share)), "p90": _rank(0.90 / (1 - share))}
    truths = {name: body * float(np.exp(spread * rank)) for name, rank in normal.items()} | {"p99": tail}
    ratios: dict[str, list[float]] = defaultdict(list)
    stalls = []
    for _ in range(max(5, trials // 10)):
        count = FILES * 10
        middles = np.where(rng.random(count) < share, tail, body)
        latencies = [*(middles * np.exp(spread * rng.normal(size=count))).astype(int).tolist()[1:], stall_ns]
        [point] = result_of(cell, fleet.draw(rng), latencies)["points"]
        reported = point["latency"]["create_lat"]
        for name, true_ns in truths.items():
            ratios[name].append(level_of(reported, name) * 1000 / true_ns)
        stalls.append(reported["p100"] * 1000 / stall_ns)
    parts, is_right = [], all(abs(stall - 1) < 1e-9 for stall in stalls)  # noqa: PLR2004 - microseconds as floats
    for name, of_name in ratios.items():
        # Four standard errors of the mean over the trials, in addition to the bins' error.
        allowed = BIN_ERROR + 4 * float(np.std(of_name, ddof=1)) / len(of_name) ** 0.5
        off = float(np.mean(of_name)) - 1
        is_right = is_right and abs(off) <= allowed
        parts.append(f"{name.upper()} {100 * off:+.1f} %")
    words = f"{', '.join(parts)} off, the longest {max(stalls):.3f} s, over {len(stalls)} draws"
    truth = "5 ms at P50, 2 % of operations around 80 ms, one stall of 1 s"
    yield Row(LAYER, "latencies with a tail", truth, words, is_right)


def _rank(share: float) -> float:
    from scipy import special

    return float(special.ndtri(share))


def _ceilings(rng: Generator, trials: int) -> Iterator[Row]:
    """The fleet's rate is the lower of the limits by latency and by IOPS; the report must name the bottleneck."""
    for name, iops, each_s, expected in (
        ("IOPS run out", 1000, 0.002, "FSx disk IOPS"),
        ("workers wait", 4000, 0.025, "not saturated"),
    ):
        instances = 5
        rate = min(iops, instances * THREADS / each_s)
        fleet = FleetTruth(seconds=instances * FILES / rate, instances=instances, of_instances=0.01)
        [cell] = plan_of(fleet, storage=SHARED | {"iops": iops})["cells"]
        named, rates = [], []
        for _ in range(max(10, trials // 5)):
            result = result_of(cell, fleet.draw(rng))
            named.append(result["bottleneck"]["name"] == expected)
            rates += [repetition["files_per_s"] for repetition in result["points"][0]["fleet"]]
        tally, off = Tally.of(named), float(np.median(rates)) / rate - 1
        words = f"{expected} in {tally.words()}; the fleet's rate {100 * off:+.1f} % off"
        is_right = tally.may_be_at_least(1 - MOST_WRONG) and abs(off) <= MOST_WRONG
        yield Row(LAYER, name, f"{rate:g} creates/s of {iops:g} IOPS, {1000 * each_s:g} ms each", words, is_right)
