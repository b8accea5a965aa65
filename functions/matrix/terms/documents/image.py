"""Records of a run's machine images: recipes of baked images, and the images that instances boot."""

from typing import NotRequired

from typing_extensions import TypedDict


class BakeRecord(TypedDict):
    """recipe.json: the recipe of a baked image."""

    base_image_id: str
    fingerprint: str
    """The same for images of the same recipe and base image."""
    since: float
    """Epoch seconds when the run first asked for it."""


class BootedImage(TypedDict):
    """booted/<image>.json: the image that all instances of a run boot."""

    image_id: str
    baked: bool
    baked_by: NotRequired[str]
    """The run that baked it."""
    snapshots: NotRequired[list[str]]
    base_image_id: NotRequired[str]
    fingerprint: NotRequired[str]
    since: NotRequired[float]
