"""Reads a matrix from its JSON text and checks all of it: every problem is reported at once, none as a traceback."""

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NoReturn

from pydantic import ValidationError

from matrix.check.cells import Combination, ParsedMatrix
from matrix.check.rules import matrix_problems, part_problems, read_part
from matrix.check.shape import structural_problems, with_meant_types
from matrix.fields import limits
from matrix.input.matrix import MAX_ENTRIES, Matrix
from matrix.terms.keys import RUN_PATTERN
from matrix.terms.problems import HERE, InvalidMatrix, Path, Problem, display, path_text, shorten

_LISTS = ("storage", "workload", "fleet", "include", "exclude")
MAX_DEPTH = 20
# Beyond any byte, dollar or file that can be meant, and small enough for sums and products of floats.
MAX_NUMBER = 10**18
# Characters of a line that are shown before and behind a mistake.
MAX_BEFORE, MAX_BEHIND = 40, 20
# Files that people give in place of a matrix, by their beginning: what they are, and what to do.
OTHER_TEXTS = (
    (r"\s*\Z", "is empty", "let `matrix new` write a matrix"),
    (r"(\s*#.*\n)*\s*(---|- |[\w$\"'-]+:(\s|$))", "looks like YAML; a matrix is JSON", "convert it: `yq -o json FILE`"),
    (r"\s*[^\s{\[]", "is not JSON", "give a matrix: `matrix new` writes one, and events/ has examples"),
)
# Where JSON breaks off, by what stands there.
NEARLY_JSON = (
    (r"//|/\*|#", "JSON has no comments", "remove the comment"),
    (r"'", "JSON has texts in double quotes only", "write \" in place of '"),
    (r"(True|False|None)\b", "this is a value of Python", "write true, false or null"),
    (r"[A-Za-z_$][\w$]*\s*:", "a key without quotes", "write it in double quotes"),
)


@dataclass(frozen=True)
class CheckedMatrix:
    """A valid matrix, its cells as written, and warnings."""

    matrix: Matrix
    cells: Sequence[Combination]
    warnings: Sequence[Problem]


def read_matrix(text: str | bytes) -> CheckedMatrix:
    """Return the matrix written in `text`; raise InvalidMatrix with every problem it has."""
    return check_matrix(parse_json(text))


def check_matrix(document: object) -> CheckedMatrix:
    """Return the matrix of a parsed JSON document; raise InvalidMatrix with all of its problems."""
    if not isinstance(document, dict):
        raise _refusal(
            "not-an-object", document, "must be a JSON object", 'write {"name": …, "storage": […], "workload": […], …}'
        )
    if _depth(document) > MAX_DEPTH:
        raise _refusal("too-deep", document, f"is nested more than {MAX_DEPTH} deep", "a matrix needs 5 levels")
    oversized = [_too_large(path, value) for path, value in _numbers(document) if abs(value) > MAX_NUMBER]
    if oversized:
        raise InvalidMatrix(oversized)
    problems: list[Problem] = []
    wrong: set[str | int] = set()
    try:
        parsed = ParsedMatrix(Matrix.model_validate(document))
    except ValidationError as error:
        problems = structural_problems(error, document)
        wrong = {detail["loc"][0] if detail["loc"] else "" for detail in error.errors(include_url=False)}
        parsed = _readable(document, wrong)
        if (corrected := with_meant_types(document)) != document:
            problems += _problems_of(corrected)
    for problem in (*part_problems(document), *matrix_problems(parsed)):
        # A setting with a wrong type has been left out, which explains what the rules find about it.
        setting = re.split(r"[.\[]", problem.path, maxsplit=1)[0]
        if setting in _LISTS or setting not in wrong:
            problems.append(problem)
    fatal = [problem for problem in problems if not problem.is_warning]
    if fatal:
        raise InvalidMatrix(_in_order(fatal, document))
    return CheckedMatrix(parsed.matrix, parsed.cells, problems)


def _problems_of(document: dict[str, Any]) -> Sequence[Problem]:
    """Return what else is wrong: a misspelt type hides the other mistakes of its storage or workload."""
    try:
        check_matrix(document)
    except InvalidMatrix as invalid:
        return invalid.problems
    return ()


def _readable(document: dict[str, Any], wrong: set[str | int]) -> ParsedMatrix:
    """Return the parts of a matrix that can be read, so that one wrong value hides none of the other problems."""
    kept: dict[str, list[int]] = {}
    read: dict[str, Any] = {"name": ""}
    for name in _LISTS:
        entries = document.get(name)
        parts = [read_part(name, entry) for entry in (entries[:MAX_ENTRIES] if isinstance(entries, list) else [])]
        kept[name] = [i for i, part in enumerate(parts) if part is not None]
        read[name] = [part for part in parts if part is not None]
    if "repetitions" in wrong:  # the default would multiply the steps of a matrix that may want fewer
        read["repetitions"] = 1
    matrix = Matrix.model_construct(**read)
    names = {key: name for name, field in Matrix.model_fields.items() for key in (name, field.alias)}
    for key in document.keys() & names.keys() - wrong - set(_LISTS):
        with suppress(ValidationError):
            Matrix.__pydantic_validator__.validate_assignment(matrix, names[key], document[key])
    return ParsedMatrix(matrix, kept)


