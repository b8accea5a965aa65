"""Documents of a run, checked when the command line reads them: from the run's folder or the bucket.

A damaged document must not hide the others: a command shows all others, and lists at its end those that it could not
read.
"""

import re
from collections.abc import Callable
from contextvars import ContextVar
from pathlib import PurePosixPath
from typing import Any, NotRequired, ParamSpec, TypeAlias, TypeVar

from typing_extensions import TypedDict

from cli.messages.errors import UnreadableRun
from matrix.terms.documents.parts import CostRange, Failure
from matrix.terms.printable import CONTROL, printable

T = TypeVar("T")
Asked = ParamSpec("Asked")
# Any of the documents of a run, by its name; the caller knows its type.
JsonObject: TypeAlias = dict[str, Any]
# A row of the table as DynamoDB returns it, before its fields are checked.
StoredRow: TypeAlias = dict[str, Any]

# Characters that JSON writes by escapes. Most are letters such as the µ of µs, which Python's json escapes.
ESCAPED = re.compile(rb"\\(?:[bfr]|u[0-9a-fA-F]{4})")

_damage: ContextVar[list[UnreadableRun]] = ContextVar("damage")


def start_of_command() -> list[UnreadableRun]:
    """Forget the damage that earlier commands noted; return the list for this command's damage."""
    damage: list[UnreadableRun] = []
    _damage.set(damage)
    return damage


def note(error: UnreadableRun) -> None:
    """Note a document that could not be read, once, for the command's end."""
    damage = _damage.get([])
    if error not in damage:
        damage.append(error)


def is_anything_damaged() -> bool:
    """Whether this command found a damaged document."""
    return bool(_damage.get([]))


def readable(read: Callable[Asked, T | None], *asked: Asked.args, **more: Asked.kwargs) -> T | None:
    """Return the document that `read` finds; None if it does not exist or is damaged.

    Damage is noted.
    """
    try:
        return read(*asked, **more)
    except UnreadableRun as error:
        note(error)
        return None


def parsed(text: bytes, name: str, where: str, advice: str) -> JsonObject:
    """Return a document after a check that it has the type of its name, such as `cells/…/result.json`.

    Raises UnreadableRun with the place (`where`) and the violated rule.
    """
    # pydantic takes a quarter of a second to import, which commands without documents must not wait for.
    from matrix.terms.documents.reading import DOCUMENTS, parse, read
    from matrix.terms.errors import InvalidDocument

    kind = DOCUMENTS.get(PurePosixPath(name).stem)
    try:
        document = parse(text, where)
        if _may_have_controls(text):
            document = _printable(document)
        if not isinstance(document, dict):
            raise UnreadableRun(f"{where} cannot be read: it holds no JSON object", advice)
        return document if kind is None else read(kind, document, where)
    except InvalidDocument as error:
        raise UnreadableRun(f"{error}", advice) from error


def _may_have_controls(text: bytes) -> bool:
    """Whether a text of JSON may hold control characters: most hold none, and looking at each value takes long."""
    # Half a character is none, so pairs of them are looked at too.
    escapes = {_unescaped(escape) for escape in set(ESCAPED.findall(text))}
    beyond_ascii = "" if text.isascii() else text.decode(errors="replace").replace("\r", "")
    return b"\x7f" in text or any(printable(each) != each for each in escapes) or bool(CONTROL.search(beyond_ascii))


def _unescaped(escape: bytes) -> str:
    return chr(int(escape[2:], 16)) if escape[1:2] == b"u" else "\b"


class ProgressRow(TypedDict):
    """A row of the table with the progress of a run, a file system or a cell."""

    SK: str
    cell: NotRequired[str]
    file_system: NotRequired[str]
    state: NotRequired[str]
    since: NotRequired[float | None]
    started_at: NotRequired[float | None]
    finished_at: NotRequired[float | None]
    metered_usd: NotRequired[CostRange | None]
    expected_s: NotRequired[float | None]
    step: NotRequired[int | None]
    steps: NotRequired[int | None]
    point: NotRequired[str | None]
    instances: NotRequired[dict[str, int] | None]
    error: NotRequired[Failure | None]
    # Only in the row of the plan: the budget, the amounts spent or reserved, and the reserved amounts by purpose.
    budget_usd: NotRequired[float | None]
    committed_usd: NotRequired[float]
    reserved: NotRequired[dict[str, float]]


# A row of this kind names its file system or cell.
NAMED_BY = {"CELL": "cell", "FS": "file_system"}


def checked_row(row: StoredRow, where: str) -> ProgressRow:
    """Return a row after a check that it has a valid state. Raises UnreadableRun if it has none."""
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
