"""Read the histories of a run in parts: of its execution and of each iteration of its distributed Maps."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from cli.console.definition import Place, is_distributed, item_name
from cli.console.graph_view import Traced
from cli.console.history import Event, History
from cli.target.service import Execution
from cli.target.traces import Traces

# Pages of 1,000 events that one poll reads of one history. Long histories come in parts, so the page appears soon.
PAGES_AT_ONCE = 5


@dataclass
class Reader:
    """One execution's history, and the position of its reader."""

    arn: str
    history: History = field(default_factory=History)
    following: str = ""
    """Token of the next page during the first reading."""
    has_caught_up: bool = False

    def read(self, source: Traces) -> None:
        """Read new events.

        At first it reads forward, some pages at a time. Step Functions has no token to continue after the last event,
        so later it reads pages from the newest event back to a known one.
        """
        if self.history.has_ended:
            return
        if not self.has_caught_up:
            self._catch_up(source)
            return
        unread: list[Event] = []
        page = source.events(self.arn, newest_first=True)
        while True:
            unread += [event for event in page.events if event["id"] > self.history.last_id]
            if not page.following or not page.events or page.events[-1]["id"] <= self.history.last_id + 1:
                break
            page = source.events(self.arn, page.following, newest_first=True)
        self.history.feed(sorted(unread, key=lambda event: int(event["id"])))

    def _catch_up(self, source: Traces) -> None:
        for _ in range(PAGES_AT_ONCE):
            page = source.events(self.arn, self.following)
            self.history.feed(page.events)
            self.following = page.following
            if not page.following:
                self.has_caught_up = True
                return


@dataclass
class Histories:
    places: Mapping[str, Place]
    parent: Reader
    children: dict[str, tuple[str, Reader]] = field(default_factory=dict)
    """By ARN: the item, and its history."""

    def read(self, source: Traces, execution: Execution) -> None:
        """Read the new events of each history that has not ended."""
        self.parent.read(source)
        if any(map(self._is_distributed, self.parent.history.root.states)):
            for arn, _ in source.children(execution.run):
                if arn not in self.children:
                    self.children[arn] = self._item(source, arn), Reader(arn)
        for _, reader in self.children.values():
            reader.read(source)

    def _is_distributed(self, state: str) -> bool:
        place = self.places.get(state)
        return place is not None and is_distributed(place["state"])

    def _item(self, source: Traces, arn: str) -> str:
        keys = [item_name(place["state"]) for place in self.places.values() if is_distributed(place["state"])]
        item = source.item(arn)
        return next((str(item[key]) for key in keys if key in item), arn)

    @property
    def reading(self) -> str:
        """Describe the progress of the first history that is not completely read; empty if all are."""
        readers = [self.parent, *(reader for _, reader in self.children.values())]
        late = [reader for reader in readers if not reader.has_caught_up]
        return f"{late[0].history.last_id:,} events are read so far" if late else ""

    def traced(self) -> Traced:
        """Return the histories for drawing the graph."""
        children = {item: (reader.arn, reader.history) for item, reader in self.children.values()}
        return Traced(self.places, self.parent.history, self.parent.arn, children)
