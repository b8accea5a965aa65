"""Documents of a run, checked where the command line reads them: from the run's folder or the bucket.

A damaged document must not hide the others: a command shows what it can, and its end names what it could not read.
"""

import re
from collections.abc import Callable
from contextvars import ContextVar
from pathlib import PurePosixPath
from typing import Any, NotRequired, ParamSpec, TypeAlias, TypeVar

from typing_extensions import TypedDict

from cli.messages.errors import UnreadableRun
from matrix.terms.documents.parts import Failure
from matrix.terms.printable import printable

T = TypeVar("T")
Asked = ParamSpec("Asked")
# Any of the documents of a run, by its name; who asks for one knows its type.
JsonObject: TypeAlias = dict[str, Any]
# A row of the table as DynamoDB has it, before anybody has seen that it says where something stands.
StoredRow: TypeAlias = dict[str, Any]

# As JSON has them: escaped, or as they are from 0x7f on. Few documents have any, and looking at each text takes long.
# Each begins with one byte, which is searched for six times as fast as one of several.
MAY_BE_CONTROL = [re.compile(way) for way in (rb"\\(?:u00(?:[01]|7[fF]|[89])|[bfr])", rb"\x7f", rb"\xc2[\x80-\x9f]")]

_damage: ContextVar[list[UnreadableRun]] = ContextVar("damage")


def start_of_command() -> list[UnreadableRun]:
    """Forget what earlier commands could not read; return the list that this command's damage comes into."""
    damage: list[UnreadableRun] = []
    _damage.set(damage)
    return damage


def note(error: UnreadableRun) -> None:
    """Let the end of the command name a document that could not be read, once."""
    damage = _damage.get([])
    if error not in damage:
        damage.append(error)


def readable(read: Callable[Asked, T | None], *asked: Asked.args, **more: Asked.kwargs) -> T | None:
    """Return the document that `read` finds; None where there is none, or a damaged one.

    Damage is noted.
    """
    try:
        return read(*asked, **more)
    except UnreadableRun as error:
        note(error)
        return None


def parsed(text: bytes, name: str, where: str, advice: str) -> JsonObject:
    """Return a document, once it is seen to be what its name says, such as `cells/…/result.json`.

    Raises UnreadableRun with `where` it is, and the rule, where it is not.
    """
    # pydantic takes a quarter of a second to import, which commands that read no document need not wait for.
    from matrix.terms.documents.reading import DOCUMENTS, parse, read
    from matrix.terms.errors import InvalidDocument

    kind = DOCUMENTS.get(PurePosixPath(name).stem)
    try:
        document = parse(text, where)
        if any(control.search(text) for control in MAY_BE_CONTROL):
            document = _printable(document)
        if not isinstance(document, dict):
            raise UnreadableRun(f"{where} cannot be read: it holds no JSON object", advice)
        return document if kind is None else read(kind, document, where)
    except InvalidDocument as error:
        raise UnreadableRun(f"{error}", advice) from error


class ProgressRow(TypedDict):
    """A row of the table that says where a run, a file system or a cell of it stands."""

    SK: str
    cell: NotRequired[str]
    file_system: NotRequired[str]
    state: NotRequired[str]
    since: NotRequired[float | None]
    started_at: NotRequired[float | None]
    finished_at: NotRequired[float | None]
    expected_s: NotRequired[float | None]
    step: NotRequired[int | None]
    steps: NotRequired[int | None]
    point: NotRequired[str | None]
    instances: NotRequired[dict[str, int] | None]
    error: NotRequired[Failure | str | None]
    # In the row of the plan only: the budget, what is spent or set aside of it, and what is set aside, by its purpose.
    budget_usd: NotRequired[float | None]
    committed_usd: NotRequired[float]
    reserved: NotRequired[dict[str, float]]


# A row of this kind names what it is about.
NAMED_BY = {"CELL": "cell", "FS": "file_system"}


def checked_row(row: StoredRow, where: str) -> ProgressRow:
    """Return a row once it is seen to say where something stands. Raises UnreadableRun where it does not."""
    from matrix.terms.documents.reading import read
    from matrix.terms.errors import InvalidDocument

    try:
        read(ProgressRow, row, where)
    except InvalidDocument as error:
        raise UnreadableRun(f"{error}") from error
    name = NAMED_BY.get(row["SK"].partition("#")[0])
    if name is not None and name not in row:
        raise UnreadableRun(f"{where} cannot be read: a row names no {name}")
    seen: ProgressRow = _printable(row)
    return seen


def _printable(value: Any) -> Any:
    """Return a value with a question mark for each control character of its texts."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, dict):
        return {_printable(key): _printable(inner) for key, inner in value.items()}
    return [_printable(inner) for inner in value] if isinstance(value, list) else value
