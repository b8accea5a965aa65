"""Warnings about a run's figures, in words: a line for each kind, the worst first."""

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from matrix.terms.documents.summary import SummaryDocument
from matrix.terms.documents.warning import CellWarning, NotSteady, ToolBound, TwoGroups
from matrix.terms.figures import number, quantity, times
from matrix.terms.metrics import METRICS, readable
from matrix.terms.names import fleet_label
from matrix.terms.sentences import warning_text

# The worst first: figures that are missing, figures that are not the storage's, figures that change, all others.
SEVERITY: tuple[tuple[str, ...], ...] = (
    ("fewer-instances",), ("launch-missing",), ("unreadable",), ("tool-bound",), ("behind",), ("not-steady",),
    ("steady-late",),
    (
        "slow-first-run", "drift", "two-groups", "two-groups-of-instances", "two-groups-of-repetitions", "unsteady",
        "autocorrelated", "launches-differ", "wide-interval",
    ),
    ("overhead",), ("no-bottleneck",), ("of-samples",), ("of-source",),
)  # fmt: skip
RANK = {code: rank for rank, codes in enumerate(SEVERITY) for code in codes}
# Half of an interval, as a share of its median, that still reads as a percentage.
WIDEST_AS_PERCENT = 0.5
WORD, DIGIT = re.compile(r"\S+"), re.compile(r"\d")
LONGER = 'use longer steps (more "files", a larger "size" or "totalSize", fio\'s "runtime")'
AGAIN = 'raise "repetitions", or set "launches": 3'
LOST = {
    "latencies": "latency histograms are left out",
    "bundles": "files of many steps are damaged: latencies were read step by step, throughput over time is lost",
    "rates-over-time": "rates over time are left out",
}
WHO = {
    "two-groups": "find what the slow ones share (zone, time, cache) and split the point by it",
    "two-groups-of-instances": "an instance is always in the same one: compare their zones, hosts and mounts",
    "two-groups-of-repetitions": "a repetition is wholly in one: find what changed between repetitions",
}


def describe_warning(warning: CellWarning) -> str:
    """Write the problem, its effect on the result and advice; without cell, points and metric."""
    return _WRITERS[warning["code"]](warning)


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _describe_groups(groups: TwoGroups) -> str:
    lower, upper = groups["lower"], groups["upper"]
    return (
        f"the values form two groups, {lower['values']} around {lower['median']:.3g} and {upper['values']} around "
        f"{upper['median']:.3g}, and the median lies in neither's middle; {WHO[groups['code']]}"
    )


def _describe_width(share: float) -> str:
    """Write half of an interval's width, a share of the median; as a factor if "± 97 %" would almost reach 0.

    Intervals are symmetric in logarithms: from m / f to m × f, half the width is m (f - 1/f) / 2.
    """
    return f"± {_percent(share)}" if share <= WIDEST_AS_PERCENT else f"a factor of {share + math.hypot(share, 1):.2g}"


def _describe_unsteady(warning: NotSteady) -> str:
    samples = f"{warning['unsteady']} of {warning['judged']} samples"
    if "period_s" in warning:
        return (
            f"not steady: the rate swings every {warning['period_s']:g} s in {samples}, so the figure depends on "
            "how many swings a step holds; let steps last ten of them"
        )
    return (
        f"not steady (SNIA PTS): over the last 56 % of {samples} the rate rose or fell by more than a tenth, or varied "
        f'by more than a fifth; {LONGER}, or set "precondition"'
    )


def _describe_tool(warning: ToolBound) -> str:
    unit = METRICS[warning["metric"]].unit
    return (
        f"near the limit of the load generator: {_percent(warning['share'])} of what {warning['tool']} reaches on "
        f"these instances without a storage ({quantity(warning['ceiling'], unit)}); {_tool_advice(warning)}"
    )


