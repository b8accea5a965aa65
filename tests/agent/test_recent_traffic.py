"""What a heartbeat tells of the last seconds: rates of counters that are read anyway."""

from __future__ import annotations

import json
import time
from types import SimpleNamespace

from agent.board.heartbeat import Heartbeat
from agent.machine.recent_traffic import MAX_RATES, RecentTraffic


def readings(*written, network=False):
    """A step's readings, one each second until now."""
    names = ("network_sent_bytes", "network_received_bytes") if network else ("disk_write_bytes", "disk_read_bytes")
    taken = [
        (
            time.monotonic() - len(written) + number,
            {names[0]: float(count), names[1]: 0.0, "disk_write_operations": 1.0},
        )
        for number, count in enumerate(written)
    ]
    return SimpleNamespace(last=lambda count: taken[-count:])


def test_rates_are_those_of_the_step_that_runs_and_of_those_before_it():
    lately = RecentTraffic()
    lately.begin(readings(0, 100, 300))
    lately.end()
    lately.begin(readings(0, 7))

    told = lately.document()

    assert told["of"] == "disk"
    assert [(lasted, read, written) for _, lasted, read, written, _ in told["rates"]] == [
        (1.0, 0, 100), (1.0, 0, 200), (1.0, 0, 7)
    ]  # fmt: skip
    assert all(abs(ended_at - time.time()) < 10 for ended_at, *_ in told["rates"])


def test_a_long_step_makes_no_long_heartbeat():
    lately = RecentTraffic()
    lately.begin(readings(*range(0, 10**15, 10**12)))

    told = lately.document()

    assert len(told["rates"]) == MAX_RATES
    assert len(json.dumps(told)) < 4_000


def test_a_folder_that_no_disk_counts_for_moves_nothing_over_the_network():
    for has_network, count in ((True, 1), (False, 0)):
        lately = RecentTraffic(has_network)
        lately.begin(readings(0, 9, network=True))
        assert len((lately.document() or {"rates": []})["rates"]) == count


def test_each_beat_carries_the_step_since_when_it_runs_and_what_was_moved_and_none_is_added():
    put = []
    board = SimpleNamespace(put=lambda name, document: put.append((name, document)))
    heartbeat = Heartbeat(board, 60.0)
    lately = RecentTraffic()
    lately.begin(readings(0, 5))
    heartbeat.tell(lambda: {"lately": lately.document()})
    heartbeat.say("running", 3, "p02")
    heartbeat.stop()

    names, documents = zip(*put, strict=True)
    assert names == ("heartbeat", "heartbeat")  # the first and the last
    last = documents[-1]
    assert (last["state"], last["step"], last["point"]) == ("running", 3, "p02")
    assert abs(last["since"] - time.time()) < 10
    assert last["lately"]["rates"][0][3] == 5


def test_a_beat_goes_out_whatever_becomes_of_the_rates():
    """As of a disk that is detached in mid-step; without a heartbeat the instance counts as dead."""
    put = []
    heart = Heartbeat(SimpleNamespace(put=lambda name, document: put.append(document)), period_s=0.01)
    heart.tell(lambda: {}["disk_read_bytes"])
    until = time.monotonic() + 10
    while len(put) < 3 and time.monotonic() < until:
        time.sleep(0.001)
    heart.stop()
    assert len(put) >= 3

    lately = RecentTraffic()
    readings_with_a_gap = [(1.0, {"disk_read_bytes": 0.0}), (2.0, {"disk_read_bytes": 5.0, "disk_write_bytes": 7.0})]
    lately.begin(SimpleNamespace(last=lambda _: readings_with_a_gap))
    assert lately.document()["rates"][0][2:] == [5, 0, 0]
    assert all("lately" not in heartbeat for heartbeat in put)
