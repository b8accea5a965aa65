"""A partly valid element of the input, so that rules of its valid fields are still checked."""

from collections.abc import Callable, Iterable
from typing import Any

from pydantic import BaseModel, ValidationError

from matrix.terms.problems import Path, Problem, Problems, path_text, shorten

MISSING = object()


class Unread(Exception):
    """A rule needs a field that could not be read, so the rule is skipped."""


class Part:
    """One element of an axis as written: attributes as in `model`. An invalid one raises Unread."""

    def __init__(self, model: type[BaseModel], element: dict[str, Any], path: Path) -> None:
        """Read each field of `element` separately."""
        self.model = model
        self.element = element
        self.path = path
        self._fields: dict[str, Any] = {}
        blank = model.model_construct()
        for name, field in model.model_fields.items():
            value = element.get(field.alias or name, MISSING)
            if value is MISSING:
                if not field.is_required():
                    self._fields[name] = field.get_default(call_default_factory=True, validated_data=self._fields)
                continue
            try:
                read = model.__pydantic_validator__.validate_assignment(blank.model_copy(), name, value)
            except ValidationError:
                continue
            self._fields[name] = getattr(read, name)

    def __getattr__(self, name: str) -> Any:
        """Return a field that could be read."""
        try:
            return self.__dict__["_fields"][name]
        except KeyError:
            raise Unread(name) from None

    def readable(self) -> dict[str, Any]:
        """Return the fields of the model that were given and could be read, as given."""
        names = {field.alias or name: name for name, field in self.model.model_fields.items()}
        return {key: value for key, value in self.element.items() if names.get(key) in self._fields}

    def extra(self) -> dict[str, Any]:
        """Return the keys as given that are no fields of the model."""
        known = {field.alias or name for name, field in self.model.model_fields.items()}
        return {key: value for key, value in self.element.items() if key not in known}

    def problem(self, name: str, rule: str, fix: str, *, is_warning: bool = False, value: object = MISSING) -> Problem:
        """Return a problem of the field that the input calls `name`; without a value, the one given is shown."""
        shown = self.element.get(name) if value is MISSING else value
        return Problem(path_text((*self.path, name)), shorten(shown), rule, fix, is_warning)


Rule = Callable[[Any], Problems]


def check(part: object, rules: Iterable[Rule]) -> Problems:
    """Yield the problems of all rules. A rule whose fields could not be read is skipped."""
    for rule in rules:
        try:
            yield from rule(part)
        except Unread:
            continue
