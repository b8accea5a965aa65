"""receipt.json: every resource that a run created, the proof of its deletion, and its cost."""

from typing import NotRequired

from typing_extensions import TypedDict

from matrix.terms.documents.parts import CostRange


class ReceiptResource(TypedDict):
    """One resource."""

    kind: str
    id: str
    file_system: str | None
    cell: str | None
    """Or its purpose: cache, file-server."""
    created_at: float
    gone_at: float | None
    """None while it is there."""
    verified: str | None
    """Which service said that it is gone."""
    kept: NotRequired[bool]
    """Whether it stays on purpose, as baked images do."""
    hours: float
    """For which it is billed."""
    cost_usd: float | None
    """None if the plan has no price for it."""


class ReceiptTotals(TypedDict):
    """Sums over a receipt."""

    resources: int
    gone: int
    kept: NotRequired[int]
    kept_usd_month: NotRequired[CostRange | None]
    """US dollars per month for the kept images."""
    resources_usd: float
    metered_usd: float
    """Billed by use, as planned for the cells that ran."""
    cost_usd: float


class Sweep(TypedDict):
    """The sweep after the run's end that began last."""

    at: float
    """When it began to look."""
    remaining: int
    """How many resources it left."""


class NotOurs(TypedDict):
    """A storage that was there before the run, which it has left as it was."""

    kind: str
    id: str
    file_system: str
    folder: str | None
    """A folder of the run that may be left there, since an instance ended without a word; else None."""


class ReceiptDocument(TypedDict):
    """Every resource that a run created, the proof of its deletion, and its cost."""

    schema: int
    run: str
    at: float
    is_complete: bool
    """Whether everything is gone, or kept on purpose, and the sweep after the run found nothing more."""
    resources: list[ReceiptResource]
    totals: ReceiptTotals
    sweep: Sweep | None
    unasked: NotRequired[list[str]]
    """Services that could not be searched for remaining resources."""
    unfinished: NotRequired[list[str]]
    """Resources whose creation was interrupted. They may still appear, and later sweeps look for them."""
    not_ours: NotRequired[list[NotOurs]]
