"""What an instance may write in its heartbeat, and what is taken of it."""

import json

import pytest

from matrix.run import heartbeats

NOW = 1000.0


def heartbeat(step, rates=(), **said):
    """A heartbeat of an agent."""
    lately = {"of": "disk", "rates": [list(rate) for rate in rates]}
    return json.dumps({"at": 1.0, "state": "running", "step": step, "since": 990.0, "lately": lately, **said}).encode()


@pytest.mark.parametrize(
    "text", [b"", b"[]", b"7", b"{", b'{"step": 2}', b'{"state": "<b>"}', b'{"state": ["running"]}', b"[" * 100_000,
             b'{"state": NaN}']
)  # fmt: skip
def test_a_heartbeat_that_is_none_says_nothing(text):
    assert heartbeats.parse(text, NOW) is None


@pytest.mark.parametrize("step", [None, 3, -1, True, 1.0, "1", 10**12])
def test_a_step_that_the_job_does_not_have_is_none(step):
    assert heartbeats.parse(heartbeat(step), NOW, steps=3).step is None
    assert heartbeats.parse(heartbeat(2), NOW, steps=3).step == 2


@pytest.mark.parametrize(
    "rate",
    [(2e9, 1.0, 0, 1, 0), (990.0, 0.0, 0, 1, 0), (990.0, 1e9, 0, 1, 0), (990.0, -1.0, 0, 1, 0),
     (990.0, 1.0, 0, 1e300, 0), (990.0, 1.0, 0, -1, 0), (990.0, 1.0, 0, float("inf"), 0),
     (990.0, 1.0, 0, float("nan"), 0), (990.0, 1.0, "x", 1, 0),
     (990.0, 1.0, True, 1, 0), (990.0, 1.0, 1),
     (990.0, None, 1, 1, 1), (10**400, 1.0, 0, 1, 0)],
)  # fmt: skip
def test_a_rate_that_cannot_be_is_left_out(rate):
    said = heartbeats.parse(heartbeat(1, [rate, (990.0, 1.0, 1, 1, 1)]), NOW)

    assert [each.moved for each in said.rates] == [(1.0, 1.0, 1.0)]


def test_words_of_an_instance_are_one_line_without_control_characters_and_its_results_are_numbers():
    said = heartbeats.parse(
        heartbeat(
            1, point="p\n\x1b02", troubles=["a\tb", 7, "c" * 5000], last={"iops": 7, "x": -1, "y": "1", "z": True}
        ),
        NOW,
    )

    assert (said.point, said.troubles) == ("p ?02", ("a b", "c" * heartbeats.MAX_LETTERS))
    assert said.last == {"iops": 7.0}
    assert heartbeats.parse(heartbeat(1, troubles={"a": 1}, last=[1]), NOW).troubles == ()
