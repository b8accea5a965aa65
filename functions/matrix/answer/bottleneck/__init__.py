"""Which limit held a cell back? One named bottleneck with evidence: what was counted, published and provisioned.

Ceilings are looked at one by one (`provisioned`, `watched`, `clients`), each yields how much of it was used; `verdict`
names the one that was reached at most points, says why the others were not it, and what could not be seen.
"""

from matrix.answer.bottleneck.refreshing import is_late, refreshed
from matrix.answer.bottleneck.verdict import find

__all__ = ["find", "is_late", "refreshed"]
