"""Offset of this instance's clock from S3's, by the Date header of S3's responses.

A fleet starts at one moment by each instance's own clock, and chrony may accept a wrong time. Date is a whole second: a
request sent at 10.2 s, answered at 10.3 s and dated 9 means that S3's clock was between 9 and 10 in between, so that
our clock is 0.2 to 1.3 s ahead. Responses at other fractions of a second narrow this range: after a few of them its
width is about the duration of a request.
"""

from __future__ import annotations

import math
import threading
from email.utils import parsedate_to_datetime
from typing import Any


class S3Clock:
    """The narrowest bounds that all answers allow."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._bounds = -math.inf, math.inf

    def heard(self, answer: Any, sent_at: float, heard_at: float) -> None:
        """Take an answer of botocore's; the times are this instance's own (epoch seconds)."""
        try:
            second = parsedate_to_datetime(answer["ResponseMetadata"]["HTTPHeaders"]["date"]).timestamp()
        except (TypeError, KeyError, ValueError):
            return
        low, high = sent_at - second - 1, heard_at - second
        with self._lock:
            narrowed = max(low, self._bounds[0]), min(high, self._bounds[1])
            # Earlier answers contradict this one where the clock was set in between.
            self._bounds = narrowed if narrowed[0] <= narrowed[1] else (low, high)

    def ahead_s(self) -> tuple[float, float] | None:
        """Return the bounds since the last call; None where S3 gave no dated answer."""
        with self._lock:
            bounds, self._bounds = self._bounds, (-math.inf, math.inf)
        return bounds if math.isfinite(bounds[0]) else None
