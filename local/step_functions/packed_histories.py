"""Compressed histories of ended executions: their events repeat the data of earlier states."""

import ctypes
import gc
import pickle
import threading
import zlib
from contextlib import suppress
from typing import Any


class PackedEvents:
    """The events of a history to which none is added any more, in place of moto's EventManager."""

    def __init__(self, events: list[Any]) -> None:
        self._packed = zlib.compress(pickle.dumps(events), level=1)

    def get_event_history(self) -> list[Any]:
        events: list[Any] = pickle.loads(zlib.decompress(self._packed))  # noqa: S301 - made above
        return events


def pack(execution: Any) -> None:
    """Compress the history of an ended execution; call it in the execution's own thread.

    A stopped execution is skipped, because its threads may still write.
    """
    env = execution.exec_worker.env
    env.event_manager = PackedEvents(env.event_manager.get_event_history())
    threading.Thread(target=_give_back, args=(threading.current_thread(),), daemon=True).start()


def _give_back(thread: threading.Thread) -> None:
    """Let go of the program that ran in a thread once that has ended, and give its memory back to Linux."""
    thread.join()
    # Its states and their environments refer to each other.
    gc.collect()
    with suppress(AttributeError):  # a C library that has none
        ctypes.CDLL(None).malloc_trim(0)
