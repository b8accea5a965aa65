"""The simulation of `make bench-fleet`: one gate a step, whatever the model of S3 does."""

import pytest

from bench import gates


@pytest.mark.parametrize("weather", [gates.FAIR, gates.SLOW, gates.Weather(lost=0.2)])
@pytest.mark.parametrize("ends", [False, True])
def test_a_simulated_fleet_opens_one_gate_for_each_step(weather, ends):
    lived = gates.steps_of(4, 20, weather, ends=ends)

    assert {step.opened for step in lived} == {1}
    assert all(len(step.seen) == 4 - ends for step in lived)
    assert all(step.delay_s >= step.margin_s - gates.CLOCKS_S for step in lived if not ends)


def test_the_wait_is_the_margin_and_two_requests():
    lived = gates.steps_of(4, 60)

    # A PUT of 0.05 s and a LIST of 0.06 s in the median.
    assert gates.quantile([step.delay_s for step in lived], 0.5) == pytest.approx(2.0 + 0.11, abs=0.05)
    assert gates.line("usual", lived).startswith("| usual | 4 | 60 | 2.1 / ")
