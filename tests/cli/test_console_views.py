"""What the console shows of a run that was recorded on the local cloud, and of histories made by hand."""

import json
import time
from dataclasses import replace

import pytest
from support.console_source import PlayedRun, recorded
from support.console_synthetic import TURNS, poll_events

from cli.console.boards import Boards
from cli.console.definition import machine, places
from cli.console.fleet_view import Board, fleet, objects_of
from cli.console.histories import Reader
from cli.console.history import KEPT_VISITS, History
from cli.console.matrix_view import Layout
from cli.console.polling import MAX_POLL_EVERY_S, RunLook
from cli.console.server import instance_lines
from cli.follow.heartbeats import Heartbeats
from cli.follow.progress import CellProgress, RunProgress, read
from cli.follow.spending import money, spent
from cli.target.service import Execution
from matrix.check.read import read_matrix
from matrix.plan.planning import plan
from matrix.run import heartbeats

RUN = "red2"
SYSTEM = "efs-elastic"
GOOD, BAD = f"{SYSTEM}.touch.m6i.large-x2", f"{SYSTEM}.touch.m6i.large-x5"
NO_STOP = {"state": "no", "lines": []}


@pytest.fixture
def played():
    """Two cells: the fleet of the first was launched at the third attempt, that of the second was refused."""
    return PlayedRun(recorded("failed_and_retried"))


def shown_by(look, **wanted):
    """What a page gets that asks for this view, by default for the matrix."""
    asked = {"view": "matrix", "file_system": "", "cell": "", "state": "", **wanted}
    return look.view(asked, NO_STOP, "/report")


def seen(played, at=None, **wanted):
    """A look at a moment of the run, by default after its end."""
    played.until = at or float("inf")
    now = at or played.record["execution"]["ended_at"] + 5
    return shown_by(RunLook(played, RUN, clock=lambda: now), **wanted)


def cells_in(matrix):
    """All cells of a matrix that is shown."""
    return [cell for row in matrix["rows"] for cell in row["cells"]]


def entered(played, name, nth=0):
    """When a state was entered."""
    events = [event for history in played.record["histories"].values() for event in history]
    times = sorted(
        event["timestamp"] for event in events if event.get("stateEnteredEventDetails", {}).get("name") == name
    )
    return times[nth]


# --- the recorded run ------------------------------------------------------------------------------------------------


def test_a_failed_cell_stands_in_the_matrix_with_its_reason_and_a_measured_one_with_its_median(played):
    [row] = seen(played)["matrix"]["rows"]
    good, bad = row["cells"]

    assert (row["label"], [cell["id"] for cell in row["cells"]]) == ("EFS elastic", [GOOD, BAD])
    assert good["figures"][0]["words"].endswith("files/s")
    assert good["figures"][0]["n"] == 4
    assert bad["state"] == "failed"
    assert bad["error"].startswith("QuotaExceeded: 5 × m6i.large refused")


def test_an_error_that_is_caught_is_seen_at_its_state_and_on_the_edge_that_it_took(played):
    graph = seen(played, view="graph", cell=BAD)["graph"]

    assert graph["states"]["Launch fleet"]["status"] == "caught"
    assert {"source": "Launch fleet", "target": "Stop fleet", "caught": True, "times": 1} in graph["edges"]
    assert "Analyse cell" not in graph["states"]
    assert graph["states"]["Some cells failed"]["status"] == "failed"


def test_a_retry_is_counted_and_its_errors_are_kept(played):
    document = seen(played, view="graph", cell=GOOD, state="Launch fleet")

    assert document["graph"]["states"]["Launch fleet"]["retries"] == 2
    [visit] = document["state"]["visits"]
    assert visit["attempts"] == 3
    assert [problem["error"] for problem in visit["retried"]] == ["Lambda.TooManyRequestsException"] * 2
    assert "LaunchFleetFunction" in document["state"]["function"]


def test_while_a_run_goes_on_its_state_runs_and_what_comes_later_is_not_there(played):
    at = entered(played, "Wait for fleet") + 0.01

    document = seen(played, at, view="graph", cell=GOOD)

    assert document["header"]["status"] == "RUNNING"
    assert document["graph"]["states"]["Wait for fleet"]["status"] == "running"
    assert document["graph"]["states"]["Each file system"]["status"] == "running"
    assert "Poll fleet" not in document["graph"]["states"]
    assert document["graph"]["maps"]["Each cell"] == "1 of 2"


