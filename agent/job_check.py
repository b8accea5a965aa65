"""job.json, checked completely before anything is touched."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from agent import workloads
from agent.errors import JobInvalid
from agent.job import BarrierRule, Job, Step

SCHEMA = 1


# Run and cell become folder names on the storage and parts of keys.
SAFE_NAME = re.compile(r"[A-Za-z0-9._:-]{1,128}")


def parse(body: bytes, instance_id: str, userid: str = "") -> Job:
    """Return the job that `body` describes, for this instance. Raises JobInvalid, which lists every problem."""
    try:
        document = json.loads(body)
    except ValueError as err:
        raise JobInvalid(f"job.json is no JSON: {err}") from err
    problems = _problems(document)
    if problems:
        raise JobInvalid("; ".join(problems))
    rule = document.get("barrier")
    params = {point["id"]: point["params"] for point in document["points"]}
    return Job(
        kind=document["kind"],
        run=document["run"],
        cell=document["cell"],
        environment=document["environment"],
        bucket=document["bucket"],
        prefix=document["prefix"],
        deadline_at=document.get("deadline_at"),
        heartbeat_s=float(document.get("heartbeat_s") or 30),
        barrier=BarrierRule(float(rule["poll_s"]), float(rule["timeout_s"])) if rule else None,
        storage=document["storage"],
        mount=_lent_to(document["mount"], {"{instance_id}": instance_id, "{userid}": userid}),
        workload=document["workload"],
        steps=tuple(_steps(document, params)),
        instances=max(1, int(document.get("instances") or 1)),
        emulation=document.get("emulation"),
        provisions=document.get("provisions") or {},
    )


def _steps(document: dict[str, Any], params: dict[str, dict[str, Any]]) -> list[Step]:
    steps = document.get("steps")
    if not steps and document["kind"] == "populate":
        # One population fills the caches of every point.
        steps = [{"point": point, "repetition": 1} for point in list(params)[:1]]
    return [Step(n, s["point"], s["repetition"], params[s["point"]]) for n, s in enumerate(steps or [])]


def _lent_to(mount: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    """Return the mount with this instance's own names in its path or prefix."""
    own = dict(mount)
    for place in ("path", "prefix"):
        for written, name in names.items():
            if place in own:
                own[place] = own[place].replace(written, name)
    return own


FIELDS: tuple[tuple[str, type], ...] = (
    ("kind", str),
    ("run", str),
    ("cell", str),
    ("environment", str),
    ("bucket", str),
    ("prefix", str),
    ("storage", dict),
    ("mount", dict),
    ("workload", dict),
    ("points", list),
)


def _problems(document: Any) -> list[str]:
    if not isinstance(document, dict):
        return ["job.json is no object"]
    if document.get("schema") != SCHEMA:
        return [f"schema: {document.get('schema')!r} is unknown to this agent, it speaks {SCHEMA}"]
    wrong = [
        f"{field}: {document.get(field)!r} is not a {kind.__name__}"
        for field, kind in FIELDS
        if not isinstance(document.get(field), kind)
    ]
    if wrong:
        return wrong
    problems = [*_header_problems(document), *_mount_problems(document["mount"]), *_provision_problems(document)]
    if document["kind"] == "bake":
        return problems
    return [*problems, *_point_problems(document), *_emulation_problems(document)]


def _header_problems(document: dict[str, Any]) -> list[str]:
    problems = []
    if document["kind"] not in ("measure", "populate", "serve", "bake"):
        problems.append(f"kind: {document['kind']!r} is none of 'measure', 'populate', 'serve', 'bake'")
    problems += [
        f"{field}: {document[field]!r} must be 1 to 128 of A-Z a-z 0-9 . _ : -, not beginning with . or -"
        for field in ("run", "cell")
        if not SAFE_NAME.fullmatch(document[field]) or document[field].startswith((".", "-"))
    ]
    rule = document.get("barrier")
    if rule is not None and not (_is_positive(rule.get("poll_s")) and _is_positive(rule.get("timeout_s"))):
        problems.append(f"barrier: {rule!r} needs poll_s and timeout_s above 0, or null for an instance alone")
    return problems


