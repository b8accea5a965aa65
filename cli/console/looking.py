"""Looks at a run for those who ask, at most once a period: only what is new is read, the rest is kept."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from typing_extensions import TypedDict

from cli.console.boards import Boards
from cli.console.definition import Machine, machine, places
from cli.console.documents import Fleet, Header, Link, Matrix, Selection, StopView, ViewDocument
from cli.console.fleet_view import fleet
from cli.console.graph_view import graph, state_view
from cli.console.header_view import left_s, left_words, money, spent
from cli.console.histories import Histories, Reader
from cli.console.matrix_view import Layout
from cli.console.sources import Source
from cli.follow import progress
from cli.follow.progress import RunProgress
from cli.messages.errors import UnreadableRun
from cli.messages.explain import explain
from cli.target.traces import console_address
from matrix.terms.figures import rough_duration
from matrix.terms.sentences import receipt_sentence

# What a look at AWS costs is small, but requests of an account are throttled together; local looks cost nothing.
LOOK_EVERY_S = {"local": 2.0, "aws": 5.0}
SLOWEST_LOOK_S = 60.0
# Cells whose figures one look fetches; the first look at a run of 1,000 cells takes them in turn.
POINTS_AT_ONCE = 20
# States in which something of a cell goes on, the nearest to its end first.
UNDER_WAY = ("running", "analysing", "stopping", "waiting", "launching")
NO_STOP: StopView = {"state": "no", "lines": []}
EMPTY: Matrix = {"columns": [], "rows": []}


class Wanted(TypedDict):
    """What a page shows."""

    view: str
    file_system: str
    cell: str
    state: str


@dataclass
class _Seen:
    """The last look that was answered."""

    at: float
    rows: list[dict[str, Any]]
    progress: RunProgress


@dataclass
class RunLook:
    """One run, as it was seen last. Threads may ask at the same time; one of them looks."""

    source: Source
    run: str
    clock: Callable[[], float] = time.time
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _period_s: float = 0.0
    _next_at: float = 0.0
    _trouble: str = ""
    _seen: _Seen | None = None
    _layout: Layout | None = None
    _definition: dict[str, Any] = field(default_factory=dict)
    _histories: Histories | None = None
    _points: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    _boards: Boards = field(init=False)
    _fleets: dict[str, tuple[float, Fleet]] = field(default_factory=dict)
    _receipt: str = ""
    _paid_usd: float | None = None
    _has_report: bool = False

    def __post_init__(self) -> None:
        """Begin with the usual period."""
        self._period_s = LOOK_EVERY_S[self.source.environment]
        self._boards = Boards(self.run)

    # --- looking ------------------------------------------------------------------------------------------------------

    def look(self) -> None:
        """Look, unless that was done within the period. Trouble is kept, and makes the next look wait longer.

        Raises what the first look raised: without it there is nothing to show.
        """
        with self._lock:
            if self.clock() < self._next_at:
                return
            try:
                self._look()
            except Exception as error:
                self._period_s = min(2 * self._period_s, SLOWEST_LOOK_S)
                self._next_at = self.clock() + self._period_s
                if self._seen is None:
                    raise
                self._trouble = explain(error).message
            else:
                self._period_s, self._trouble = LOOK_EVERY_S[self.source.environment], ""
                self._next_at = self.clock() + self._period_s

    def _look(self) -> None:
        # The execution first: what is read after its end is final.
        execution = self.source.commands.execution(self.run)
        rows = self.source.commands.progress_rows(self.run)
        if self._layout is None and (plan := self.source.commands.plan(self.run)):
            self._layout = Layout(plan)
        if self._histories is None:
            self._definition = self.source.traces.definition(self.run)
            self._histories = Histories(places(self._definition), Reader(execution.arn))
        self._histories.read(self.source, execution)
        now = progress.read(rows, self._layout.plan if self._layout else None, execution)
        self._read_points(now)
        if not execution.is_running and not self._receipt:
            self._read_ends()
        self._seen = _Seen(self.clock(), rows, now)

    def _read_points(self, now: RunProgress) -> None:
        fresh = [cell.id for cell in now.cells if cell.state == "measured" and cell.id not in self._points]
        for cell in fresh[:POINTS_AT_ONCE]:
            self._points[cell] = self.source.commands.point_rows(self.run, cell)

    def _read_ends(self) -> None:
        """Read what a run leaves when it is over: its receipt, which a sweep may complete later, and its report."""
        try:
            receipt = self.source.commands.document(self.run, "receipt.json")
        except UnreadableRun:
            receipt = None
        if receipt and receipt.get("is_complete"):
            self._receipt = receipt_sentence(receipt)
            self._paid_usd = receipt["totals"]["resources_usd"] + receipt["totals"]["metered_usd"]
        if not self._has_report:
            self._has_report = any(name == "" for name, _ in self.source.traces.listing(self.run, "report.html"))

    # --- showing ------------------------------------------------------------------------------------------------------

    def machine(self) -> Machine:
        """Return the definition as the graph draws it."""
        self.look()
        return machine(self._definition)

    def view(self, wanted: Wanted, stop: StopView, report: str) -> ViewDocument:
        """Return what a page shows; `report` is the address of the report, if there will be one."""
        self.look()
        with self._lock:
            seen = self._seen
            assert seen is not None  # noqa: S101 - look() has raised otherwise
            selection = self._selection(wanted, seen.progress)
            now = self.clock()
            document: ViewDocument = {
                "as_of": seen.at,
                "now": now,
                "look_again_s": max(0.5, self._next_at - now),
                "trouble": self._trouble,
                "header": self._header(seen, stop, report),
                "matrix": self._layout.matrix(seen.progress, self._points, now) if self._layout else EMPTY,
                "selection": selection,
            }
            where = selection["file_system"], selection["cell"]
            if self._histories and wanted["view"] in ("graph", "state"):
                traced = self._histories.traced()
                document["graph"] = graph(traced, *where, self._histories.reading)
                if selection["state"] in traced.places:
                    document["state"] = state_view(traced, selection["state"], where, self._address)
            if selection["cell"] and wanted["view"] in ("matrix", "fleet"):
                shown = self._fleet(selection["cell"], seen)
                if shown:
                    document["fleet"] = shown
            return document

    def _selection(self, wanted: Wanted, now: RunProgress) -> Selection:
        """Return what is shown: as asked for, else what is nearest to its end, else what ended last."""
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
        is_local = self.source.environment == "local"
        cost = spent(seen.rows, seen.progress, self._layout.plan, now)["usd"] if self._layout else None
        if self._paid_usd is not None:
            cost = self._paid_usd  # the budget has settled what is billed by use at its most
        budget = next((row.get("budget_usd") for row in seen.rows if row.get("SK") == "PLAN"), None)
        states = [cell.state for cell in seen.progress.cells]
        problem = ": ".join(word for word in (execution.error, execution.cause) if word)
        return {
            "run": self.run,
            "environment": self.source.environment,
            "status": execution.status,
            "problem": problem[:2000],
            "cells": len(states),
            "counts": {state: states.count(state) for state in dict.fromkeys(states)},
            "fraction": round(seen.progress.fraction(now), 4),
            "elapsed": rough_duration(seen.progress.elapsed_s(now)),
            "left": left_words(left_s(seen.progress, now, is_local=is_local)),
            "spent": money(cost) if cost is not None else "",
            "budget": money(float(budget)) if budget is not None else "",
            "spent_note": "what AWS would charge; here it costs nothing" if is_local else "by the plan's prices",
            "receipt": self._receipt,
            "links": self._links(execution.arn),
            "report": report if self._has_report else "",
            "stop": stop,
        }

    def _links(self, arn: str) -> list[Link]:
        if self.source.environment == "local":
            return []
        links: list[Link] = [{"words": "this run", "address": console_address(arn)}]
        children = self._histories.children.items() if self._histories else []
        return links + [{"words": item, "address": console_address(child)} for child, (item, _) in children]

    def _address(self, arn: str) -> str:
        return "" if self.source.environment == "local" else console_address(arn)

    def _fleet(self, cell: str, seen: _Seen) -> Fleet | None:
        """Return the fleet of a cell, looked at as often as the run."""
        planned = (
            next((each for each in self._layout.plan["cells"] if each["id"] == cell), None) if self._layout else None
        )
        if planned is None:
            return None
        looked_at, known = self._fleets.get(cell, (0.0, None))
        if known is None or looked_at < seen.at:
            state = next(each for each in seen.progress.cells if each.id == cell)
            is_over = state.has_ended or not seen.progress.execution.is_running
            # Of a fleet that is over nothing changes once all of it is read.
            if known is not None and is_over and not known["note"] and known["is_final"]:
                return known
            try:
                board = self._boards.look(self.source, cell)
            except Exception as error:
                self._trouble = explain(error).message
                return known
            known = fleet(planned, board, self.clock(), has_ended=is_over)
            self._fleets[cell] = seen.at, known
        return known