def test_the_end_has_its_receipt_and_its_reason(played):
    header = seen(played)["header"]

    assert header["counts"] == {"measured": 1, "failed": 1}
    assert header["problem"].startswith("SomeCellsFailed: 1 of 2 cells failed")
    totals = played.record["documents"]["receipt.json"]["totals"]
    assert header["spent"] == money(totals["resources_usd"] + totals["metered_usd"])
    assert header["budget"] == "$5.00"
    assert header["receipt"].startswith("9 resources were created, all gone")
    played.record["documents"]["receipt.json"] |= {"is_complete": False, "unasked": ["ebs-snapshot: denied"]}
    assert "not searched: ebs-snapshot: denied" in seen(played)["header"]["receipt"]
    played.record["documents"]["receipt.json"]["sweep"] = None
    assert seen(played)["header"]["receipt"] == ""


def test_an_instance_log_is_shown_without_control_characters(played):
    name = next(name for name in played.record["documents"] if name.endswith("log.gz"))
    played.record["documents"][name] = ["\x1b[2Jmounted", *[f"line {number}" for number in range(600)]]
    instance = name.split("/")[3].rpartition(":")[2]

    log = instance_lines(played, RUN, GOOD, instance)

    assert log["lines"][-1] == "line 599"
    assert len(log["lines"]) == 500
    assert "\x1b" not in "".join(instance_lines(played, RUN, GOOD, instance)["lines"])
    assert instance_lines(played, RUN, GOOD, "i-other")["lines"] == []


# --- reading bit by bit ----------------------------------------------------------------------------------------------


def test_a_look_reads_only_what_is_new_and_an_ended_history_never_again(played):
    arn, events = max(played.record["histories"].items(), key=lambda entry: len(entry[1]))
    reader = Reader(arn)
    played.until = events[120]["timestamp"]
    reader.read(played)
    played.asked.clear()

    played.until = events[130]["timestamp"]
    reader.read(played)
    assert len(played.asked) == 1  # one page, of the newest

    played.until = float("inf")
    reader.read(played)
    played.asked.clear()
    reader.read(played)
    assert played.asked == []


def test_looking_is_done_once_a_period_however_many_pages_ask(played):
    played.until = entered(played, "Wait for fleet") + 0.01
    clock = [played.until]
    look = RunLook(played, RUN, clock=lambda: clock[0])
    look.look()
    played.asked.clear()

    for _ in range(5):
        look.look()
    assert played.asked == []
    clock[0] += 2.0
    look.look()
    assert played.asked


def test_a_look_that_is_throttled_comes_ever_more_seldom_and_says_why(played):
    clock, is_throttled = [played.record["execution"]["started_at"]], [False]
    usual = played.execution

    def execution(run):
        if is_throttled[0]:
            raise RuntimeError("Rate exceeded")
        return usual(run)

    played.execution = execution
    look = RunLook(played, RUN, clock=lambda: clock[0])
    look.look()
    is_throttled[0] = True
    pauses = []
    for _ in range(8):
        clock[0] = look._next_at
        look.look()
        pauses.append(look._next_at - clock[0])
    document = shown_by(look)

    assert pauses == sorted(pauses)
    assert pauses[0] == 4.0
    assert pauses[-1] == MAX_POLL_EVERY_S
    assert "Rate exceeded" in document["trouble"]
    assert document["as_of"] < clock[0]
    is_throttled[0], clock[0] = False, look._next_at
    look.look()
    assert look._next_at - clock[0] == 2.0


def test_twenty_thousand_events_are_read_in_a_second_of_processor_time():
    events = list(poll_events("{}"))
    history = History()

    began = time.process_time()
    history.feed(events)
    took = time.process_time() - began

    assert len(events) == 9 * TURNS + 4
    assert took < 1.0
    polled = history.iterations["Each cell", 0].states["Poll fleet"]
    assert (polled.entered, len(polled.visits)) == (TURNS, KEPT_VISITS)


# --- matrix, header, fleet -------------------------------------------------------------------------------------------

ASKED = """{"name": "m", "storage": [{"type": "efs", "throughputMode": "elastic"}, {"type": "ebs", "volumeType": "gp3",
 "sizeGiB": 20}], "workload": [{"type": "touch", "files": 64, "threads": [1, 4]}, {"type": "touch", "files": 8}],
 "fleet": [{"instanceType": "m6i.16xlarge", "count": 2}, {"instanceType": "m6i.4xlarge", "count": [10, 2]}],
 "exclude": [{"storage": {"type": "ebs"}, "workload": {"files": 8}}], "repetitions": 2}"""


