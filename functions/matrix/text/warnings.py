"""What a reader must know of a run's figures, in words: a line for each kind, the worst first."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from matrix.terms.documents.result import CellWarning
from matrix.terms.documents.summary import SummaryDocument
from matrix.terms.metrics import readable
from matrix.terms.sentences import warning_text

# The worst first: figures that are missing, figures that are not the storage's, figures that change, all others.
SEVERITY = (
    "fewer-instances", "launch-missing", "unreadable", "tool-bound", "behind", "not-steady", "steady-late", "finding",
    "overhead", "no-bottleneck", "of-samples", "of-source", "as-written",
)  # fmt: skip
# Texts that others wrote are alike if they differ in words with digits only.
BY_TEXT = frozenset({"launch-missing", "unreadable", "no-bottleneck", "of-samples", "of-source", "as-written"})
WORD_WITH_DIGIT = re.compile(r"\S*\d\S*")
LONGER = 'Use longer steps (more "files", a larger "size" or "totalSize", fio\'s "runtime")'
AGAIN = 'Raise "repetitions", or set "launches": 3'
# What a kind does to the result, and what to change: of a finding by its kind, of the others by their code.
BRIEF = {
    "fewer-instances": (
        "fewer instances ran than asked: another load",
        'Lower "count", or raise the quota',
    ),
    "tool-bound": (
        "limited by the load generator, so the figures are the tool's and not the storage's",
        'Use "tool": "engine" (fio: more "numjobs"), or a larger "instanceType"',
    ),
    "behind": ("the storage fell behind the rate, so latencies grow with the step", 'Lower "ratePerSecondPerInstance"'),
    "not-steady": ("the rate was still changing at the end", f'{LONGER}, or set "precondition"'),
    "steady-late": ("the figure holds a burst or a cold start", LONGER),
    "overhead": ("part of the time was not the work, which shares of CPU and network include", LONGER),
    "slow first run": ("the first repetition was slower, as caches were cold or credits full", LONGER),
    "drift": ("the rate kept rising or falling over the repetitions", LONGER),
    "two groups": ("the values form two groups, and the median is in neither", AGAIN),
    "two groups of instances": ("some instances are always faster", 'Compare their zones and hosts, or raise "count"'),
    "two groups of repetitions": ("some repetitions are faster as a whole", AGAIN),
    "unsteady": ("repetitions differ", AGAIN),
    "autocorrelated": ("each repetition resembles the one before, so they count as fewer", 'Set "launches": 3'),
    "launches differ": ("blocks differ, as what you buy will", 'Raise "launches"'),
    "wide interval": ("the median is not known to within 10 %", AGAIN),
}


@dataclass
class Kind:
    """Warnings of one kind, the worst first."""

    warnings: list[tuple[str, CellWarning]] = field(default_factory=list)  # each with the id of its cell

    @property
    def line(self) -> str:
        """All of them in one line: how many there are, and the worst."""
        (cell, worst), *others = self.warnings
        if not others:
            return warning_line(cell, worst)
        points = sum(len(warning.get("points") or [cell]) for cell, warning in self.warnings)
        cells = len({cell for cell, _ in self.warnings})
        where = f"{points} points of {cells} cell{'s' if cells > 1 else ''}"
        return f"{where}, the worst is {warning_line(cell, worst)}"

    @property
    def brief(self) -> str:
        """All of them in one short line: where, what it does to the result, and what to change."""
        cell, worst = self.warnings[0]
        points = [point for _, warning in self.warnings for point in warning.get("points") or []]
        cells = len({cell for cell, _ in self.warnings})
        where = f"{len(points)} points" if len(points) > 1 else f"{cells} cells" if cells > 1 else cell
        known = BRIEF.get(worst["code"]) or BRIEF.get(worst.get("kind", ""))
        if known is None:
            return f"{where}: {readable(worst['text'])}."
        what, change = known
        is_sized = worst["code"] == "finding" and "share" in worst
        size = f" (up to {100 * worst['share']:.0f} %)" if is_sized else ""
        return f"{where}: {what}{size}. {change}."

    @property
    def lines(self) -> list[str]:
        """Each in a line of its own."""
        return [warning_line(cell, warning) for cell, warning in self.warnings]


def warning_line(cell: str, warning: CellWarning) -> str:
    """Write a warning of a cell: `CELL: p01, throughput: limited by the load generator: …`."""
    points = warning.get("points") or []
    where = [*points[:1], *([f"and {len(points) - 1} more points"] if len(points) > 1 else [])]
    about = ", ".join([*where, *([warning["metric"]] if "metric" in warning else [])])
    launches = warning.get("launches") or []
    of = f"launch {', '.join(map(str, launches))}: " if launches and warning["code"] != "launch-missing" else ""
    samples = warning.get("samples")
    count = "" if samples is None else f" ({samples} sample{'' if samples == 1 else 's'})"
    return readable(f"{cell}: {f'{about}: ' if about else ''}{of}{warning['text']}{count}")


def kinds_of(summary: SummaryDocument) -> list[Kind]:
    """Return the warnings of all cells by their kind, the most severe kind first, of a kind the worst first."""
    kinds: dict[tuple[str, str], Kind] = {}
    for cell in summary.get("cells", []):
        for warning in cell.get("warnings") or []:
            kinds.setdefault(_key(warning), Kind()).warnings.append((cell["id"], warning))
    for kind in kinds.values():
        kind.warnings.sort(key=lambda pair: -pair[1].get("share", 0.0))
    return [kind for _, kind in sorted(kinds.items(), key=lambda item: SEVERITY.index(item[0][0]))]


def _key(warning: CellWarning) -> tuple[str, str]:
    if warning["code"] in BY_TEXT:
        return warning["code"], WORD_WITH_DIGIT.sub("", warning["text"])
    return warning["code"], warning.get("kind", "")


def of_run(summary: SummaryDocument) -> list[str]:
    """List the warnings that are about the whole run."""
    return [readable(warning_text(warning)) for warning in summary.get("warnings") or []]


def warning_lines(summary: SummaryDocument) -> list[str]:
    """List the warnings of the run, then a line for each kind of those of its cells."""
    return [*of_run(summary), *(kind.line for kind in kinds_of(summary))]


def every_warning(summary: SummaryDocument) -> Iterator[str]:
    """Yield each warning of the run and of its cells."""
    yield from of_run(summary)
    for kind in kinds_of(summary):
        yield from kind.lines
