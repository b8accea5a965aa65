"""Write docs/records/proof.md from claims.yaml: each claim about AWS, its proof, and the check that would settle it."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from judge import prose

ROOT = Path(__file__).parents[2]
CLAIMS = Path(__file__).with_name("claims.yaml")
PROGRAMS = Path(__file__).with_name("programs.yaml")
PAGE = ROOT / "docs/records/proof.md"
PROOFS = {
    "model": "AWS's model",
    "documentation": "AWS's documentation",
    "second implementation": "second implementation",
    "emulated machine": "emulated machine",
    None: "*not proved*",
}
HEAD = """# What is proved about AWS, and how

Nobody has run Storage Matrix on AWS yet. This page lists what it takes for granted about AWS, and what each claim
rests on:

- **AWS's model**: what AWS publishes for machines says so (botocore, its list of actions, CloudFormation's schemas).
- **AWS's documentation**: the page that the claim links to says so.
- **Second implementation**: another program, independent of ours and of moto, gave the same answers.
- **Emulated machine**: a real kernel, cloud-init, RAID and NFS client did it, in an emulated machine.
- ***not proved***: we believe it. Tests hold what our code does with it.

The test fails once our code no longer does what the claim asks for. The step is that of
[`matrix verify`](../aws.md#first-day-on-aws) which settles the claim on an account.

The page is written by `make proof` from `tests/support/claims.yaml` and `programs.yaml`.
"""


def areas() -> list[dict[str, Any]]:
    """All claims, by area."""
    return list(yaml.load(CLAIMS.read_text(), yaml.CSafeLoader))


def claims() -> Iterator[dict[str, Any]]:
    """All claims."""
    for area in areas():
        yield from area["claims"]


def page() -> str:
    """The whole page."""
    counts = Counter(claim.get("by") for claim in claims())
    listed = ", ".join(f"{counts[by]} by {words}" for by, words in PROOFS.items() if by is not None)
    settled = sum("verify" in claim for claim in claims() if "by" not in claim)
    total = f"{counts.total()} claims: {listed}; {counts[None]} not proved, of which `matrix verify` settles {settled}."
    return "\n".join([HEAD, total, "", *tables(), *programs_table(), *refusals()])


def tables() -> Iterator[str]:
    """A table for each area."""
    for area in areas():
        yield from (f"## {area['area']}", "", "| Claim | Proved by | Test | Settled by |", "|---|---|---|---|")
        for claim in area["claims"]:
            proof = PROOFS[claim.get("by")]
            proof = f"[{proof}]({claim['source']})" if "source" in claim else proof
            file, _, name = claim.get("test", "").partition("::")
            test = f"[{name.removeprefix('test_').replace('_', ' ')}](../../{file})" if name else "–"
            yield f"| {claim['claim']} | {proof} | {test} | {claim.get('verify', '–')} |"
        yield ""


PROGRAMS_HEAD = """## Programs of the instances

What the agent and its user data take from the system, and its versions on the two images, each with the page that says
so, read on 23 November 2026. The last column is the oldest version that ran in a test: the agent's tests on Debian 11
(`make test-old`, in CI), and fleets of emulated machines on Debian 11, 12 and 13 (`make vm`). *Stand-in*: only a small
program of ours has played it.

| Program | Amazon Linux 2023 | Ubuntu 22.04 | Oldest that was tested |
|---|---|---|---|"""


def programs() -> list[dict[str, Any]]:
    """The programs of the system that the agent uses."""
    return list(yaml.load(PROGRAMS.read_text(), yaml.CSafeLoader))


def programs_table() -> Iterator[str]:
    """The programs with their versions there and in the tests."""
    yield PROGRAMS_HEAD
    for each in programs():
        images = (each["amazon"], each["ubuntu"])
        there = (f"[{image.get('version', 'not found')}]({image['page']})" for image in images)
        tested = f"{each['tested']['version']}: {each['tested']['where']}" if "tested" in each else "*stand-in*"
        yield f"| {' | '.join([each['program'], *there, tested])} |"
    yield ""


REFUSALS = """## What AWS refuses, by its prose

`make lint` and the recorded runs are held against these, beside AWS's models. A rule is refused as a whole, whatever of
it is proved. Pages of API references are of calls and types that botocore has, a test holds that; no machine opens the
guides.

| Rule | Pages | Not proved |
|---|---|---|"""


def refusals() -> Iterator[str]:
    """The table of AWS's refusals that are described only in prose, from the judge's rules."""
    yield REFUSALS
    for rule in prose.RULES:
        name, sentence = rule.check.__name__.replace("_", " "), (rule.check.__doc__ or "").strip()
        pages = ", ".join(f"[{page.rpartition('/')[2].removesuffix('.html')}]({page})" for page in rule.sources)
        yield f"| **{name}** {sentence.replace('|', '&#124;')} | {pages} | {rule.unproved or '–'} |"
    yield ""


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