@pytest.fixture(scope="module")
def planned():
    """A plan of two storages."""
    return plan(read_matrix(ASKED)).to_document()


def point(p50, interval=None, *, higher=True):
    """A row of a measured point."""
    ends = {"intervals": {"p50": {"low": interval[0], "high": interval[1]}}} if interval else {}
    metric = {"unit": "files/s", "higher_is_better": higher, "primary": True, "n": 4, "p50": p50, **ends}
    return {"id": "p01", "metrics": {"files_per_s": metric}}


def cell_of(planned, system, count=10):
    """A cell of the plan: of the workload with two points, on m6i.4xlarge."""
    return next(
        cell for cell in planned["cells"]
        if cell["storage"]["type"] == system and cell["workload"]["files"] == 64
        and cell["fleet"] | {"instanceType": "m6i.4xlarge", "count": count} == cell["fleet"]
    )  # fmt: skip


def progress_of(planned, **states):
    """A run whose cells are in these states."""
    cells = [
        CellProgress(cell["id"], cell["file_system"], states.get(cell["id"], "planned"), expected_s=cell["expected_s"])
        for cell in planned["cells"]
    ]
    return RunProgress(Execution("r", "RUNNING", 0.0), tuple(cells), (), planned["totals"]["expected_s"])


@pytest.mark.parametrize(
    ("ebs", "efs", "is_open", "times"),
    [
        (point(200.0, (190, 210)), point(100.0, (95, 105)), False, "×2.00"),
        (point(200.0, (90, 210)), point(100.0, (95, 105)), True, "×2.00"),
        (point(200.0), point(100.0), True, "×2.00"),
        (point(100.0, (95, 105), higher=False), point(150.0, (149, 151), higher=False), False, "×1.50"),
    ],
)
def test_a_figure_stands_beside_the_best_of_its_column_and_says_whether_that_can_be_told(
    planned, ebs, efs, is_open, times
):
    best, other = cell_of(planned, "ebs"), cell_of(planned, "efs")
    shown = Layout(planned).matrix(progress_of(planned), {best["id"]: [ebs], other["id"]: [efs]}, 0.0)
    figures = {cell["id"]: cell["figures"][0] for cell in cells_in(shown) if cell["figures"]}

    assert (figures[best["id"]]["is_best"], figures[best["id"]]["is_open"]) == (True, False)
    assert (figures[other["id"]]["times"], figures[other["id"]]["is_open"]) == (times, is_open)


def test_the_cost_so_far_is_what_is_settled_and_what_runs_but_not_what_is_set_aside(planned):
    now = progress_of(planned)
    cell = next(each for each in planned["cells"] if each["id"] == now.cells[0].id)
    running = replace(now.cells[0], state="running", started_at=0.0)
    reserved = {f"cell {cell['id']}": 2.0, f"file system {cell['file_system']}": 0.5}
    row = {"SK": "PLAN", "committed_usd": 2.75, "reserved": reserved}
    system = next(each for each in planned["file_systems"] if each["id"] == cell["file_system"])
    hourly = cell["fleet"]["count"] * sum(cell["rates_usd"].values()) + system["rates_usd"]["hour"]

    cost = spent([row], replace(now, cells=(running, *now.cells[1:])), planned, 1800.0)

    assert cost["least"] == pytest.approx(0.25 + hourly / 2)
    assert cost["most"] == pytest.approx(0.25 + hourly / 2 + cell["metered_usd"]["high"])


def test_the_most_that_a_run_can_have_cost_does_not_fall_when_its_cells_end(planned):
    now = progress_of(planned)
    cell = next(each for each in planned["cells"] if each["metered_usd"]["high"] > 0)
    metered, name = cell["metered_usd"], f"cell {cell['id']}"
    going = [replace(each, state="running", started_at=0.0) if each.id == cell["id"] else each for each in now.cells]
    ended = [replace(each, state="measured", finished_at=0.0) if each.id == cell["id"] else each for each in going]
    reserved = {"SK": "PLAN", "committed_usd": 9.0, "reserved": {name: 9.0}}
    settled = {"SK": "PLAN", "committed_usd": metered["high"], "reserved": {}}

    before = spent([reserved], replace(now, cells=tuple(going)), planned, 0.0)
    after = spent([settled], replace(now, cells=tuple(ended)), planned, 0.0)

    assert before["most"] == after["most"] == pytest.approx(metered["high"])
    assert before["least"] == 0.0
    assert after["least"] == pytest.approx(metered["low"])


