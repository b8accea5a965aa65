"""A table of figures, as a user or a published source has it: CSV with a row for each measurement.

Columns say what was measured (`storage`, `storage.volumeType`, `workload`, `param.threads`), and what it gave:
`write_mib_per_s`, `latency [ms]`, or `duration_s.p90` if the source has percentiles only.
"""

import csv
import difflib
import io
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from matrix.fields.fleet import INSTANCE_TYPE
from matrix.samples.tool_logs import what_it_is
from matrix.statistics.percentiles import LEVELS
from matrix.terms.documents.parts import Part
from matrix.terms.metrics import METRICS, Metric
from matrix.terms.printable import printable
from matrix.terms.problems import Problem

MAX_ROWS = 10_000
MAX_COLUMNS = 200
MAX_INSTANCES = 100_000
MAX_DIGITS = 6
LARGEST, SMALLEST = 1e15, 1e-9
COLUMNS = frozenset(
    {"workload", "storage", "instanceType", "instances", "instance", "label", "n", "n_at_least", "date", "suspect"}
)
GROUPS = ("storage", "workload", "param", "condition")
# What only the published tables have: which row of which run it is, and what a run of ours must have to be comparable.
SOURCE_COLUMNS = frozenset({"row", "run", "unlike", "reason", "of_instance", "here.instances"})
SOURCE_GROUPS = ("caveat", "differs", "here")
# A figure that a published table has a cell for, and left empty.
EMPTY = "empty"
PERCENTILES = tuple(f"p{level}" for level in LEVELS)
_FIGURE = re.compile(r"(?P<name>[^\[\].]+?)(?:\s*\[(?P<unit>[^\],]+)(?:,\s*(?P<better>\w+))?\])?(?:\.(?P<level>p\d+))?")
_NAME = re.compile(r"[a-z][a-z0-9_]{0,60}")
_UNIT = re.compile(r"[A-Za-z0-9%µ][A-Za-z0-9%µ/._^-]{0,19}")
TIMES = frozenset({"s", "ms", "µs", "us", "ns", "min", "h"})
DELIMITERS = ",;\t"
FORMATS = ("%Y-%m-%d", "%Y-%m")


@dataclass(frozen=True)
class FigureColumn:
    """A column of figures; `level` is `p90` of percentiles, else each of its figures is one value."""

    metric: str
    known: Metric
    is_own: bool
    level: str | None


@dataclass(frozen=True)
class TableRow:
    """A row: the texts of its filled columns, and its figures by column; None for a published row without one."""

    place: str
    texts: Mapping[str, str]
    figures: Mapping[str, float | None]

    def part(self, group: str) -> Part:
        """Return the columns below a name as an object: `storage.sizeGiB` of 100 is {"sizeGiB": 100}."""
        found: Part = {}
        for column, text in self.texts.items():
            first, *names = column.split(".")
            if first == group and names:
                inner = found
                for name in names[:-1]:
                    inner = inner.setdefault(name, {})
                inner[names[-1]] = _value(text)
        return found

    def number(self, column: str) -> int | None:
        return int(self.texts[column]) if column in self.texts else None

    def is_told(self, columns: Mapping[str, FigureColumn]) -> bool:
        """Whether it has a figure to judge by: a value or a median."""
        known = {columns[name].level for name, value in self.figures.items() if value is not None}
        return not known.isdisjoint({None, "p50"})

    @property
    def remarks(self) -> list[str]:
        """Its conditions, but those that its source does not tell."""
        return [f"{name}: {value}" for name, value in self.part("condition").items() if value is not None]

    @property
    def storage(self) -> Part:
        """The storage as a matrix would write it, without defaults; empty if it is not told."""
        kind = self.texts.get("storage")
        return ({"type": kind} if kind else {}) | self.part("storage")

    @property
    def at(self) -> float | None:
        """Start of its day or month (epoch seconds)."""
        day = _day(self.texts["date"]) if "date" in self.texts else None
        return day.timestamp() if day else None


@dataclass(frozen=True)
class FigureTable:
    """A table, and every mistake in it."""

    columns: Mapping[str, FigureColumn]
    rows: tuple[TableRow, ...]
    problems: tuple[Problem, ...]