def _tool_advice(warning: ToolBound) -> str:
    if warning["tool"] == "engine" and warning["metric"] == "mb_per_s":
        # The engine makes a call for each page or block; io_uring submits many with one, in each of fio's jobs.
        fio = "take fio with direct, ioengine io_uring and an iodepth of 32 or more, which asks for many with one call"
        return f"{fio}, or instances with more or faster processors"
    if warning["tool"] == "engine":
        return "take instances with more or faster processors, or more of them"
    return "use tool engine, where there is one, or more instances"


# What is wrong with the evidence, its effect on the result, and what to change.
_WRITERS: dict[str, Callable[[Any], str]] = {
    "slow-first-run": lambda it: (
        f"repetition {it['repetition']} was {times(1 + it['share'])} as slow as the median of the later ones, as "
        f"caches were cold, credits full or blocks touched for the first time; {LONGER}"
    ),
    "drift": lambda it: (
        f"became {it['way']} by {_percent(it['share'])} from the first to the last of {it['repetitions']} repetitions; "
        f"{LONGER}"
    ),
    "unsteady": lambda it: f"medians of the {it['repetitions']} repetitions differ by {_percent(it['share'])}; {AGAIN}",
    "autocorrelated": lambda it: (
        f"each of the {it['count']} {it['unit']} resembles the one before it (lag-1 autocorrelation "
        f'{it["share"]:.2f}), so they count as {it["counts_as"]}; set "launches", or repeat on another day'
    ),
    "launches-differ": lambda it: (
        f"medians of the {it['count']} launches differ by {_percent(it['share'])}, as what you buy will; "
        'raise "launches" to know their middle better'
    ),
    "wide-interval": lambda it: (
        f"the interval of the median is wide ({_describe_width(it['share'])}); "
        f"{it['needed']} {it['unit']} would halve it"
    ),
    "fewer-instances": lambda it: (
        f"only {it['ran']} of {it['count']} instances were launched, which is another load: {it['reason']}; "
        'lower "count", or raise the quota'
    ),
    "launch-missing": lambda it: (
        f"launch {', '.join(map(str, it['launches']))} of {it['of']} was not measured: {it['reason']}"
    ),
    "overhead": lambda it: (
        f"up to {_percent(it['share'])} of the time was not the work itself (programs starting, a ramp, their end): "
        f"rates and costs exclude it, shares of processor, network and disk include it; {LONGER}"
    ),
    "behind": lambda it: (
        f"{_percent(1 - it['share'])} of what was due was done ({number(it['done_per_s'])} of "
        f"{number(it['offered_per_s'])}/s): these are latencies of an overload, and in an open loop they grow with the "
        "step; lower the rate"
    ),
    "not-steady": _describe_unsteady,
    "tool-bound": _describe_tool,
    **dict.fromkeys(WHO, _describe_groups),
    "steady-late": lambda it: (
        f"steady from second {it['from_s']:g} on, at {_percent(it['ratio'])} of the whole step's rate: the figure "
        f"holds what was before, a burst or a cold start; {LONGER}"
    ),
    "unreadable": lambda it: f"{it['files']} {LOST[it['what']]}; the first: {it['reason']}",
    "no-bottleneck": lambda it: f"no bottleneck was looked for: {it['reason']}",
    "of-samples": lambda it: it["text"],
    "of-source": lambda it: it["text"],
}


@dataclass
class Kind:
    """Warnings of one kind, the worst first."""

    warnings: list[tuple[str, CellWarning]] = field(default_factory=list)  # each with the id of its cell
    names: Mapping[str, str] = field(default_factory=dict)  # of cells by their ids; others are called by their ids

    @property
    def line(self) -> str:
        """All of them in one line: how many there are, and the worst."""
        (cell, worst), *others = self.warnings
        if not others:
            return self._line(cell, worst)
        points = sum(len(warning.get("points") or [cell]) for cell, warning in self.warnings)
        cells = len({cell for cell, _ in self.warnings})
        where = f"{points} points of {cells} cell{'s' if cells > 1 else ''}"
        return f"{where}, the worst is {self._line(cell, worst)}"

    @property
    def lines(self) -> list[str]:
        """Each in a separate line."""
        return [self._line(cell, warning) for cell, warning in self.warnings]

    def _line(self, cell: str, warning: CellWarning) -> str:
        return warning_line(self.names.get(cell, cell), warning)


