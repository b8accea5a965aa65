"""Words of a ranking for a comparison and its storages."""

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from matrix.terms.ceilings import describe_limit
from matrix.terms.documents.summary import Candidate, Decision, Question, SummaryDocument
from matrix.terms.names import shared_and_own
from matrix.terms.quantities import ABSENT, Column
from matrix.terms.verdicts import is_taken, is_unclear, judged, ranked_of

TAKE, OPEN = "★", "open"
# Workload, parameters and fleet of a comparison.
Parts = tuple[str, str, str]
# Returns the name of a storage in the ranking's place.
Name = Callable[[Candidate], str]


def parts(question: Question) -> Parts:
    """Return the subject of a comparison: its workload, parameters and fleet."""
    return question["workload"], question["label"], question["fleet"]


def describe_comparison(question: Question) -> str:
    """Write the subject of a comparison: `build, jobs 4, 10 × m6i.large`."""
    return ", ".join(filter(None, parts(question)))


def shared_and_own_parts(questions: Iterable[Question]) -> tuple[list[str], dict[Parts, Parts]]:
    """Return what all comparisons share, and of each one's `parts` what tells it from the others, else empty."""
    return _shared_and_own_parts(tuple(map(parts, questions)))


@lru_cache(maxsize=4)  # each comparison of a page asks about all of them
def _shared_and_own_parts(everywhere: tuple[Parts, ...]) -> tuple[list[str], dict[Parts, Parts]]:
    columns = list(zip(*everywhere, strict=True))
    common = [shared_and_own(column) for column in columns]
    shared = [part for parts, _ in common for part in parts if part]
    tellings = [telling if len(telling) > 1 else dict.fromkeys(telling, "") for _, telling in common]
    return shared, {
        (workload, label, fleet): (tellings[0][workload], tellings[1][label], tellings[2][fleet])
        for workload, label, fleet in everywhere
    }


def describe_level(question: Question) -> str:
    """Name the percentile that ranks a comparison: `P90`."""
    return f"P{question.get('ranked_level', question['level']):g}"


def cost_unit(question: Question, decision: Decision) -> str:
    """Return the unit of a cost, such as `build`; empty if a run has no prices.

    Figures of this machine at AWS's prices would be meaningless.
    """
    costs = [each["cost"]["per"] for each in judged(question) if each["cost"]]
    return next(iter(costs), "") if decision.get("is_recommendation", True) else ""


def mark(candidate: Candidate, question: Question) -> str:
    """Mark the storage to take."""
    return f"{TAKE} " if is_taken(candidate, question) else ""


def unclear(candidate: Candidate, question: Question) -> str:
    """Mark a figure that leaves open which storage to take."""
    return f" {OPEN}" if is_unclear(candidate, question) else ""


def interval_of(candidate: Candidate, column: Column) -> str:
    """Write the ends of the interval of the figure that ranks a candidate."""
    ranked = ranked_of(candidate)
    low, high = ranked["low"], ranked["high"]
    return ABSENT if low is None or high is None else f"{column.write(low)} – {column.write(high)}"


def bottleneck_of(summary: SummaryDocument, candidate: Candidate) -> str:
    """Name the bottleneck of a candidate's point."""
    cell = next((cell for cell in summary["cells"] if cell["id"] == candidate["cell"]), None)
    bottleneck = cell.get("bottleneck") if cell else None
    return describe_limit(bottleneck["points"].get(candidate["point"], bottleneck["name"])) if bottleneck else ABSENT


def short_name(candidate: Candidate, among: Sequence[Candidate], name: Name) -> str:
    """Name a storage in short, with its first difference to others of its type: `FSx OpenZFS (1024 GiB)`."""
    kind, _, details = name(candidate).partition(" (")
    alike = [each for each in among if name(each).partition(" (")[0] == kind]
    return f"{kind} ({details.removesuffix(')').partition(', ')[0]})" if details and len(alike) > 1 else kind
