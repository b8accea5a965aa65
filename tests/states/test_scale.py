"""Each function that grows with a fleet grows as fast as it, and with 1,000 instances × 60 steps keeps its Timeout.

Calls and requests of small fleets are counted, which no other program on the machine disturbs, and carried on to
the large one. `python -m bench.scale` measures processor time and memory of the large ones themselves.
"""

import json

import pytest
from botocore.utils import parse_timestamp
from support.work import calls

import poll_fleet
from aws.records import plans, table
from aws.stack import clients
from bench.scale import cases
from bench.scale import cloud as cloud_module
from bench.scale.limits import limits, share_of_time

# Processor time of a call: 0.37 µs in launches and 0.44 µs in polls, by `python -m bench.scale` and these counts.
CALL_S = 0.5e-6
LARGE = {"plan_matrix": 10_000}
# The analyses work in numpy, where calls say little: tests/matrix/answer/test_scale.py has theirs.
COUNTED = ("plan_matrix", "launch_fleet", "poll_fleet", "stop_fleet", "reap")


@pytest.fixture(autouse=True)
def _own_session(monkeypatch: pytest.MonkeyPatch):
    for name, value in cases.ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    # The small fleets too have more rows than this, so that theirs are written in threads as a large fleet's are.
    monkeypatch.setattr(table, "WRITES_AT_ONCE", 2)
    _forget()
    yield
    _forget()


def _forget() -> None:
    for made in (clients.session, clients.client, clients.impatient_client, table._table, plans.plan_of):
        made.cache_clear()


def counts(function: str, size: int) -> dict[str, float]:
    """Calls, and requests by operation, of one call."""
    plans.plan_of.cache_clear()
    cloud, work = cases.CASES[function][0](size)
    cloud.requests.clear()
    return {"calls": calls(work, cloud_module.__file__), **cloud.requests}


@pytest.mark.parametrize("function", COUNTED)
def test_a_function_is_linear_and_a_large_fleet_takes_a_third_of_its_timeout_at_most(function):
    # Storages of the plan have ten cells each.
    small, medium, large = (20, 40, 80) if function == "plan_matrix" else (3, 6, 12)
    _, warm = cases.CASES[function][0](large)
    warm()
    first, second, third = (counts(function, size) for size in (small, medium, large))

    early, late = (
        (second["calls"] - first["calls"]) / (medium - small),
        (third["calls"] - second["calls"]) / (large - medium),
    )
    assert late < 1.25 * early, (first, second, third)
    more = LARGE.get(function, 1_000) - large
    each = {name: max(0.0, (third[name] - second.get(name, 0)) / (large - medium)) for name in third}
    whole = {name: third[name] + more * each[name] for name in third}
    cpu_s = whole.pop("calls") * CALL_S
    assert share_of_time(cpu_s, whole, limits()[function]) < 1


def test_the_poll_that_is_counted_opens_the_last_of_sixty_gates():
    cloud, work = cases.CASES["poll_fleet"][0](3)

    answer = work()

    [gate] = [json.loads(body) for key, body in cloud.objects.items() if key.endswith("/gates/0059.json")]
    assert (answer["state"], gate["opener"]) == ("running", "Poll fleet")
    assert {prefix.rsplit("/", 2)[1]: len(keys) for prefix, keys in cloud.listed.items()} == {
        "gates": 59,
        **{f"{step:04d}": 3 for step in range(60)},
    }


def test_a_poll_lists_as_much_after_sixty_steps_as_after_one():
    pages = []
    for step in (1, 59):
        cloud, cell = cases.launched(400, step)
        cloud.requests.clear()
        poll_fleet.handler({"run": cases.RUN, "cell": cell["id"], "poll_s": 20}, cases.Context())
        pages.append(cloud.requests["ListObjectsV2"])

    # Gates, marks of two steps, and three keys of each instance.
    assert pages == [5, 5]


def test_a_poll_reads_the_times_of_its_listings_without_dateutil(monkeypatch):
    _, work = cases.CASES["poll_fleet"][0](3)
    work()  # botocore's models of the services have been read now
    monkeypatch.setattr("dateutil.parser.parse", lambda *_, **__: pytest.fail("three fifths of a poll's time"))

    assert work()["state"] == "running"


@pytest.mark.parametrize(
    "time",
    ["2027-01-15T08:00:00.000Z", "2027-01-15T08:00:00Z", "Fri, 15 Jan 2027 08:00:00 GMT", 1_800_000_000, "1.8e9"],
)
def test_times_of_answers_are_those_that_botocore_reads(time):
    assert clients._timestamp(time) == parse_timestamp(time)
    assert clients._timestamp(time).timestamp() == 1_800_000_000
