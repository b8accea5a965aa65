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
    """The cell that it belongs to, or the purpose `cache` or `file-server`; None for a file system."""
    created_at: float
    gone_at: float | None
    """Unix time when its deletion was confirmed; None while it exists."""
    verified: str | None
    """The call of AWS that confirmed the deletion, with its answer."""
    kept: NotRequired[bool]
    """Whether the run keeps the resource on purpose: a baked image and its snapshots."""
    binned_until: NotRequired[float | None]
    """Unix time until which the account's Recycle Bin keeps it after its deletion, and AWS bills it; else None."""
    hours: float
    """Billed hours: until `binned_until`, `gone_at`, or until the receipt was written."""
    cost_usd: float | None
    """US dollars for these hours; None if the plan has no price of the resource."""


class ReceiptTotals(TypedDict):
    """Sums over a receipt."""

    resources: int
    gone: int
    kept: NotRequired[int]
    kept_usd_month: NotRequired[CostRange | None]
    """US dollars per month for the kept images."""
    binned: NotRequired[int]
    """How many of the gone ones are in the account's Recycle Bin."""
    binned_usd: NotRequired[float]
    """US dollars for them after their deletion, until they leave it."""
    resources_usd: float
    metered_usd: float
    """Billed by use: as the mounts of the cells that ran counted, else as planned."""
    cost_usd: float


class Sweep(TypedDict):
    """The sweep after the run's end that began last."""

    at: float
    """Unix time of its begin."""
    remaining: int
    """Number of resources that it found and could not delete yet."""


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
    """Whether everything is gone, or kept on purpose; the sweep after the run could search all, and found no more."""
    resources: list[ReceiptResource]
    totals: ReceiptTotals
    sweep: Sweep | None
    unasked: NotRequired[list[str]]
    """Lists of AWS in which remaining resources could not be searched, each with the reason."""
    binning_until: NotRequired[float | None]
    """Unix time until which a deleted resource may still appear in the account's Recycle Bin, whose rules keep it."""
    unfinished: NotRequired[list[str]]
    """Resources whose creation was interrupted. They may still appear, and later sweeps look for them."""
    not_ours: NotRequired[list[NotOurs]]
