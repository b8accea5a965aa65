"""The bench: what its ratios mean, and the bar that needs no quiet machine."""

from itertools import count

from bench import merging
from bench.pairs import against, cost, in_turns


def rates(*values):
    """A way to measure that returns one value after the other."""
    return iter(values).__next__


def test_a_ratio_is_that_of_the_best_rounds_between_two_turns_of_theirs():
    order = []
    ticks = count(1)

    def side(name):
        def measure():
            order.append(name)
            return float(next(ticks))

        return measure

    result = in_turns("x", side("ours"), side("theirs"), bar=0.5, unit="1/s", rounds=2)

    assert order == ["theirs", "ours", "theirs"] * 2
    # Ours were 2 and 5, theirs 1 and 4 before and 3 and 6 after it.
    assert (result.ratio, result.ours, result.theirs, result.itself) == (5 / 5, 3.5, 3.5, 4 / 6)
    assert result.is_reached


def test_a_bar_that_is_missed_by_less_than_theirs_misses_itself_is_near():
    def beside(before, ours, after):
        return in_turns("x", rates(ours), rates(before, after), bar=0.97, unit="1/s", rounds=1)

    near, missed, reached = beside(90.0, 90.0, 100.0), beside(99.0, 90.0, 100.0), beside(100.0, 98.0, 100.0)

    assert [result.line()[:4] for result in (near, missed, reached)] == ["near", "MISS", "ok  "]
    assert [result.is_missed for result in (near, missed, reached)] == [False, True, False]


def test_a_bar_that_is_missed_says_so_in_its_line():
    low = against("engine / ideal", rates(80.0, 90.0), 100.0, bar=0.95, unit="1/s", rounds=2)
    dear = cost("start", rates(0.06, 0.07), most_ms=50, rounds=2)
    cheap = cost("start", rates(0.06, 0.04), most_ms=50, rounds=2)

    assert [one.is_reached for one in (low, dear, cheap)] == [False, False, True]
    assert low.line().startswith("MISS engine / ideal")
    assert cheap.line().startswith("ok   start")


def test_percentiles_of_a_fleet_with_slow_instances_are_those_of_the_pooled_samples_within_the_bins():
    assert 0 < merging.worst_error() <= 0.0079  # half of the 1/64 that a bin is wide
