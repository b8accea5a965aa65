"""What the model of each storage and each workload offers, whichever of the two it is."""

from typing import Any, ClassVar, Protocol

from matrix.input.fields import InputModel
from matrix.input.part import Rule


class Element(Protocol):
    """One element of an axis of the matrix."""

    assumption: ClassVar[str]
    """What a plan takes for granted about it, in a sentence; empty if nothing."""

    @property
    def type(self) -> str:
        """Its type, as the input names it."""
        ...

    @property
    def name(self) -> str | None:
        """The user's own name for it."""
        ...

    @property
    def slug(self) -> str:
        """Readable id."""
        ...

    @property
    def document(self) -> dict[str, Any]:
        """It as JSON, every default filled in; nobody may change it."""
        ...

    @property
    def fingerprint(self) -> str:
        """A text that is equal for equal elements."""
        ...

    @classmethod
    def rules(cls) -> tuple[Rule, ...]:
        """Return the rules for its fields."""
        ...


class ElementModel(InputModel):
    """What holds for an element unless its own model says otherwise."""

    assumption: ClassVar[str] = ""

    @classmethod
    def rules(cls) -> tuple[Rule, ...]:
        """Return none: its types say all."""
        return ()