def read_table(text: str, name: str) -> FigureTable:
    """Return the table of a CSV, whose cells may also be separated by semicolons or tabs.

    Its first line may come again, as where tables were put together by `cat`.
    """
    head = text.lstrip("\ufeff").partition("\n")[0]
    delimiter = max(DELIMITERS, key=head.count)
    reader = csv.reader(io.StringIO(text.lstrip("\ufeff")), delimiter=delimiter)
    problems: list[Problem] = []
    rows: list[TableRow] = []
    columns: dict[str, FigureColumn] = {}
    try:
        names = [printable(each.strip()) for each in next(reader, [])]
        if "workload" not in names and (mistaken := _no_table(text, names)):
            return FigureTable({}, (), (Problem(f"{name}, line 1", printable(head[:40]), *mistaken),))
        problems += _problems_of_head(name, names)
        columns = {each: column for each in names if (column := figure_column(each))}
        for cells in ([cell.strip() for cell in line] for line in reader):
            is_head = "workload" in cells and any(map(figure_column, cells))
            if is_head and [*map(printable, cells)] != names:
                rule = "are other names of columns than those of line 1"
                problems.append(
                    Problem(f"{name}, line {reader.line_num}", None, rule, "import the tables as two files")
                )
                break
            if not is_head and any(cells):
                row = _row(f"{name}, line {reader.line_num}", names, cells, columns)
                problems += _problems_of_row(row, cells, names, columns)
                rows.append(row)
    except csv.Error as error:
        problems.append(
            Problem(f"{name}, line {reader.line_num}", None, f"is not CSV: {error}", "save it as CSV again")
        )
    if not rows and not problems:
        problems.append(Problem(name, None, "has no rows", "write a row for each measurement below the names"))
    if len(rows) > MAX_ROWS:
        problems.append(Problem(name, len(rows), f"rows are more than {MAX_ROWS:,}", "split it into several imports"))
    return FigureTable(columns, tuple(rows), tuple(problems))


def _no_table(text: str, names: Sequence[str]) -> tuple[str, str] | None:
    """Return what a text is that has no names of columns, and what to do; None if it may have some."""
    if known := what_it_is(text):
        return str(known), known.fix
    if text.lstrip("\ufeff \n").startswith(("{", "[")):
        return (
            "is JSON",
            "give a file of fio a name that ends with .json; docs/other-tools.md has lines for other tools",
        )
    if any(re.fullmatch(r"-?\d+([.,]\d+)*(e[+-]?\d+)?", each) for each in names):
        return "has figures where the names of columns belong", "write the names above them, as in docs/import.md"
    return None


def figure_column(name: str) -> FigureColumn | None:
    """Return what a column of figures holds; None for other columns, and for a figure whose unit nobody knows."""
    if _is_about(name) or not (match := _FIGURE.fullmatch(name)):
        return None
    metric, unit, better, level = match["name"], match["unit"], match["better"], match["level"]
    if level is not None and level not in PERCENTILES:
        return None
    if unit is None:
        return FigureColumn(metric, METRICS[metric], False, level) if metric in METRICS else None
    better = better or _usual(unit)
    if (
        metric in METRICS
        or better not in {"higher", "lower"}
        or not (_NAME.fullmatch(metric) and _UNIT.fullmatch(unit))
    ):
        return None
    return FigureColumn(metric, Metric(unit, better == "higher", metric.replace("_", " ")), True, level)


def _usual(unit: str) -> str:
    """Return which way is better of figures in a unit; empty if that is not certain."""
    if unit in TIMES:
        return "lower"
    return "higher" if unit == "IOPS" or unit.endswith(("/s", "ps")) else ""


def _is_about(name: str) -> bool:
    """Whether a column tells what was measured, not what it gave."""
    group, dot, rest = name.partition(".")
    return name in COLUMNS | SOURCE_COLUMNS or bool(dot and rest and group in GROUPS + SOURCE_GROUPS)


def _problems_of_head(table: str, names: list[str]) -> Iterator[Problem]:
    place = f"{table}, line 1"
    if not any(names):
        yield Problem(place, None, "has no names of columns", "write them in the first line, as in docs/import.md")
        return
    if len(names) > MAX_COLUMNS:
        yield Problem(
            place, len(names), f"columns are more than {MAX_COLUMNS}", "leave out those without a meaning here"
        )
        return
    if "workload" not in names:
        fix = "add a column workload with what measured: ior, mdtest, vdbench"
        yield Problem(place, ", ".join(names), "lacks the column workload", fix)
    for name in dict.fromkeys(names):
        if name and names.count(name) > 1:
            yield Problem(place, name, "stands there twice", "name each column differently")
        elif any(other.startswith(f"{name}.") for other in names) and "." in name:
            yield Problem(place, name, "is a value here and the begin of another column", "rename one of them")
        elif name and not _is_about(name) and figure_column(name) is None:
            yield _unknown(place, name)
    if not any(map(figure_column, names)):
        fix = "name one as a metric of ours, such as read_mib_per_s, or with its unit: latency [ms]"
        yield Problem(place, None, "has no column of figures", fix)


