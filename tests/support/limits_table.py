"""Write docs/limits.md from matrix.input.limits: each limit of AWS, with its source and the date of reading."""

from collections.abc import Iterator
from pathlib import Path

from matrix.input import limits
from matrix.input.limits import Limit, Span

PAGE = Path(__file__).parents[2] / "docs/limits.md"
SOURCES = {
    "model": "the service models in botocore, <https://github.com/boto/botocore/tree/develop/botocore/data>",
    "EBS guide": "<https://docs.aws.amazon.com/ebs/latest/userguide/ebs-volume-types.html>",
    "EFS guide": "<https://docs.aws.amazon.com/efs/latest/ug/limits.html>, "
    "<https://docs.aws.amazon.com/efs/latest/ug/performance.html>",
    "FSx guide": "<https://docs.aws.amazon.com/fsx/latest/OpenZFSGuide/performance-ssd.html>",
    "Step Functions guide": "<https://docs.aws.amazon.com/step-functions/latest/dg/service-quotas.html>",
    "Tagging guide": "<https://docs.aws.amazon.com/tag-editor/latest/userguide/best-practices-and-strats.html>",
    "EC2 guide": "<https://docs.aws.amazon.com/ec2/latest/devguide/ec2-api-throttling.html>",
    "report": "second-hand: no page of AWS says it",
}
HEAD = """# Limits of AWS

A matrix is held against these limits before anything is created. A limit that is not firm makes a warning, any other
an error: where sources disagree, AWS has the last word when the resource is created.

`make limits` writes this page from `functions/matrix/input/limits.py`. To correct a limit, change it there, with its
source and the month in which you read it.

## Sources

| Name | Where |
|---|---|
"""
LISTS = """
Three tables of that module have no unit of their own and are not repeated here: the throughput capacities of FSx for
OpenZFS (service model, and the FSx guide for the types that the model does not list), its servers' caches, disks and
networks (FSx guide), and the throughput of st1 and sc1 (EBS guide).

## Limits

| Name | Limit | Source | Read | Firm |
|---|---|---|---|---|
"""


def stated() -> Iterator[tuple[str, Limit | Span]]:
    """Yield each limit with its name in the module; if it has several by type, each with its type."""
    for name, value in vars(limits).items():
        members = value.items() if isinstance(value, dict) else [(None, value)]
        for member, limit in members:
            if isinstance(limit, Limit | Span):
                yield f"{name}[{member}]" if member else name, limit


def source_of(limit: Limit | Span) -> str:
    """Return the label of the address of a limit's source on the page."""
    return limit.source.partition(",")[0]


def page() -> str:
    """Return the whole page."""
    sources = "".join(f"| {name} | {where} |\n" for name, where in SOURCES.items())
    return HEAD + sources + LISTS + "".join(map(_row, *zip(*stated(), strict=True)))


def _row(name: str, limit: Limit | Span) -> str:
    amount = f"{limit.least:,} to {limit.most:,}" if isinstance(limit, Span) else _number(limit.value)
    firm = "yes" if limit.firm else "**no**"
    return f"| `{name}` | {amount} {limit.unit} | {limit.source} | {limit.read} | {firm} |\n"


def _number(value: float) -> str:
    return f"{int(value):,}" if value == int(value) else f"{value:,}"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