def warning_line(cell: str, warning: CellWarning) -> str:
    """Write a warning of a cell: `CELL: p01, throughput: near the limit of the load generator: …`."""
    points = warning.get("points") or []
    where = [*points[:1], *([f"and {len(points) - 1} more points"] if len(points) > 1 else [])]
    about = ", ".join([*where, *([warning["metric"]] if "metric" in warning else [])])
    launches = warning.get("launches") or []
    of = f"launch {', '.join(map(str, launches))}: " if launches and warning["code"] != "launch-missing" else ""
    samples = cast("Any", warning).get("samples")
    count = "" if samples is None else f" ({samples} sample{'' if samples == 1 else 's'})"
    return readable(f"{cell}: {f'{about}: ' if about else ''}{of}{describe_warning(warning)}{count}")


def kinds_of(summary: SummaryDocument, names: Mapping[str, str] | None = None) -> list[Kind]:
    """Return the warnings of all cells by their kind, the most severe kind first, of a kind the worst first.

    `names` has the names of cells by id; without it they are called by their ids, or by the names of a source.
    """
    kinds: dict[tuple[str, str], Kind] = {}
    names = _names_of_rows(summary) if names is None else names
    for cell in summary.get("cells", []):
        for warning in cell.get("warnings") or []:
            kinds.setdefault(_key(warning), Kind(names=names)).warnings.append((cell["id"], warning))
    for kind in kinds.values():
        kind.warnings.sort(key=lambda pair: -_share(pair[1]))
    return [kind for _, kind in sorted(kinds.items(), key=lambda item: RANK[item[0][0]])]


def _names_of_rows(summary: SummaryDocument) -> dict[str, str]:
    """Return storage and fleet of each row of a source, by its id, which no command takes; none of a run's cells."""
    decision = summary.get("decision")
    if summary.get("environment") != "published" or not decision:
        return {}
    candidates = [each for question in decision["questions"] for each in question["candidates"]]
    storages = {each["cell"]: each["storage"] for each in candidates}
    cells = [cell for cell in summary.get("cells", []) if cell["id"] in storages]
    return {cell["id"]: f"{storages[cell['id']]} at {fleet_label(cell['fleet'])}" for cell in cells}


def _share(warning: CellWarning) -> float:
    """The size of a warning's effect as a share, by which warnings are sorted; 0 if it has none."""
    return float(cast("Any", warning).get("share", 0.0))


def _key(warning: CellWarning) -> tuple[str, str]:
    """Return the key by which warnings are grouped. Texts of others are grouped if only words with digits differ."""
    if warning["code"] == "of-samples" or warning["code"] == "of-source":
        return warning["code"], WORD.sub(_without_digits, warning["text"])
    return warning["code"], warning["what"] if warning["code"] == "unreadable" else ""


def _without_digits(word: re.Match[str]) -> str:
    """Return the word, or nothing if it has a digit.

    A pattern for such words alone would take the square of a long word's time.
    """
    return "" if DIGIT.search(word[0]) else word[0]


def of_run(summary: SummaryDocument) -> list[str]:
    """List the warnings that are about the whole run."""
    return [readable(warning_text(warning)) for warning in summary.get("warnings") or []]


def warning_lines(summary: SummaryDocument) -> list[str]:
    """List the warnings of the run, then a line for each kind of its cells' warnings."""
    return [*of_run(summary), *(kind.line for kind in kinds_of(summary))]


def every_warning(summary: SummaryDocument) -> Iterator[str]:
    """Yield each warning of the run and of its cells."""
    yield from of_run(summary)
    for kind in kinds_of(summary):
        yield from kind.lines
