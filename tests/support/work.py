"""The work of a function, as a count that no other program on the machine disturbs."""

import gc
import sys
import threading
from collections.abc import Callable
from itertools import count as numbers
from types import FrameType
from typing import Any


def instructions(work: Callable[[], object]) -> int:
    """Return how many instructions of Python a call executes; a call of compiled code counts as one."""
    count = 0

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal count
        if event == "call":
            frame.f_trace_lines, frame.f_trace_opcodes = False, True
        count += event == "opcode"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def calls(work: Callable[[], object], apart_from: str) -> int:
    """Return how many functions a call calls, also in its threads, without one file's functions and their calls.

    This takes less time than a count of instructions. No garbage is collected meanwhile: CPython before 3.11.3 may
    crash if one thread collects while another enters a hook (https://github.com/python/cpython/issues/101975).
    """
    numbered = numbers()  # threads may share it

    def look(frame: FrameType, event: str, _: Any) -> None:
        if event in ("call", "c_call") and frame.f_code.co_filename != apart_from:
            next(numbered)

    before = sys.getprofile()
    gc.disable()
    threading.setprofile(look)
    sys.setprofile(look)
    try:
        work()
    finally:
        sys.setprofile(before)
        threading.setprofile(None)  # type: ignore[arg-type]
        gc.enable()
    return next(numbered)


def growth(work_of: Callable[[int], Callable[[], object]], sizes: tuple[int, int, int]) -> float:
    """Return the factor by which an instance, point or cell more costs at the end of three sizes than at the start.

    1 is linear. The first call imports modules and creates objects that are created only once.
    """
    small, medium, large = sizes
    work_of(large)()
    counts = [instructions(work_of(size)) for size in sizes]
    return (counts[2] - counts[1]) / (large - medium) / ((counts[1] - counts[0]) / (medium - small))