def _mount_problems(mount: dict[str, Any]) -> list[str]:
    needs = {
        "root": (),
        "ebs": ("devices", "fstype"),
        "instance-store": ("fstype",),
        "nfs": ("source", "options"),
        "efs": ("source", "options"),
        "s3": ("bucket", "prefix", "region", "client"),
        "mountpoint": ("bucket", "prefix", "region"),
        "file-server": ("host", "port", "token"),
        "directory": ("path",),
    }
    kind = mount.get("kind")
    if kind not in needs:
        return [f"mount.kind: {kind!r} is none of {', '.join(needs)}"]
    missing = [f"mount.{field}: missing for kind '{kind}'" for field in needs[kind] if not mount.get(field)]
    if kind == "directory" and not missing and not Path(mount["path"]).is_absolute():
        return [f"mount.path: {mount['path']!r} is not absolute"]
    return missing


def _provision_problems(document: dict[str, Any]) -> list[str]:
    wanted = document.get("provisions") or {}
    if not isinstance(wanted, dict):
        return [f"provisions: {wanted!r} is no object"]
    return [
        f"provisions.{name}: {wanted[name]!r} is no list of names"
        for name in ("tools", "packages", "containers")
        # A name that begins with a dash would be an option of the package manager.
        if not all(isinstance(needed, str) and needed[:1].isalnum() for needed in wanted.get(name, []))
    ]


def _point_problems(document: dict[str, Any]) -> list[str]:
    if document["kind"] == "serve":
        return []
    kind = document["workload"].get("type")
    if kind not in workloads.TYPES:
        return [f"workload.type: {kind!r} is none of {', '.join(workloads.TYPES)}"]
    points = {point.get("id"): point.get("params") or {} for point in document["points"]}
    problems = [
        f"points[{point}]: {problem}"
        for point, params in points.items()
        for problem in workloads.problems(kind, params)
    ]
    problems += [
        f"steps[{n}].point: {step.get('point')!r} is not among the points"
        for n, step in enumerate(document.get("steps") or [])
        if step.get("point") not in points
    ]
    if not points or (not document.get("steps") and document["kind"] == "measure"):
        problems.append("points, steps: there is nothing to measure")
    return problems


EMULATED_FIELDS = ("create_s", "create_operations", "read_s", "write_s", "sync_s")


def _emulation_problems(document: dict[str, Any]) -> list[str]:
    rule = document.get("emulation")
    if rule is None:
        return []
    if not isinstance(rule, dict):
        return [f"emulation: {rule!r} is no object"]
    if document["mount"].get("kind") != "directory":
        return ["emulation: only for a directory of this machine, a mounted storage has a speed of its own"]
    problems = [
        f"emulation.{field}: {rule.get(field)!r} is no number of at least 0"
        for field in EMULATED_FIELDS
        if not (_is_positive(rule.get(field)) or rule.get(field) == 0)
    ]
    problems += [
        f"emulation.{field}: {rule[field]!r} is neither null nor above 0"
        for field in ("iops", "bytes_per_s", "unit_bytes")
        if rule.get(field) is not None and not _is_positive(rule[field])
    ]
    # Every other program would measure this machine's disk and call it the storage.
    problems += [
        f"points[{point.get('id')}]: {point['params'].get('tool', 'this workload')!r} cannot be emulated, "
        "only the agent's own engines"
        for point in document["points"]
        if not workloads.can_be_emulated(document["workload"].get("type"), point.get("params") or {})
    ]
    return problems


def _is_positive(number: Any) -> bool:
    return isinstance(number, (int, float)) and not isinstance(number, bool) and number > 0
