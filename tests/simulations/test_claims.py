"""How few wrong outcomes refute a claim of the simulations, by exact binomial tests: `at_most` and `at_least`."""

import pytest
from simulations.fleets import at_least, at_most


@pytest.mark.parametrize(
    ("worlds", "share", "allowed"), [(30, 0.02, 3), (60, 0.02, 4), (300, 0.01, 8), (30, 0.05, 5), (250, 0.05, 21)]
)
def test_one_wrong_outcome_more_than_chance_allows_refutes_a_claim(worlds, share, allowed):
    for wrong, holds in ((0, True), (allowed, True), (allowed + 1, False), (worlds, False)):
        outcomes = [number < wrong for number in range(worlds)]

        assert at_most(outcomes, share) is holds
        assert at_least([not each for each in outcomes], 1 - share) is holds
