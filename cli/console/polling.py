"""Poll a run for the pages of the console, at most once a period. Only new data is read; the rest is cached."""

import math
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from cli.console.boards import Boards
from cli.console.definition import Machine, machine, places
from cli.console.documents import Fleet, Header, Link, Matrix, Selection, StopView, ViewDocument
from cli.console.fleet_view import fleet
from cli.console.graph_view import graph, state_view
from cli.console.histories import Histories, Reader
from cli.console.matrix_view import Layout
from cli.follow import progress
from cli.follow.progress import RunProgress
from cli.follow.spending import describe_spending, money, spent
from cli.messages.errors import UnknownRun, UnreadableRun
from cli.messages.explain import explain
from cli.target.documents import ProgressRow
from cli.target.run_documents import RunDocuments
from cli.target.service import Execution
from cli.target.traces import Traces
from matrix.terms.consoles import execution_address
from matrix.terms.documents.plan import PlanDocument
from matrix.terms.documents.result import PointMetrics
from matrix.terms.quantities import rough_duration
from matrix.terms.sentences import ENVIRONMENT_NOTES, LOCAL_NOTE, receipt_sentence, why_incomplete

# Polling AWS costs little, but all requests of an account share its throttling limits; local polls are free.
POLL_EVERY_S = {"local": 2.0, "aws": 5.0}
MAX_POLL_EVERY_S = 60.0
# Show a known plan at once, and poll when the page asks again.
SHOWN_FIRST_S = 0.3
# Cells whose figures one poll reads; a run of 1,000 cells needs several polls.
POINTS_AT_ONCE = 20
# States of active cells, the nearest to their end first.
UNDER_WAY = ("running", "analysing", "stopping", "waiting", "launching")
# Running cells whose fleets are polled; on AWS all except the selected one are polled every 30 s.
MAX_BOARDS = 8
BOARD_EVERY_S = {"local": 0.0, "aws": 30.0}
# Before the first look, and before Step Functions lists the run: neither has a time, a cost or a count.
READING, STARTING = "READING", "STARTING"
EMPTY: Matrix = {"columns": [], "rows": []}


@dataclass
class _Seen:
    """The last successful poll."""

    at: float
    rows: list[ProgressRow]
    progress: RunProgress


