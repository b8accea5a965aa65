"""JSON that another tool wrote, wherever it is in a file."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any


class NotALog(ValueError):
    """The file cannot be read as a log; the message has the reason."""


# What others write before each line: a time (kubectl logs --timestamps, GitHub Actions), or a name and a bar (compose).
PREFIX = re.compile(
    r"^\ufeff?(?:[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:.,]+(?:Z|[+-][0-9:]+)? |[^|{}\"\n]{1,80}\| )", re.MULTILINE
)
# As the C library writes what is no number; JSON of Python has NaN only.
NO_NUMBER = re.compile(r"(?<=:)(\s*)-?(?:nan|inf)(?=\s*[,}\n])")


def objects_in(text: str, tool: str, keys: Sequence[str], begins: str) -> list[dict[str, Any]]:
    """Return the JSON objects with one of the keys, wherever they are: between lines of progress, in an array, below
    another object or as text within it. `begins` is the first key of the tool's documents.

    Raises NotALog if there are none, or if one is broken.
    """
    # No line of JSON begins like that, so the text is the same without.
    plain = NO_NUMBER.sub(r"\1NaN", PREFIX.sub("", text))
    found = list(_objects_in(plain, {*keys, begins}))
    objects = [each for each in found if not each.keys().isdisjoint(keys)]
    if not objects:
        seen = f"it begins with {text.lstrip()[:40]!r}" if text.strip() else "it is empty"
        raise NotALog(f"lacks {' and '.join(keys)}" if found else f"holds no JSON of {tool}: {seen}")
    return objects


def _object_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object. Raises NotALog if it has two numbers by one name: nobody knows which was measured."""
    read: dict[str, Any] = {}
    for key, value in pairs:
        if isinstance(read.get(key), (int, float)) and read[key] != value:
            raise NotALog(
                f"has two values of {json.dumps(key)} in one object: {read[key]} and {json.dumps(value)[:40]}"
            )
        read[key] = value
    return read


_DECODER = json.JSONDecoder(object_pairs_hook=_object_of)


def _objects_in(text: str, keys: set[str]) -> Iterator[dict[str, Any]]:
    place = text.find("{")
    while place >= 0:
        try:
            value, end = _DECODER.raw_decode(text, place)
        except RecursionError as error:
            raise NotALog("is not JSON: its objects are nested too deeply") from error
        except json.JSONDecodeError as error:
            # A brace in another text, unless the tool's own words are behind it.
            if any(f'"{key}"' in text[place : error.pos] for key in keys):
                raise NotALog(f"is not JSON: {error}") from error
            end = place + 1
        else:
            left: list[object] = [value]
            while left:
                value = left.pop()
                if isinstance(value, dict) and not keys.isdisjoint(value):
                    yield value
                elif isinstance(value, (dict, list)):
                    left += reversed(list(value.values()) if isinstance(value, dict) else value)
                elif isinstance(value, str) and any(f'"{key}"' in value for key in keys):
                    yield from _objects_in(value, keys)
        place = text.find("{", end)
