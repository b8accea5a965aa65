"""Folders that emulate shared file systems."""

import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

LateS = Callable[[str, float], float]


class Folders:
    """Folders that emulate shared file systems, by their ids."""

    def __init__(self, root: Path, late_s: LateS) -> None:
        self._root = root
        self._late_s = late_s
        self._since: dict[str, float] = {}
        self._gone: set[str] = set()

    def create(self, file_system_id: str) -> None:
        """Create the folder unless it exists, or its DNS name does not resolve yet."""
        is_first = file_system_id not in self._since
        left_s = self._late_s(file_system_id, self._since.setdefault(file_system_id, time.time()))
        if left_s and is_first:
            later(left_s, self.create, file_system_id)
        elif not left_s and file_system_id not in self._gone:
            (self._root / file_system_id).mkdir(parents=True, exist_ok=True)

    def folder(self, file_system_id: str) -> Path:
        """Return the path of the folder, which may not exist."""
        return self._root / file_system_id

    def delete(self, file_system_id: str) -> None:
        """Remove the folder with all it holds."""
        self._gone.add(file_system_id)
        shutil.rmtree(self._root / file_system_id, ignore_errors=True)


def later(delay_s: float, action: Any, *arguments: Any) -> None:
    """Do something once the seconds are over, unless the process has ended."""
    timer = threading.Timer(delay_s, action, arguments)
    timer.daemon = True
    timer.start()
