"""Notes of a run on its machine images: what is baked, and what instances boot."""

from typing import NotRequired

from typing_extensions import TypedDict


class BakeRecord(TypedDict):
    """recipe.json: from what an image is baked."""

    base_image_id: str
    fingerprint: str
    """The same for images of the same recipe and base image."""
    since: float
    """Epoch seconds when the run first asked for it."""


class BootedImage(TypedDict):
    """booted/<image>.json: what all instances of a run boot."""

    image_id: str
    baked: bool
    baked_by: NotRequired[str]
    """The run that baked it."""
    snapshots: NotRequired[list[str]]
    base_image_id: NotRequired[str]
    fingerprint: NotRequired[str]
    since: NotRequired[float]
