"""Folders that emulate shared file systems."""

import shutil
import threading
from pathlib import Path
from typing import Any


class Folders:
    """Folders that emulate shared file systems, by their ids."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._gone: set[str] = set()

    def create(self, file_system_id: str) -> None:
        """Create the folder unless it exists or its file system was deleted."""
        if file_system_id not in self._gone:
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
