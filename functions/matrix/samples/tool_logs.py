"""JSON that another tool wrote, wherever it is in a file."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any


class NotALog(ValueError):
    """The file cannot be read as a log; the message has the reason, `fix` what to do, if that is of this file alone."""

    def __init__(self, reason: str, fix: str = "") -> None:
        super().__init__(reason)
        self.fix = fix


# How what others wrote begins, on a line of its own; fio itself writes texts and rows that lack most figures.
OUTPUTS = {
    r"IOR-\d": "IOR",
    r"mdtest-\d.* was launched with": "mdtest",
    r"IO500 version |\[RESULT\] ": "IO500",
    r'ISO date,label,|OPERATION +RESULT TYPE|\d{4}-.*,"[^"]*elbencho" ': "elbencho",
    r'\s*"(?:by_op_type|warp_version)":|Report: \w+\b.*Concurrency': "warp",
    r"sysbench \d": "sysbench",
    r"pgbench \(|transaction type: ": "pgbench",
    r'\s*"Command line": ".*\bior\b': "IOR",
}
OF_FIO = {r"^(?:\S.*: \(g=\d+\): rw=|fio-\d\S*$)": "text", r"^\d;fio-\d": "terse output"}
# As the C library writes what is no number; JSON of Python has NaN only.
NO_NUMBER = re.compile(r"(?<=:)(\s*)-?(?:nan|inf)(?=\s*[,}\n])")


def objects_in(text: str, tool: str, keys: Sequence[str], begins: str) -> list[dict[str, Any]]:
    """Return the JSON objects with one of the keys, wherever they are: between lines of progress, in an array, below
    another object or as text within it. `begins` is the first key of the tool's documents.

    Raises NotALog if there are none, or if one is broken.
    """
    plain = NO_NUMBER.sub(r"\1NaN", _without_prefixes(text, begins))
    found = list(_objects_in(plain, {*keys, begins}))
    objects = [each for each in found if not each.keys().isdisjoint(keys)]
    if not objects:
        seen = f"it begins with {text.lstrip()[:40]!r}" if text.strip() else "it is empty"
        missing = f"lacks {' and '.join(keys)}" if found else f"holds no JSON of {tool}: {seen}"
        raise what_it_is(text) or NotALog(missing)
    return objects


def what_it_is(text: str) -> NotALog | None:
    """Return what a text is that some tool wrote, and that is nothing to import as it stands; None if unknown."""
    for begin, kind in OF_FIO.items():
        if re.search(begin, text, re.MULTILINE):
            return NotALog(f"is fio's {kind}, which lacks options and bins", "run fio with --output-format=json+")
    tool = next((tool for begin, tool in OUTPUTS.items() if re.search(rf"^(?:{begin})", text, re.MULTILINE)), None)
    fix = "make a table of it by the line of docs/other-tools.md, and import that"
    return NotALog(f"is an output of {tool}", fix) if tool else None


def _without_prefixes(text: str, begins: str) -> str:
    """Return a text without what others write before each line: the time (kubectl, CI), a name and a bar (compose).

    It is what stands before the first key, with any numbers, so no line of JSON begins like it.
    """
    before = re.findall(rf'^\ufeff?([^{{}}"\n]*[^{{}}"\s])[ \t]*"{begins}"', text, re.MULTILINE)
    if not before:
        return text
    alike = {re.sub(r"\d+", r"\\d+", re.sub(r"(?:\\ )+", r"[ ]+", re.escape(each))) for each in before}
    return re.sub(rf"^\ufeff?(?:{'|'.join(alike)})", "", text, flags=re.MULTILINE)


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
                line = text.split("\n")[error.lineno - 1].strip()
                raise NotALog(f"is not JSON: {error}: {line[:80]!r}") from error
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