def test_the_squares_of_a_fleet_tell_what_each_instance_does(planned):
    cell = cell_of(planned, "efs")
    names = [f"i-{number}" for number in range(8)]
    listing = [
        ("R:i-1/heartbeat", 995.0), ("R:i-2/heartbeat", 995.0), ("R:i-3/heartbeat", 995.0), ("R:i-4/heartbeat", 995.0),
        ("R:i-4/done.json", 999.0), ("R:i-5/heartbeat", 995.0), ("R:i-5/failed.json", 996.0),
        ("R:i-6/heartbeat", 800.0),
        ("R:i-4/log.gz", 999.0), ("R:i-7/unknown", 999.0),
    ]  # fmt: skip
    samples = {"i-4": [{"step": 0, "metrics": {"files_per_s": 123.456}, "start_skew_s": 0.002}]}
    board = Board(names, objects_of(listing), {0: 990.0}, {"i-3": 994.0}, samples)

    shown = fleet(cell, board, 1000.0, has_ended=False)
    states = {square["id"]: square["state"] for square in shown["instances"]}

    assert states == {"i-0": "running", "i-1": "running", "i-2": "running", "i-3": "at the gate", "i-4": "done",
                      "i-5": "failed", "i-6": "silent", "i-7": "running"}  # fmt: skip
    assert shown["counts"]["running"] == 4
    assert shown["steps"][0]["words"] == "123 files/s"
    assert shown["instances"][4]["values"] == [123.456]
    before = fleet(cell, Board(names, objects_of(listing)), 1000.0, has_ended=False)["instances"]
    assert [square["state"] for square in before[:2]] == ["booting", "preparing"]
    after = fleet(cell, board, 1000.0, has_ended=True)["instances"]
    assert [square["state"] for square in after[:2]] == ["gone", "gone"]


def test_points_of_a_running_cell_show_the_median_of_their_uploaded_samples(planned):
    cell = cell_of(planned, "efs")
    values = {"i-1": [100.0, 300.0], "i-2": [200.0]}
    samples = {
        name: [{"step": step, "metrics": {"files_per_s": value}} for step, value in enumerate(of_it)]
        for name, of_it in values.items()
    }
    board = Board([*values], {}, {0: 990.0, 1: 995.0}, {}, samples)
    first, second = (step["point"] for step in cell["steps"][:2])
    expected = {first: "150 files/s", second: "300 files/s"} if first != second else {first: "200 files/s"}
    layout = Layout(planned)

    def shown(state):
        board_now = fleet(cell, board, 1000.0, has_ended=False)
        matrix = layout.matrix(progress_of(planned, **{cell["id"]: state}), {}, 1000.0, {cell["id"]: board_now})
        return next(each for each in cells_in(matrix) if each["id"] == cell["id"])

    for state in ("running", "analysing"):
        assert shown(state)["so_far"] == {layout.keys[cell["id"], point]: words for point, words in expected.items()}
        assert shown(state)["at"] in shown(state)["columns"]
    assert (shown("failed")["so_far"], shown("failed")["at"]) == ({}, "")


def heartbeat(step, rates=(), **said):
    """A heartbeat of an agent."""
    lately = {"of": "disk", "rates": [list(rate) for rate in rates]}
    return json.dumps({"at": 1.0, "state": "running", "step": step, "since": 990.0, "lately": lately, **said}).encode()


def test_a_fleet_without_gates_is_at_the_step_of_its_heartbeats_and_its_curve_is_their_sum(planned):
    cell = cell_of(planned, "efs")
    told = Heartbeats()
    # Heartbeats overlap, and a rate may begin and end within a second.
    rates = [(991.0, 1.0, 0, 100, 5), (993.0, 2.0, 0, 300, 5), (994.5, 1.0, 0, 40, 0)]
    for name in ("i-1", "i-2"):
        for lately in (rates[:1], rates):
            told.add(name, heartbeats.parse(heartbeat(1, lately), 1000.0))
    board = Board(["i-1", "i-2"], objects_of([("R:i-1/heartbeat", 995.0)]), heartbeats=told)

    shown = fleet(cell, board, 1000.0, has_ended=False)

    assert shown["step"] == 1
    assert [square["state"] for square in shown["instances"]] == ["running", "running"]
    assert (shown["rates"]["first"], shown["rates"]["written"]) == (990, [200, 600, 600, 40])
    assert shown["rates"]["steps"] == [{"at": 990.0, "label": shown["steps"][1]["label"]}]
    assert 0 < shown["share"] < 1
    now = progress_of(planned, **{cell["id"]: "waiting"})
    now = replace(now, cells=tuple(replace(each, steps=len(cell["steps"])) for each in now.cells))
    matrix = Layout(planned).matrix(now, {}, 1000.0, {cell["id"]: shown})
    [live] = [each for each in cells_in(matrix) if each["live"]]
    assert live["words"].startswith(f"step 2 of {len(cell['steps'])}")
    assert live["fraction"] > 1 / len(cell["steps"])


