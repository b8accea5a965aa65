"""Sizes of files and objects in a matrix: equal, or a distribution, which becomes a text (contract/sizes.py)."""

import json
from functools import lru_cache
from typing import Annotated, Any

from pydantic import BeforeValidator, WithJsonSchema

from contract.sizes import TEXT, Sizes
from matrix.fields.types import InputModel, refusal
from matrix.terms.charges import metered_request_bytes
from matrix.terms.problems import Problems
from matrix.terms.sizes import NotASize, parse_size

EQUAL = "equal"
# Beyond it the mean of a thousand files is that of a few of them.
SIGMAS = (0.1, 2.5)
MAX_SEED, MAX_WEIGHT, MAX_LISTED = 999_999_999, 1_000_000, 20
# So many files have the mean of their distribution within a thousandth.
MANY = 20_000


def _to_text(value: object) -> str:
    """Return the text of a distribution; one that is a text already, such as in results, is read as if it was given."""
    given: Any = _read(value) if isinstance(value, str) and TEXT.fullmatch(value) else value
    if given == EQUAL:
        return EQUAL
    seed = given.get("seed", 0) if isinstance(given, dict) else None
    if type(seed) is not int or not 0 <= seed <= MAX_SEED or len(given) != 1 + ("seed" in given):
        rule = 'must be "equal", "exponential", or an object with lognormal or weights and, if you like, a seed'
        raise refusal("sizes", rule, 'for example {"lognormal": 1.5}, or {"weights": {"4KiB": 70, "1MiB": 30}}')
    [kind] = given.keys() - {"seed"}
    text = {"exponential": _exponential, "lognormal": _lognormal, "weights": _weights}.get(kind)
    if text is None:
        raise refusal("sizes", f"{_shown(kind)} is no distribution", "write exponential, lognormal or weights")
    return text(given[kind]) + (f" seed {seed}" if seed else "")


def _shown(key: str) -> str:
    """Return a key as JSON has it, which can be printed."""
    return json.dumps(key[:40])


def _read(text: str) -> dict[str, Any]:
    shape, _, seed = text.partition(" seed ")
    kind, _, value = shape.partition(" ")
    seeded: dict[str, Any] = {"seed": int(seed)} if seed else {}
    if ":" in shape:
        pairs = [pair.split(":") for pair in shape.split()]
        return seeded | {"weights": {size: int(weight) for size, weight in pairs}}
    return seeded | {kind: float(value) if value else {}}


def _exponential(nothing: object) -> str:
    if nothing != {}:
        raise refusal("sizes", "exponential takes no number: the size is its mean", 'write {"exponential": {}}')
    return "exponential"


def _lognormal(sigma: object) -> str:
    if type(sigma) not in (int, float) or not SIGMAS[0] <= float(str(sigma)) <= SIGMAS[1]:
        raise refusal("sizes", f"sigma must be a number from {SIGMAS[0]} to {SIGMAS[1]}", "write 1.5")
    return f"lognormal {sigma:.4g}"


def _weights(weights: object) -> str:
    if not isinstance(weights, dict) or not 2 <= len(weights) <= MAX_LISTED:  # noqa: PLR2004 one size is "equal"
        raise refusal("sizes", f"weights must be 2 to {MAX_LISTED} sizes", 'for example {"4KiB": 70, "1MiB": 30}')
    bytes_of = {}
    for size, weight in weights.items():
        if type(weight) is not int or not 1 <= weight <= MAX_WEIGHT:
            rule = f"the weight of {_shown(size)} must be a whole number from 1 to {MAX_WEIGHT:,}"
            raise refusal("sizes", rule, "write such as 70, or leave the size out")
        try:
            bytes_of[parse_size(size)] = weight
        except NotASize as err:
            raise refusal("sizes", f"{_shown(size)} {err}", 'write such as "4KiB"') from err
    if len(bytes_of) < len(weights):
        raise refusal("sizes", "has one size twice", "add their weights")
    return " ".join(f"{size}:{weight}" for size, weight in bytes_of.items())


SizesField = Annotated[
    str,
    BeforeValidator(_to_text),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "enum": ["equal", "exponential"]},
                {
                    "type": "object",
                    "properties": {
                        "exponential": {"type": "object", "maxProperties": 0},
                        "lognormal": {"type": "number", "minimum": SIGMAS[0], "maximum": SIGMAS[1]},
                        "weights": {"type": "object", "additionalProperties": {"type": "integer", "minimum": 1}},
                        "seed": {"type": "integer", "minimum": 0, "maximum": MAX_SEED},
                    },
                    "additionalProperties": False,
                },
            ]
        }
    ),
]


@lru_cache(maxsize=1_000)
def sizes_of(mean_bytes: int, text: str = EQUAL) -> Sizes:
    """Return the sizes of a point, by its mean and its distribution."""
    # A mean of 0 is refused.
    return Sizes(mean_bytes) if text == EQUAL else Sizes(max(1, mean_bytes), text)


@lru_cache(maxsize=1_000)
def total_bytes(files: int, mean_bytes: int, text: str = EQUAL, block_bytes: int = 1) -> int:
    """Return the bytes of so many files, as an agent makes them, in whole blocks."""
    sizes = sizes_of(mean_bytes, text)
    seen = 1 if text == EQUAL else max(1, min(files, MANY))
    in_blocks = sum(-(-sizes.of(number) // block_bytes) * block_bytes for number in range(seen))
    return round(files * in_blocks / seen)


@lru_cache(maxsize=1_000)
def metered_bytes(files: int, mean_bytes: int, text: str = EQUAL) -> float:
    """Return the bytes as which EFS meters one request for each of so many files. Empty files need none."""
    if not mean_bytes:
        return 0.0
    sizes = sizes_of(mean_bytes, text)
    seen = 1 if text == EQUAL else max(1, min(files, MANY))
    return files * sum(metered_request_bytes(sizes.of(number)) for number in range(seen)) / seen


def is_listed(text: str) -> bool:
    """Whether a distribution has sizes of its own, and so its mean."""
    return ":" in text


def a_list_has_all_sizes(part: InputModel, sizes: str, field: str, size_field: str) -> Problems:
    """Yield a problem for a size beside weights of sizes."""
    if is_listed(sizes) and field in part.model_fields_set:
        yield part.problem(size_field, "stands beside weights, which have all sizes", "leave it out")