def check_run_name(name: str) -> None:
    """Raise InvalidMatrix unless an execution's name can be the name of a run."""
    if not re.fullmatch(RUN_PATTERN, name):
        rule = "is not a name of a run: 1 to 80 of A-Z, a-z, 0-9, _ and -, not beginning with -"
        raise InvalidMatrix(
            [Problem("name of the execution", shorten(name), rule, "start it with such a name", code="run-name")]
        )


def parse_json(text: str | bytes) -> Any:
    """Parse the JSON `text`. Raises InvalidMatrix if it is not JSON or has a key twice."""
    most = int(limits.SFN_INPUT_BYTES.value)
    if len(text) > most:
        rule = f"has {len(text):,} bytes; Step Functions takes an input of at most {most:,}"
        raise _refusal("too-long", None, rule, "write a sweep or a list instead of many entries")
    repeated: list[str] = []

    def object_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        read = dict(pairs)
        if len(read) < len(pairs):
            keys = [key for key, _ in pairs]
            repeated.extend(sorted({key for key in keys if keys.count(key) > 1}))
        return read

    try:
        decoded = text.decode("utf-8-sig") if isinstance(text, bytes) else text.removeprefix("\ufeff")
        document = json.loads(decoded, object_pairs_hook=object_of, parse_constant=_refuse_constant)
    except UnicodeDecodeError as error:
        raise _refusal("not-utf-8", None, f"is not UTF-8 (byte {error.start})", "save the file as UTF-8") from None
    except json.JSONDecodeError as error:
        raise _no_json(error) from None
    except RecursionError:
        raise _refusal("too-deep", None, "is nested too deeply", "a matrix needs 5 levels") from None
    except ValueError as error:  # an integer of more digits than Python reads
        raise _refusal(
            "number-too-large", None, f"holds a number that cannot be read: {error}", "write a smaller number"
        ) from None
    if repeated:
        names = ", ".join(display(key) for key in repeated[:5])
        raise _refusal("key-twice", None, f"has keys twice in one object: {names}", "keep one of each")
    return document


def _no_json(error: json.JSONDecodeError) -> InvalidMatrix:
    """Name what the text is instead of JSON, or show the place of the first mistake with its fix."""
    text, place = error.doc, error.pos
    for pattern, rule, fix in OTHER_TEXTS:
        if re.match(pattern, text):
            return InvalidMatrix([Problem("", None, rule, fix, code="not-json")])
    rule, fix = error.msg[0].lower() + error.msg[1:], "fix it there"
    # Python 3.13 reports the position of the comma, earlier versions the position behind it.
    last = len(text[:place].rstrip().removesuffix(","))
    if comma := re.match(r",\s*([}\]])", text[last:]):
        place, rule, fix = last, f"a comma stands before {comma[1]}", "remove the comma"
    else:
        rule, fix = next(
            ((words, fix) for begin, words, fix in NEARLY_JSON if re.match(begin, text[place:])), (rule, fix)
        )
        fix = "add a comma before it" if "',' delimiter" in error.msg and fix == "fix it there" else fix
    line_begin = text.rfind("\n", 0, place) + 1
    line_end = text.find("\n", place)
    before, after = text[line_begin:place], text[place : None if line_end < 0 else line_end]
    left = f"…{before[-MAX_BEFORE:]}" if len(before) > MAX_BEFORE else before
    right = f"{after[:MAX_BEHIND]}…" if len(after) > MAX_BEHIND else after
    excerpt = f"{left}{HERE}{right}".replace("\t", " ")
    where = f"at line {text.count(chr(10), 0, place) + 1}, column {place - line_begin + 1}"
    return InvalidMatrix([Problem("", shorten(excerpt), f"is not JSON {where}: {rule}", fix, code="not-json")])


def _refuse_constant(name: str) -> NoReturn:
    raise _refusal("not-json", name, "is not JSON number", "write a finite number")


def _refusal(code: str, value: object, rule: str, fix: str) -> InvalidMatrix:
    return InvalidMatrix([Problem("", display(value) if value is not None else None, rule, fix, code=code)])


def _numbers(value: object, path: Path = ()) -> Iterator[tuple[Path, int | float]]:
    """Yield every number in a document with its path; the document is not deep."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _numbers(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _numbers(inner, (*path, index))
    elif isinstance(value, (int, float)):
        yield path, value


def _too_large(path: Path, value: float) -> Problem:
    return Problem(
        path_text(path), shorten(value), "is far too large", "write a smaller number", code="number-too-large"
    )


def _depth(document: object) -> int:
    level, depth = [document], 0
    while level and depth <= MAX_DEPTH:
        depth += 1
        level = [
            inner
            for outer in level
            if isinstance(outer, (dict, list))
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, (dict, list))
        ]
    return depth


def _in_order(problems: list[Problem], document: dict[str, Any]) -> list[Problem]:
    """Return the problems without repetition, in the order in which the input has their parts."""
    order = {key: i for i, key in enumerate(document)}

    def place(problem: Problem) -> tuple[int, int]:
        part, _, rest = problem.path.partition("[")
        index = rest.partition("]")[0]
        return (order.get(part.partition(".")[0], len(order)), int(index) if index.isdecimal() else -1)

    # Two checks can report the same rule for the same value.
    different = {(problem.path, problem.rule): problem for problem in reversed(problems)}
    return sorted(different.values(), key=place)