def test_a_heartbeat_is_read_once_and_only_its_first_part(played):
    name = f"cells/{GOOD}/instances/R:i-1/heartbeat"
    asked = []

    def content(run, which, at_most=None):
        asked.append((which, at_most))
        return heartbeat(2)

    played.content = content
    played.listing = lambda run, below: [("R:i-1/heartbeat", 50.0)] if below.endswith("instances/") else []
    boards = Boards(RUN)
    board = boards.look(played, GOOD, 8, 1000.0)
    boards.look(played, GOOD, 8, 1000.0)

    assert asked == [(name, heartbeats.MAX_BYTES)]
    assert board.step() == 2


def test_after_a_stop_nothing_runs_and_nothing_has_failed(planned):
    cell = planned["cells"][0]
    rows = [
        {"SK": "PLAN"},
        {"SK": f"CELL#{cell['id']}", "cell": cell["id"], "file_system": cell["file_system"], "state": "running",
         "started_at": 900.0, "step": 0},
        {"SK": f"FS#{cell['file_system']}", "file_system": cell["file_system"], "state": "measuring"},
    ]  # fmt: skip
    now = read(rows, planned, Execution("r", "ABORTED", 890.0, 1000.0))
    stopped = next(each for each in now.cells if each.id == cell["id"])
    board = Board(["i-1"], objects_of([("R:i-1/heartbeat", 995.0), ("R:i-1/failed.json", 1001.0)]))

    shown = fleet(cell, board, 2000.0, has_ended=True, was_stopped=True)

    assert (stopped.state, stopped.elapsed_s(5000.0)) == ("stopped", 100.0)
    assert [system.state for system in now.file_systems] == ["stopped"]
    assert {each.state for each in now.cells if each.id != cell["id"]} == {"not measured"}
    rest = [
        row["state"]
        for row in Layout(planned).matrix(now, {}, 2000.0)["rows"]
        if row["file_system"] != cell["file_system"]
    ]
    assert set(rest) == {"not measured"}
    assert [(square["state"], square["since_s"]) for square in shown["instances"]] == [("gone", None)]


def test_a_page_shows_the_plan_at_once_and_no_figure_that_it_does_not_know(played, planned):
    played.until = entered(played, "Poll fleet")
    now = [played.until]
    look = RunLook(played, RUN, planned, lambda: now[0])
    document = shown_by(look)

    known = [document["header"][name] for name in ("status", "elapsed", "left", "spent", "resume", "receipt")]
    assert known == ["READING", "", "", "", "", ""]
    now[0] += 1
    assert shown_by(look)["header"]["status"] == "RUNNING"
    assert [cell["state"] for cell in cells_in(document["matrix"])] == ["planned"] * len(planned["cells"])


def test_what_an_instance_invents_is_not_drawn(planned):
    entries = [{"step": 10**12, "metrics": {"files_per_s": 1.0}}, {"step": 0, "metrics": {"files_per_s": "<b>"}},
               {"step": 1, "metrics": {"no such metric": 5}}]  # fmt: skip
    board = Board(["i-0"], {}, {}, {}, {"i-0": entries})

    [square] = fleet(cell_of(planned, "efs"), board, 1000.0, has_ended=False)["instances"]

    assert square["values"] == [None, None]


# --- definition and addresses ----------------------------------------------------------------------------------------


def test_each_state_of_the_definition_is_drawn_once_with_all_its_edges(played):
    definition = played.record["definition"]
    drawn = machine(definition)

    def states(inside):
        for state in inside["states"]:
            yield state
            yield from states(state["inside"]) if state["inside"] else ()

    names = [state["name"] for state in states(drawn)]
    assert len(names) == len(set(names)) == len(places(definition))
    poll = next(state for state in states(drawn) if state["name"] == "Poll fleet")
    assert poll["edges"] == [{"target": "Fleet finished?", "kind": "next"}, {"target": "Stop fleet", "kind": "caught"}]
