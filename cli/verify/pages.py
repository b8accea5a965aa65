"""verification.json and verification.md: results of the checks, deviations from assumptions, and ways out."""

import time
from collections.abc import Sequence
from typing import Any

from cli.target.deployment import Deployment
from cli.verify.checks import Check, Verdict
from cli.verify.steps import Outcome
from matrix.tables.markdown_table import markdown_table
from matrix.tables.table import Table, figures
from matrix.terms.quantities import ABSENT

SCHEMA = 1
STEPS = ("Step", "Proves", *figures("Expected USD", "Took"), "Result")
CHECKS = ("Step", "What", "Expected", "Seen", "Result")


def to_document(deployment: Deployment, outcomes: Sequence[Outcome], at: float) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "at": at,
        "environment": deployment.environment,
        "stack": deployment.stack,
        "region": deployment.region,
        "is_good": all(outcome.verdict not in (None, Verdict.BROKEN) for outcome in outcomes),
        "steps": [
            {
                "name": outcome.step.name,
                "proves": outcome.step.proves,
                "expected_usd": outcome.step.usd,
                "seconds": None if outcome.seconds is None else round(outcome.seconds, 1),
                "verdict": str(outcome.verdict or "not reached"),
                "checks": [vars(check) | {"verdict": str(check.verdict)} for check in outcome.checks],
            }
            for outcome in outcomes
        ],
    }


def to_markdown(document: dict[str, Any]) -> str:
    """Return verification.md: the steps, then failures and deviations, then all comparisons."""
    day = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(document["at"]))
    where = "this machine's local cloud, which proves the way and nothing about AWS"
    if document["environment"] == "aws":
        where = f"the stack {document['stack']} in {document['region']}"
    rows = [
        (step["name"], step["proves"], f"{step['expected_usd']:.3f}", _seconds(step["seconds"]), step["verdict"])
        for step in document["steps"]
    ]
    parts = ["# Verification", f"Of {where}, {day}.", markdown_table(Table.of("", STEPS, rows))]
    for verdict, title in ((Verdict.BROKEN, "Broken"), (Verdict.DIFFERS, "Other than assumed")):
        listed = [
            (step, check) for step in document["steps"] for check in step["checks"] if check["verdict"] == verdict
        ]
        if listed:
            lines = [f"- **{step['name']}, {check['what']}**: {_sentence(check)}" for step, check in listed]
            parts += [f"## {title}", "\n".join(lines)]
    compared = [
        (step["name"], check["what"], check["expected"], check["seen"], check["verdict"])
        for step in document["steps"]
        for check in step["checks"]
    ]
    return "\n\n".join([*parts, "## Every comparison", markdown_table(Table.of("", CHECKS, compared))]) + "\n"


def _seconds(seconds: float | None) -> str:
    return ABSENT if seconds is None else f"{seconds:.0f} s"


def _sentence(check: dict[str, Any]) -> str:
    fix = f". {check['fix'][:1].upper()}{check['fix'][1:]}" if check["fix"] else ""
    return f"expected {check['expected']}, seen: {check['seen']}{fix}"


def line_of(check: Check) -> str:
    fix = f"; {check.fix}" if check.fix else ""
    return f"  {check.verdict}: {check.what}: expected {check.expected}, seen {check.seen}{fix}"
