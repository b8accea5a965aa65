"""Name the bottleneck of a cell, with evidence from counted, published and provisioned figures.

`provisioned`, `watched` and `clients` yield ceilings, each with the share of it that every point used. `verdict` names
the ceiling that most points reached, the reasons against the others, and the ceilings without data.
"""

from matrix.answer.bottleneck.verdict import find, is_late, refreshed

__all__ = ["find", "is_late", "refreshed"]