def _unknown(place: str, name: str) -> Problem:
    match = _FIGURE.fullmatch(name)
    if match and match["level"] and match["level"] not in PERCENTILES:
        own = f"{match['name']}_{match['level']} [UNIT]"
        return Problem(
            place, name, f"percentiles are {', '.join(PERCENTILES)}", f"write them, or as a metric of its own: {own}"
        )
    if match and match["unit"]:
        if match["name"] in METRICS:
            known = METRICS[match["name"]]
            return Problem(
                place, name, f"is a metric of ours, in {known.unit}", f"write {match['name']}, in {known.unit}"
            )
        slug = re.sub(r"[^a-z0-9]+", "_", match["name"].lower()).strip("_") or "mine"
        if not _NAME.fullmatch(match["name"]):
            rule = "a metric's name has small letters, digits and _, at most 61, and begins with a letter"
            return Problem(
                place, name, rule, f"write {f'm_{slug}'[:61] if slug[0].isdigit() else slug[:61]} [{match['unit']}]"
            )
        if not _UNIT.fullmatch(match["unit"]):
            return Problem(place, name, "a unit has letters, digits and % / . _ ^ -, at most 20", "write such a unit")
        fix = f"write {match['name']} [{match['unit']}, higher] or [{match['unit']}, lower]"
        return Problem(place, name, "does not tell which way is better", fix)
    known_names = {known.lower(): known for known in (*COLUMNS, *METRICS)}
    close = difflib.get_close_matches(name.lower(), known_names, n=1)
    meant = f"did you mean {known_names[close[0]]}? Else write" if close else "write"
    fix = f"{meant} {name} [UNIT] of a figure, param.{name} of a parameter, condition.{name} of a remark"
    return Problem(place, name, "is neither a column nor a metric of ours", fix)


def _row(place: str, names: list[str], cells: list[str], columns: Mapping[str, FigureColumn]) -> TableRow:
    stripped = (printable(cell.strip()) for cell in cells)
    texts = {name: text for name, text in zip(names, stripped, strict=False) if name and text}
    figures = {name: _figure(text) for name, text in texts.items() if name in columns}
    return TableRow(place, {name: text for name, text in texts.items() if name not in columns}, figures)


def _figure(text: str) -> float | None:
    try:
        value = None if text == EMPTY else float(text)
    except ValueError:
        return math.nan
    return value


def _problems_of_row(
    row: TableRow, cells: list[str], names: list[str], columns: Mapping[str, FigureColumn]
) -> Iterator[Problem]:
    texts = dict(zip(names, map(str.strip, cells), strict=False))
    if len(cells) > len(names):
        yield Problem(
            row.place, cells[len(names)], "is a cell beyond the last column", "quote texts with the separator"
        )
    if "workload" in names and not row.texts.get("workload"):
        yield Problem(f"{row.place}, workload", None, "is empty", "write what measured: ior, mdtest, vdbench")
    for name in ("instances", "n", "n_at_least"):
        if (text := row.texts.get(name)) and not (
            text.isdecimal() and 1 <= int(text[:MAX_DIGITS]) <= MAX_INSTANCES and len(text) <= MAX_DIGITS
        ):
            yield Problem(
                f"{row.place}, {name}", text, f"is no whole number from 1 to {MAX_INSTANCES:,}", "write 1 or more"
            )
    if (text := row.texts.get("instanceType")) and not re.fullmatch(INSTANCE_TYPE, text):
        fix = "write it like m6i.large; another machine's name into a column condition.machine"
        yield Problem(f"{row.place}, instanceType", text, "is no instance type of EC2", fix)
    if (text := row.texts.get("date")) and _day(text) is None:
        yield Problem(f"{row.place}, date", text, "is no day or month", "write 2026-11-29 or 2026-11")
    if columns and not row.figures:
        yield Problem(row.place, None, "has no figure", f"fill one of {', '.join(columns)}")
    for name, value in row.figures.items():
        if value is not None and not (value == 0 or SMALLEST <= value <= LARGEST):
            fix = f"write it like 1234.5{', with a point' if ',' in texts[name] else ', or leave it empty'}"
            yield Problem(f"{row.place}, {name}", texts[name], "is no number from 0 to 10^15", fix)
    yield from _problems_of_percentiles(row, columns)


def _problems_of_percentiles(row: TableRow, columns: Mapping[str, FigureColumn]) -> Iterator[Problem]:
    levels: dict[str, set[str]] = {}
    for name in row.figures:
        if level := columns[name].level:
            levels.setdefault(columns[name].metric, set()).add(level)
    for metric, given in levels.items():
        missing = [level for level in PERCENTILES if level not in given]
        if missing and "row" not in row.texts:
            fix = f"fill {', '.join(f'{metric}.{level}' for level in missing)}, or name them as metrics of their own"
            yield Problem(f"{row.place}, {metric}", None, f"has {len(given)} of the six percentiles", fix)


def _day(text: str) -> datetime | None:
    for form in FORMATS:
        try:
            return datetime.strptime(text, form).replace(tzinfo=UTC)
        except ValueError:
            continue
    return None


def _value(text: str) -> object:
    """Return a text as a matrix would write it: numbers, true and false, and `none`."""
    if text == "none":
        return None
    if re.fullmatch(r"true|false|-?(0|[1-9]\d{0,14})(\.\d+)?", text):
        return json.loads(text)
    return text