@dataclass
class RunLook:
    """Cached state of one run. Threads may call it at the same time; one of them polls."""

    source: Traces
    run: str
    plan: PlanDocument | None = None
    """The plan of a run that this command starts; it is shown before the first poll."""
    clock: Callable[[], float] = time.time
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _period_s: float = 0.0
    _next_at: float = 0.0
    _trouble: str = ""
    _seen: _Seen | None = None
    _layout: Layout | None = None
    _has_plan: bool = False
    _definition: dict[str, Any] = field(default_factory=dict)
    _histories: Histories | None = None
    _points: dict[str, list[PointMetrics]] = field(default_factory=dict)
    _boards: Boards = field(init=False)
    _fleets: dict[str, tuple[float, Fleet]] = field(default_factory=dict)
    _receipt: str = ""
    _is_proved: bool = False
    """Whether the receipt is final: it proves that nothing is left."""
    _paid_usd: float | None = None
    _has_report: bool = False

    def __post_init__(self) -> None:
        """Start with the default period."""
        self._period_s = POLL_EVERY_S[self.source.deployment.environment]
        self._boards = Boards(self.run)
        if self.plan:
            self._layout = Layout(self.plan)
            self._show_plan(READING)
            self._next_at = self.clock() + SHOWN_FIRST_S

    def _show_plan(self, status: str) -> None:
        execution = Execution(self.run, status, self.clock())
        self._seen = _Seen(self.clock(), [], progress.read([], self.plan, execution))

    # --- looking ------------------------------------------------------------------------------------------------------

    def look(self) -> None:
        """Poll the run if the period since the last poll is over. An error is shown and delays the next poll.

        Raises the error of the first poll, because there is nothing to show yet.
        """
        with self._lock:
            if self.clock() < self._next_at:
                return
            try:
                self._look()
            except UnknownRun:
                # The page may open before the run has started.
                if self._seen is None:
                    raise
                if self._seen.progress.execution.status == READING:
                    self._show_plan(STARTING)
                self._next_at = self.clock() + self._period_s
            except Exception as error:
                self._period_s = min(2 * self._period_s, MAX_POLL_EVERY_S)
                self._next_at = self.clock() + self._period_s
                if self._seen is None:
                    raise
                self._trouble = explain(error).message
            else:
                self._period_s, self._trouble = POLL_EVERY_S[self.source.deployment.environment], ""
                self._next_at = self.clock() + self._period_s

    def _look(self) -> None:
        # Read the execution first: rows read after its end are final.
        execution = self.source.execution(self.run)
        rows = self.source.progress_rows(self.run)
        if not self._has_plan and (plan := RunDocuments(self.source, self.run).plan()):
            self._layout, self._has_plan = Layout(plan), True
        if self._histories is None:
            self._definition = self.source.definition(self.run)
            self._histories = Histories(places(self._definition), Reader(execution.arn))
        self._histories.read(self.source, execution)
        now = progress.read(rows, self._layout.plan if self._layout else None, execution)
        self._read_points(now)
        self._read_fleets(now)
        if not execution.is_running and not self._is_proved:
            self._read_ends()
        self._seen = _Seen(self.clock(), rows, now)

    def _read_fleets(self, now: RunProgress) -> None:
        """Poll the fleets of running cells, whose steps and rates the matrix shows."""
        every_s = BOARD_EVERY_S[self.source.deployment.environment]
        for cell in [each for each in now.cells if each.state in ("waiting", "running")][:MAX_BOARDS]:
            if self._fleets.get(cell.id, (-math.inf, None))[0] + every_s <= self.clock():
                self._poll_fleet(cell.id, now)

    def _read_points(self, now: RunProgress) -> None:
        unread = [cell.id for cell in now.cells if cell.state == "measured" and cell.id not in self._points]
        for cell in unread[:POINTS_AT_ONCE]:
            self._points[cell] = self.source.point_rows(self.run, cell)

    def _read_ends(self) -> None:
        """Read the receipt and the report of a run that has ended. A sweep may complete the receipt later."""
        try:
            receipt = RunDocuments(self.source, self.run).receipt()
        except UnreadableRun:
            receipt = None
        if receipt and receipt["sweep"]:
            self._is_proved = not why_incomplete(receipt)
            self._receipt = receipt_sentence(receipt)
            self._paid_usd = receipt["totals"]["resources_usd"] + receipt["totals"]["metered_usd"]
        if not self._has_report:
            self._has_report = any(name == "" for name, _ in self.source.listing(self.run, "report.html"))

    # --- showing ------------------------------------------------------------------------------------------------------

    def machine(self) -> Machine:
        """Return the definition as the graph draws it."""
        self.look()
        return machine(self._definition)

    def view(self, wanted: Mapping[str, str], stop: StopView, report: str) -> ViewDocument:
        """Return the document of a page with this view and selection.

        `report` is the address of the report, if there will be one.
        """
        self.look()
        with self._lock:
            seen = self._seen
            assert seen is not None  # noqa: S101 - look() has raised otherwise
            selection = self._selection(wanted, seen.progress)
            now = self.clock()
            document: ViewDocument = {
                "as_of": seen.at,
                "now": now,
                "poll_again_s": max(0.5, self._next_at - now),
                "trouble": self._trouble,
                "header": self._header(seen, stop, report),
                "matrix": self._matrix(seen, now),
                "selection": selection,
            }
            where = selection["file_system"], selection["cell"]
            if self._histories and wanted["view"] == "graph":
                traced = self._histories.traced()
                document["graph"] = graph(traced, *where, self._histories.reading)
                if selection["state"] in traced.places:
                    document["state"] = state_view(traced, selection["state"], where, self._address)
            if selection["cell"] and wanted["view"] in ("matrix", "fleet"):
                shown = self._fleet(selection["cell"], seen)
                if shown:
                    document["fleet"] = shown
            return document

    def _matrix(self, seen: _Seen, now: float) -> Matrix:
        if self._layout is None:
            return EMPTY
        fleets = {cell: known for cell, (_, known) in self._fleets.items() if known}
        return self._layout.matrix(seen.progress, self._points, now, fleets)

    def _selection(self, wanted: Mapping[str, str], now: RunProgress) -> Selection:
        """Return the selection: the requested cell, else the one under way nearest to its end, else the last ended."""
        cells = {cell.id: cell for cell in now.cells}
        cell = cells.get(wanted["cell"])
        if cell is None:
            among = [each for each in now.cells if wanted["file_system"] in ("", each.file_system)]
            going = sorted(
                (each for each in among if each.state in UNDER_WAY), key=lambda each: UNDER_WAY.index(each.state)
            )
            ended = sorted((each for each in among if each.finished_at), key=lambda each: each.finished_at or 0.0)
            cell = next(iter([*going, *reversed(ended), *among]), None)
        return {
            "file_system": cell.file_system if cell else wanted["file_system"],
            "cell": cell.id if cell else "",
            "state": wanted["state"],
        }

    def _header(self, seen: _Seen, stop: StopView, report: str) -> Header:
        execution, now = seen.progress.execution, seen.at
        plan = self._layout.plan if self._layout else None
        is_known = execution.status not in (READING, STARTING)
        is_over = is_known and (not execution.is_running or stop["state"] != "no")
        cost = (
            describe_spending(spent(seen.rows, seen.progress, plan, now), is_over=is_over) if plan and is_known else ""
        )
        if self._paid_usd is not None:
            cost = money(self._paid_usd)  # the budget settles usage-based costs at their maximum
        budget = next((row.get("budget_usd") for row in seen.rows if row.get("SK") == "PLAN"), None)
        states = [cell.state for cell in seen.progress.cells]
        left = seen.progress.left_s(now)
        place = ""
        if plan and is_known and self.source.is_here:
            place = ENVIRONMENT_NOTES.get(plan.get("environment", ""), LOCAL_NOTE)
        return {
            "run": self.run,
            "environment": self.source.deployment.environment,
            "status": execution.status,
            "problem": execution.reason[:2000],
            "cells": len(states),
            "counts": {state: states.count(state) for state in dict.fromkeys(states)},
            "fraction": round(seen.progress.fraction(now), 4),
            "elapsed": rough_duration(seen.progress.elapsed_s(now)) if is_known else "",
            "left": "" if left is None or stop["state"] != "no" else f"about {rough_duration(left)} left",
            "place": place,
            "spent": cost,
            "expected": money(plan["totals"]["cost_usd"]["expected"])
            if plan and not is_over and self._paid_usd is None
            else "",
            "budget": money(budget) if budget is not None else "",
            "receipt": self._receipt,
            "ended_at": execution.ended_at,
            "resume": self._resume(execution, states),
            "links": self._links(execution.arn),
            "report": report if self._has_report else "",
            "stop": stop,
        }

    def _resume(self, execution: Execution, states: list[str]) -> str:
        has_rest = any(state not in ("measured", "skipped") for state in states)
        if execution.status in (READING, STARTING) or execution.is_running or not has_rest:
            return ""
        return f"matrix run --resume {self.run} {self.source.flag}".strip()

    def _links(self, arn: str) -> list[Link]:
        if self.source.is_here:
            return []
        links: list[Link] = [{"words": "this run", "address": execution_address(arn)}]
        children = self._histories.children.items() if self._histories else []
        return links + [{"words": item, "address": execution_address(child)} for child, (item, _) in children]

    def _address(self, arn: str) -> str:
        return "" if self.source.is_here else execution_address(arn)

    def _fleet(self, cell: str, seen: _Seen) -> Fleet | None:
        """Return the fleet of a cell, polled as often as the run."""
        looked_at, known = self._fleets.get(cell, (0.0, None))
        return self._poll_fleet(cell, seen.progress) if known is None or looked_at < seen.at else known

    def _poll_fleet(self, cell: str, now: RunProgress) -> Fleet | None:
        """Poll the fleet of a cell. After an error the earlier data stays."""
        if self._layout is None or now.execution.status in (READING, STARTING):
            return None
        planned = next((each for each in self._layout.plan["cells"] if each["id"] == cell), None)
        state = next((each for each in now.cells if each.id == cell), None)
        _, known = self._fleets.get(cell, (0.0, None))
        if planned is None or state is None:
            return None
        is_over = state.has_ended or not now.execution.is_running
        # The fleet of an ended cell does not change after it has been read completely.
        if known is not None and is_over and not known["note"] and known["is_final"]:
            return known
        try:
            board = self._boards.look(self.source, cell, len(planned["steps"]), self.clock())
        except Exception as error:
            self._trouble = explain(error).message
            return known
        was_stopped = is_over and not state.has_ended
        known = fleet(planned, board, self.clock(), has_ended=is_over, was_stopped=was_stopped)
        self._fleets[cell] = self.clock(), known
        return known
