"""verification.json and verification.md: results of the checks, deviations from assumptions, and ways out."""

import time
from collections.abc import Sequence
from typing import Any

from cli.target.deployment import Deployment
from cli.verify.checks import Check, Verdict
from cli.verify.steps import Outcome

SCHEMA = 1


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
    lines = [
        "# Verification", "", f"Of {where}, {day}.", "",
        "| step | proves | expected USD | took | result |", "|---|---|---:|---:|---|",
    ]  # fmt: skip
    for step in document["steps"]:
        took = "–" if step["seconds"] is None else f"{step['seconds']:.0f} s"
        lines.append(f"| {step['name']} | {step['proves']} | {step['expected_usd']:.3f} | {took} | {step['verdict']} |")
    for verdict, title in ((Verdict.BROKEN, "Broken"), (Verdict.DIFFERS, "Other than assumed")):
        listed = [
            (step, check) for step in document["steps"] for check in step["checks"] if check["verdict"] == verdict
        ]
        if listed:
            lines += ["", f"## {title}", ""]
            lines += [f"- **{step['name']}, {check['what']}**: {_sentence(check)}" for step, check in listed]
    lines += ["", "## Every comparison", "", "| step | what | expected | seen | |", "|---|---|---|---|---|"]
    for step in document["steps"]:
        for check in step["checks"]:
            cells = [step["name"], check["what"], check["expected"], check["seen"], check["verdict"]]
            lines.append(f"| {' | '.join(_cell(cell) for cell in cells)} |")
    return "\n".join(lines) + "\n"


def _sentence(check: dict[str, Any]) -> str:
    way_out = f". {check['way_out'][:1].upper()}{check['way_out'][1:]}" if check["way_out"] else ""
    return f"expected {check['expected']}, seen: {check['seen']}{way_out}"


def _cell(text: str) -> str:
    """Return a text that breaks no table."""
    return text.replace("|", "\\|").replace("\n", " ")


def line_of(check: Check) -> str:
    way_out = f"; {check.way_out}" if check.way_out else ""
    return f"  {check.verdict}: {check.what}: expected {check.expected}, seen {check.seen}{way_out}"
