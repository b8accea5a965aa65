"""An instance's clock is held against the Date of S3's answers, in whole seconds."""

from datetime import UTC, datetime
from email.utils import format_datetime

import pytest
from support.agent_cloud import BUCKET

from agent.board.barrier_objects import BarrierObjects
from agent.board.s3_clock import S3Clock
from agent.machine import host
from contract.keys import BarrierKeys

CONTENT = {"source": "169.254.169.123", "offset_s": 1e-5, "rms_offset_s": 2e-5, "is_synchronised": True}
SECOND = 1_800_000_000


def answered(clock, s3_at, own_ahead_s, takes_s=0.04):
    """One answer that S3 dates in the middle of a request, heard by a clock that is so far ahead."""
    date = format_datetime(datetime.fromtimestamp(int(s3_at), UTC), usegmt=True)
    own = s3_at + own_ahead_s
    clock.heard({"ResponseMetadata": {"HTTPHeaders": {"date": date}}}, own - takes_s / 2, own + takes_s / 2)


@pytest.mark.parametrize("ahead_s", [-3.0, -0.9, -0.02, 0.0, 0.3, 0.9, 3.0])
def test_answers_at_different_parts_of_a_second_narrow_the_bounds_to_what_a_request_takes(ahead_s):
    clock = S3Clock()

    for part in range(20):
        answered(clock, SECOND + 10 * part + part / 20, ahead_s)

    low, high = clock.ahead_s()
    assert low <= ahead_s <= high
    assert high - low <= 0.05 + 0.04 + 1e-6  # a twentieth of a second apart, and what a request takes


def test_a_single_answer_leaves_a_second_and_what_the_request_took():
    clock = S3Clock()

    answered(clock, SECOND + 0.5, 0.0)

    low, high = clock.ahead_s()
    assert (low, high) == (pytest.approx(-0.52), pytest.approx(0.52))
    assert clock.ahead_s() is None


def test_a_clock_that_was_set_meanwhile_is_judged_by_what_came_after():
    clock = S3Clock()

    answered(clock, SECOND + 0.5, 5.0)
    answered(clock, SECOND + 1.5, 0.0)

    assert clock.ahead_s() == (pytest.approx(-0.52), pytest.approx(0.52))


@pytest.mark.parametrize("answer", [{}, {"ResponseMetadata": {"HTTPHeaders": {"date": "soon"}}}])
def test_an_answer_without_a_date_says_nothing(answer):
    clock = S3Clock()

    clock.heard(answer, SECOND, SECOND)

    assert clock.ahead_s() is None


@pytest.mark.parametrize(
    ("bounds", "words"),
    [((0.9, 1.1), "at least 0.9 s ahead of that of S3"), ((-2.1, -1.9), "at least 1.9 s behind that of S3")],
)
def test_chrony_is_content_and_wrong(bounds, words):
    [warning] = host.clock_warnings(CONTENT, bounds, is_shared=False)

    assert words in warning


@pytest.mark.parametrize("bounds", [None, (-0.5, 0.5), (0.1, 0.2), (0.4, 1.4), (-1.4, -0.4)])
def test_a_clock_that_may_be_right_is_not_warned_about(bounds):
    assert host.clock_warnings(CONTENT, bounds, is_shared=False) == []


def test_an_instance_alone_is_warned_about_its_clock_too():
    [warning] = host.lone_clock_warnings((-2.1, -1.9))

    assert "at least 1.9 s behind that of S3" in warning
    assert "fleet" not in warning
    assert host.lone_clock_warnings((-0.4, 1.4)) == host.lone_clock_warnings(None) == []


def test_a_meeting_hears_the_dates_of_answers_and_of_refusals(cloud, monkeypatch):
    barrier_objects = BarrierObjects(cloud.s3, BUCKET, BarrierKeys("runs/r/cells/c/meet/1/"))

    assert barrier_objects.gate(0) is None  # 404
    low, high = barrier_objects.s3_clock.ahead_s()
    assert low <= 0 <= high

    monkeypatch.setattr("agent.board.barrier_objects.time.time", lambda: SECOND + 3600.0)
    barrier_objects.ready(0)
    low, high = barrier_objects.s3_clock.ahead_s()
    assert high - low == pytest.approx(1)
