"""The figures of a run as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from bench.whole.figures import Figures


def page(size: str, figures: Figures) -> str:
    """Return all tables of a run."""
    return "\n".join(_lines(size, figures))


def _lines(size: str, figures: Figures) -> Iterator[str]:
    cells, counts = figures.cells, figures.counts
    yield f"## {size}: storages x fleets x instances x steps x minutes, simulated\n"
    for name in ("states entered", "history events"):
        yield f"- {name}: {counts[name]:,.0f}, {counts[name] / cells:,.1f} a cell"
    times = figures.times
    yield "- seconds of a cell: " + ", ".join(f"{name} {seconds:,.0f}" for name, seconds in times.items())
    beside_s = times["whole"] - times["instances"]
    yield f"- beside its instances' own time: {beside_s:,.0f} s, {beside_s / times['whole']:.1%} of the cell"
    usd = sum(figures.bill.values())
    yield (
        f"- USD of a cell: orchestration {usd:.4f}, {usd / figures.cell_usd:.2%} of its {figures.cell_usd:,.2f};"
        f" the plan takes {figures.planned_usd:.4f} for it\n"
    )
    yield from _table(("USD of a cell for", "USD"), ((name, f"{part:.5f}") for name, part in figures.bill.items()))
    yield from _table(
        ("function", "calls", "a cell", "seconds each", "GB-seconds a cell", "longest, of Timeout"),
        (
            (
                name,
                f"{calls:,}",
                f"{calls / cells:,.1f}",
                f"{seconds / calls:,.2f}",
                f"{gb_s / cells:,.1f}",
                f"{of:.0%}",
            )
            for name, calls, seconds, gb_s, of in figures.functions()
        ),
    )
    yield from _table(
        ("requests of functions", "in all", "a cell"),
        ((name, f"{number:,}", f"{number / cells:,.1f}") for name, number in sorted(figures.requests.items())),
    )
    yield from _table(
        ("requests of instances", "in all", "an instance and step"),
        (
            (name, f"{number:,.0f}", f"{number / figures.instance_steps:,.1f}")
            for name, number in figures.of_instances.items()
        ),
    )
    yield from _table(
        ("limit", "value", "highest seen", ""),
        (
            (
                reached.what,
                f"{reached.limit:,.0f} {reached.unit}",
                f"{reached.seen:,.0f}",
                "" if reached.is_kept else "EXCEEDED",
            )
            for reached in figures.limits()
        ),
    )


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield "|---" * len(head) + "|"
    yield from (f"| {' | '.join(row)} |" for row in rows)
    yield ""
