"""Shared by the models of the input: strictness, names, sizes and sweeps."""

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import Annotated, Any, TypeVar, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer, StringConstraints, WithJsonSchema
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

from matrix.terms.problems import Problem, Problems, Weight, path_text
from matrix.terms.sizes import format_size, parse_size

MAX_SWEEP_VALUES = 100
MAX_NAME_CHARACTERS = 40
NAME_PATTERN = r"^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$"


# Value of a problem that shows what the input has in its field.
AS_GIVEN = object()


def refusal(code: str, rule: str, fix: str) -> PydanticCustomError:
    """Return the error of a value, for a validator to raise."""
    return PydanticCustomError(code, "{rule}; {fix}", {"rule": rule, "fix": fix})


class InputModel(BaseModel):
    """A part of the input: unknown keys are refused, "3" is not 3, true is not 1, NaN is not a number."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        frozen=True,
        allow_inf_nan=False,
        alias_generator=to_camel,
        populate_by_name=True,
    )

    def to_document(self) -> dict[str, Any]:
        """Return the part as JSON with the input's names, every default filled in."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)

    @cached_property
    def document(self) -> dict[str, Any]:
        """The part as `to_document` has it, made once for all cells that share the part; callers must not change it."""
        return self.to_document()

    @cached_property
    def fingerprint(self) -> str:
        """A text that is equal for equal parts of the input, defaults written or not."""
        return self.model_dump_json(by_alias=True, exclude_none=True)

    @classmethod
    def rules(cls) -> "tuple[Rule, ...]":
        """Return the rules beyond the types of its fields, each for the valid part."""
        return ()

    def problem(
        self, name: str, rule: str, fix: str, *, weight: Weight | None = None, value: object = AS_GIVEN
    ) -> Problem:
        """Return a problem of the field that the input calls `name`, with its path within this part."""
        return Problem(path_text((name,)), value, rule, fix, weight)


Rule = Callable[[Any], Problems]


T = TypeVar("T")


def models_by_type(union: Any) -> dict[str, type[InputModel]]:
    """Return the models of a union with the discriminator `type`, by that literal."""
    models: tuple[type[InputModel], ...] = get_args(get_args(union)[0])
    return {get_args(model.model_fields["type"].annotation)[0]: model for model in models}


def repeated(values: Sequence[Any]) -> Any:
    """Return the first value that a list has twice, or None."""
    return next((value for i, value in enumerate(values) if value in values[:i]), None)


def _as_list(value: object) -> object:
    return value if isinstance(value, list) else [value]


def _as_written(values: list[Any]) -> Any:
    return values[0] if len(values) == 1 else values


class _SweepSchema:
    """JSON Schema of a sweep: one value, or a list of them."""

    def __get_pydantic_json_schema__(
        self, core_schema: Any, handler: Callable[[Any], dict[str, Any]]
    ) -> dict[str, Any]:
        schema = handler(core_schema)
        return {"anyOf": [schema["items"], schema]}


# One value or a list of them; held as a list. A sweep's values become points, an axis's values become cells.
Sweep = Annotated[
    list[T],
    Field(min_length=1, max_length=MAX_SWEEP_VALUES),
    BeforeValidator(_as_list),
    PlainSerializer(_as_written),
    _SweepSchema(),
]

Name = Annotated[str, StringConstraints(pattern=NAME_PATTERN, max_length=MAX_NAME_CHARACTERS)]

FileSystemId = Annotated[str, StringConstraints(pattern=r"^fs-[0-9a-f]{8,17}$")]
# Amazon S3 user guide, general purpose bucket naming rules; without dots, which TLS to a bucket's own host forbids.
BucketName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$")]
# Characters that the guide calls safe in keys, without those that have a meaning in a shell, policy or placeholder.
ObjectPrefix = Annotated[str, StringConstraints(max_length=500, pattern=r"^[A-Za-z0-9._=-]+(/[A-Za-z0-9._=-]+)*$")]


def _schema_of_size(least: int) -> WithJsonSchema:
    in_words = {"type": "string", "pattern": "^[0-9]{1,18} ?(B|[kKMGT]B|[KMGT]iB)?$"}
    return WithJsonSchema({"anyOf": [in_words, {"type": "integer", "minimum": least}]})


Size = Annotated[int, BeforeValidator(parse_size), PlainSerializer(format_size), _schema_of_size(1)]
# A size that may be 0, as that of an empty file.
SizeOrNone = Annotated[
    int, BeforeValidator(partial(parse_size, least=0)), PlainSerializer(format_size), _schema_of_size(0)
]
