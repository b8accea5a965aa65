"""The calls of runs with the roles of the stack, which `matrix verify` checks with AWS.

`make calls` adds those of the runs of tests/system/test_privilege.py to cli/verify/calls.json. Names of the stack are
written as {logical id}, and parts that differ by run as a name that every run has.
"""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from support.grants import UNNAMED, granted, role_of

from cli.verify.permissions import CALLS

# Parts that differ by run, and their replacements: policies check the kind of a name and not the name.
STAND_INS = [
    (r":stack/[^/]+/0$", ":stack/{stack}/0"),
    (r"((?::::\{ResultsBucket\}/|^)runs)/[^/]+", r"\1/verify"),
    (r"(:::\{DataBucket\})/[^_/][^/]*", r"\1/verify"),
    (r"/(cells|caches|images|servers)/[^/*]+(?=/)", r"/\1/one"),
    (r"(:::\{ResultsBucket\}/points)/.+", r"\1/verify/one.jsonl"),
    (r"/booted/[^/]+", "/booted/one.json"),
    (r"\bagents/[0-9a-f]{64}", "agents/" + "0" * 64),
    (r"/AROA\w+:i-[0-9a-f]+", "/{userid}"),
    (r"/meet/[0-9a-f]{32}/", "/meet/" + "0" * 32 + "/"),
    (r"/ready/[0-9]{4}(?=/)", "/ready/0000"),
    (r"/gates/[0-9]{4}\.json", "/gates/0000.json"),
    (r"/raw/.+", "/raw/0"),
    (r":rule/\w+", ":rule/verify"),
    (r"(bucket/sm-m?)[0-9a-f]{40}--", rf"\g<1>{'0' * 40}--"),
    (r"(:execution:\{RunStateMachine\}).*", r"\1:verify"),
    (r"(:mapRun:\{RunStateMachine\}).*", r"\1/verify:0"),
    (
        r"(?<=[:/])(i|vol|snap|eni|ami|fs|fsmt|fsvol|svm|backup|subnet|sg|rtb|vpc|sir)-[0-9a-z]{8,}",
        r"\1-00000000000000000",
    ),
]
# Tags whose values matter to policies; all others are left out.
TAGS = ("storage-matrix:", "amazonfsx")
STACK, ACCOUNT, REGION = "storage-matrix", "123456789012", "us-east-1"


def calls(decisions: Iterable[Mapping[str, Any]], resources: Mapping[str, str]) -> list[dict[str, Any]]:
    """Each different call once: role, action, resource and context. `resources`: physical ids by logical ids."""
    # Names that CloudFormation has generated begin with the stack's name. Only they, and ids in policies, cannot mean
    # anything else. If one name is the beginning of another, the longer one is replaced first.
    own = {logical: physical.rpartition(":")[2] for logical, physical in resources.items()}
    names = sorted(
        (pair for pair in own.items() if pair[1].startswith((f"{STACK}-", "lt-", "sg-"))),
        key=lambda pair: -len(pair[1]),
    )
    named = {(grant.role, grant.action) for grant in granted() if grant.resource == UNNAMED}
    different: dict[tuple[str, str, str], dict[str, Any]] = {}
    for decision in decisions:
        role, action = role_of(decision["role"]), decision["action"]
        if decision["resource"] == UNNAMED and (role, action) not in named:
            continue  # the local cloud reads no resource from this request, so it cannot be asked about
        call = {"role": role, "action": action, "resource": plain(decision["resource"], names)}
        context = {
            key: value_of(key, value, names)
            for key, value in sorted(decision["context"].items())
            if value and counts(key)
        }
        different.setdefault(tuple(call.values()), call | ({"context": context} if context else {}))
    return [different[key] for key in sorted(different)]


def merged(
    known: Iterable[dict[str, Any]], seen: Iterable[dict[str, Any]], resources: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Add the calls of these runs to the known ones that are still granted: a run makes some calls only by chance."""
    grants = {(grant.role, grant.action) for grant in granted()}
    there = {*resources, "partition", "region", "account", "stack", "userid"}
    kept = [
        call
        for call in known
        if (call["role"], call["action"]) in grants and set(re.findall(r"{(\w+)}", call["resource"])) <= there
    ]
    by_name = {(call["role"], call["action"], call["resource"]): call for call in (*kept, *seen)}
    return [by_name[name] for name in sorted(by_name)]


def counts(key: str) -> bool:
    """Whether policies may check a key: of tags only the project's. A key ending with / means that tags are known."""
    return not key.endswith("/") and ("tag/" not in key or key.partition("/")[2].startswith(TAGS))


def value_of(key: str, value: str, names: Iterable[tuple[str, str]]) -> str:
    if key.endswith(("/storage-matrix:stack", "/storage-matrix:may-attach")):
        return "{stack}"
    return "verify" if "/storage-matrix:" in key else plain(value, names)


def plain(text: str, names: Iterable[tuple[str, str]]) -> str:
    """A name without the parts of one stack or one run."""
    for logical, physical in names:
        text = text.replace(physical, f"{{{logical}}}")
    for word, stand_in in ((REGION, "{region}"), (ACCOUNT, "{account}"), ("arn:aws:", "arn:{partition}:")):
        text = text.replace(word, stand_in)
    for pattern, stand_in in STAND_INS:
        text = re.sub(pattern, stand_in, text)
    return text


def written(listed: Iterable[Mapping[str, Any]]) -> str:
    """One call a line, so that a change shows as lines."""
    return "[\n" + ",\n".join(json.dumps(call) for call in listed) + "\n]\n"


if __name__ == "__main__":
    from system.test_privilege import recorded

    with recorded() as (decisions, resources):
        CALLS.write_text(written(merged(json.loads(CALLS.read_text()), calls(decisions, resources), resources)))
