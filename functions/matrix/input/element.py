"""Interface that the models of storages and workloads share."""

from typing import Any, ClassVar, Protocol

from matrix.input.fields import InputModel, Rule


class Element(Protocol):
    """One element of an axis of the matrix."""

    assumption: ClassVar[str]
    """Assumption of plans about it, in a sentence. Empty: none."""

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
        """Its JSON with all defaults. Shared, so it must not be changed."""
        ...

    @property
    def fingerprint(self) -> str:
        """A text that is equal for equal elements, whether or not defaults are written."""
        ...

    @classmethod
    def rules(cls) -> tuple[Rule, ...]:
        """Return the rules for its fields."""
        ...


class ElementModel(InputModel):
    """Defaults for the models of elements."""

    assumption: ClassVar[str] = ""
