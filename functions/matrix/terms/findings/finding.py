"""What all findings have: a code and data, as documents keep them, and a sentence for people."""

import re
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from typing import (
    Annotated,
    Any,
    ClassVar,
    Literal,
    NotRequired,
    Self,
    Union,
    cast,
    dataclass_transform,
    get_type_hints,
)

from typing_extensions import TypedDict

CAPITAL = re.compile(r"(?<!^)(?=[A-Z])")


@dataclass_transform(kw_only_default=True, frozen_default=True)
@dataclass(frozen=True, kw_only=True)
class Finding:
    """A statement about a run. Its document has its fields and `code` as keys.

    A direct subclass is a family, such as all warnings, which may stand in the same place of a document. The code of a
    class is its name, `SlowTail` is `slow-tail`, unless it gives another; "" is for a base of several. The type of the
    documents is `Annotated[dict[str, Any], Family]`: pydantic then checks them by the fields of their class.
    """

    code: ClassVar[str]
    kinds: ClassVar[dict[str, type[Any]]]
    """The classes of a family by code."""
    words: ClassVar[str]
    """The sentence, with names of fields in braces. Classes that need more than that define `sentence`."""

    def __init_subclass__(cls, *, code: str | None = None) -> None:
        dataclass(frozen=True, kw_only=True)(cls)
        if Finding in cls.__bases__:
            cls.kinds = {}
            return
        cls.code = CAPITAL.sub("-", cls.__name__).lower() if code is None else code
        if cls.code:
            cls.kinds[cls.code] = cls

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> Self:
        """Read a finding of this family. Unknown keys are ignored: a newer version may have written them."""
        kind = cls.kinds[document["code"]]
        known: Self = kind(**{each.name: document[each.name] for each in fields(kind) if each.name in document})
        return known

    @classmethod
    def describe(cls, document: Mapping[str, Any]) -> str:
        """Write a finding of this family."""
        return cls.read(document).sentence

    @property
    def document(self) -> dict[str, Any]:
        """Its JSON: the code and all fields, without those that have their default."""
        values = ((each, getattr(self, each.name)) for each in fields(self))
        return {"code": self.code} | {each.name: value for each, value in values if value != each.default}

    @classmethod
    def __get_pydantic_core_schema__(cls, _: object, handler: Any) -> Any:
        # Imported here: `matrix --help` need not wait for pydantic.
        from pydantic import Discriminator

        kinds: Any = Union[tuple(map(_document_type, cls.kinds.values()))]  # noqa: UP007
        # An error is then about the field of a finding's own class, not about the codes of all others.
        return handler.generate_schema(Annotated[kinds, Discriminator("code")])

    @property
    def sentence(self) -> str:
        """What it says, what that does to the result, and what to change."""
        return self.words.format_map(vars(self))


def _document_type(kind: type[Any]) -> type:
    """Return a TypedDict with the code and the fields of a finding; those with a default may be absent."""
    types = get_type_hints(kind, include_extras=True)
    keys: dict[str, Any] = {
        each.name: types[each.name] if each.default is MISSING else NotRequired[types[each.name]]
        for each in fields(kind)
    }
    document: Any = TypedDict(kind.__name__, {"code": Literal[kind.code], **keys})  # type: ignore[misc]
    # A schema has the descriptions of the class.
    document.__doc__, document.__module__ = kind.__doc__, kind.__module__
    return cast("type", document)
