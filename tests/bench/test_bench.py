"""The bench: what its ratios mean."""

from itertools import count

from bench.pairs import in_turns


def rates(*values):
    """A way to measure that returns one value after the other."""
    return iter(values).__next__


def test_a_ratio_is_that_of_the_best_rounds_between_two_turns_of_theirs():
    ticks = count(1)

    result = in_turns("x", lambda: float(next(ticks)), lambda: float(next(ticks)), bar=0.5, unit="1/s", rounds=2)

    # Ours were 2 and 5, theirs 1 and 4 before and 3 and 6 after it.
    assert (result.ratio, result.ours, result.theirs, result.itself) == (5 / 5, 3.5, 3.5, 4 / 6)


def test_a_bar_that_is_missed_by_less_than_theirs_misses_itself_is_near():
    def beside(before, ours, after):
        return in_turns("x", rates(ours), rates(before, after), bar=0.97, unit="1/s", rounds=1)

    lines = [beside(*each).line() for each in ((90.0, 90.0, 100.0), (99.0, 90.0, 100.0), (100.0, 98.0, 100.0))]

    assert [line[:4] for line in lines] == ["near", "MISS", "ok  "]
