"""A leader runs commands on the other instances of its fleet: real programs over real connections."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import pytest

from agent.board import peers
from agent.errors import WorkIncomplete

NONCE = "0123456789abcdef0123456789abcdef"  # pragma: allowlist secret
ADDRESSES = {"i-1": "10.77.3.1", "i-2": "10.77.3.2"}


@pytest.fixture
def fleet():
    """The leader and another instance, each of which listens on an address of its own."""
    barrier_objects = SimpleNamespace(addresses=lambda: ADDRESSES)
    with (
        peers.joined(barrier_objects, "i-1", NONCE, is_local=True) as leader,
        peers.joined(barrier_objects, "i-2", NONCE, is_local=True) as other,
    ):
        yield leader, other


def _on(program, *words, **options):
    return subprocess.run([program, *words], capture_output=True, text=True, check=False, timeout=30, **options)


def test_a_command_of_the_leader_runs_on_the_host_that_it_names(fleet, tmp_path):
    leader, other = fleet
    variables = leader.variables(tmp_path)
    program, host = variables["ON_HOST"], other.own

    assert (variables["HOSTS"], variables["LEADER"]) == ("127.77.3.1,127.77.3.2", "127.77.3.1")
    assert (leader.is_leader, other.is_leader) == (True, False)
    # Words are joined and read by a shell there, as ssh does; options before the host are ignored.
    ended = _on(program, "-x", host, "echo 'to here';", "echo aside >&2; exit 7")
    assert (ended.returncode, ended.stdout) == (7, "to here\naside\n")
    assert _on(program, host, "head -c 300000 /dev/zero | tr '\\0' x").stdout == "x" * 300_000
    assert _on(program, host, "kill -9 $$").returncode == 137
    assert _on(program, "127.77.3.9", "true").returncode == peers.NOT_STARTED
    assert _on(program, host).returncode == peers.NOT_STARTED


def test_a_command_ends_with_its_connection(fleet, tmp_path):
    leader, other = fleet
    alive = tmp_path / "alive"
    asking = subprocess.Popen(
        [leader.variables(tmp_path)["ON_HOST"], other.own, f"while sleep 0.1; do date +%s%N >{alive}; done"]
    )
    _until(alive.exists)

    asking.kill()
    asking.wait()

    time.sleep(1)
    last = alive.read_text()
    time.sleep(0.5)
    assert alive.read_text() == last


def test_nobody_is_served_without_the_token(fleet, tmp_path):
    leader, other = fleet
    stranger = peers.Peers(leader.hosts, leader.own, leader.port, "f" * 32)

    assert _on(stranger.variables(tmp_path)["ON_HOST"], other.own, f"touch {tmp_path}/done").returncode != 0
    stranger.end(3)

    assert not (tmp_path / "done").exists()
    assert other._ended == set()


def test_the_others_wait_until_the_leader_has_ended_the_step(fleet):
    leader, other = fleet
    waiting = threading.Thread(target=other.await_end, args=(2,))
    waiting.start()

    leader.end(1)
    waiting.join(0.3)
    assert waiting.is_alive()
    leader.end(2)
    waiting.join(30)

    assert not waiting.is_alive()


def test_the_others_end_when_the_leader_is_killed(tmp_path):
    barrier_objects = SimpleNamespace(addresses=lambda: ADDRESSES)
    leading = f"""
import time
from types import SimpleNamespace
from agent.board import peers
with peers.joined(SimpleNamespace(addresses=lambda: {ADDRESSES!r}), "i-1", {NONCE!r}, is_local=True) as leader:
    print("listening", flush=True)
    time.sleep(60)
"""
    leader = subprocess.Popen([sys.executable, "-c", leading], stdout=subprocess.PIPE)
    said = []

    def wait(other):
        try:
            other.await_end(2)
        except WorkIncomplete as err:
            said.append(str(err))

    with peers.joined(barrier_objects, "i-2", NONCE, is_local=True) as other:
        leader.stdout.readline()
        waiting = threading.Thread(target=wait, args=(other,), daemon=True)
        waiting.start()
        waiting.join(0.5)
        assert waiting.is_alive()

        leader.kill()
        leader.communicate()
        waiting.join(30)

    assert said == ["the leader 127.77.3.1 has gone before it ended step 2"]


def _until(done):
    give_up_at = time.monotonic() + 30
    while not done():
        assert time.monotonic() < give_up_at
        time.sleep(0.02)
