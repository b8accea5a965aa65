"""job.json, checked before any change.

Our own functions write it (functions/matrix/terms/documents/job.py) from a checked matrix, and the roles let no
instance write it, so it is trusted. Names of folders are checked anyway, because the agent removes what is in them.
"""

from __future__ import annotations

import json
import re
from typing import Any

from agent.board.barrier import BarrierRule
from agent.errors import JobInvalid
from agent.job import Job, Step

SCHEMA = 1
BARRIER = ("poll_s", "margin_s", "request_s", "timeout_s")

# Run and cell become folder names on the storage and parts of keys.
SAFE_NAME = re.compile(r"[A-Za-z0-9_:][A-Za-z0-9._:-]{0,127}")


def parse(body: bytes, instance_id: str, userid: str = "", subnet: str = "") -> Job:
    """Return the job that `body` describes, for this instance. Raises JobInvalid, which lists every problem."""
    try:
        document = json.loads(body)
    except ValueError as err:
        raise JobInvalid(f"job.json is not JSON: {err}") from err
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise JobInvalid(f"job.json is of no schema that this agent knows: it speaks {SCHEMA}")
    try:
        document["mount"] = _mount_in(subnet, document["mount"])
        _check_names(document)
        return _job(document, instance_id, userid)
    except (KeyError, TypeError, ValueError) as err:
        raise JobInvalid(f"job.json is not as documents/job.py says: {type(err).__name__}: {err}") from err


def _job(document: dict[str, Any], instance_id: str, userid: str) -> Job:
    rule = document.get("barrier")
    params = {point["id"]: point["params"] for point in document["points"]}
    mount = _with_names(document["mount"], {"{instance_id}": instance_id, "{userid}": userid})
    if any(of_point.get("container") for of_point in params.values()):
        mount["is_for_containers"] = True
    return Job(
        kind=document["kind"],
        run=document["run"],
        cell=document["cell"],
        environment=document["environment"],
        bucket=document["bucket"],
        prefix=document["prefix"],
        deadline_at=document.get("deadline_at"),
        heartbeat_s=float(document.get("heartbeat_s") or 30),
        barrier=BarrierRule(**{name: float(rule[name]) for name in BARRIER}) if rule else None,
        storage=document["storage"],
        mount=mount,
        workload=document["workload"],
        steps=tuple(_steps(document, params)),
        instances=max(1, int(document.get("instances") or 1)),
        emulation=document.get("emulation"),
        work_mount=document.get("work_mount"),
        provisions=document.get("provisions") or {},
    )


def _steps(document: dict[str, Any], params: dict[str, dict[str, Any]]) -> list[Step]:
    steps = document.get("steps")
    if not steps and document["kind"] == "populate":
        # One population fills the caches of every point.
        steps = [{"point": point, "repetition": 1} for point in list(params)[:1]]
    return [Step(n, s["point"], s["repetition"], params[s["point"]]) for n, s in enumerate(steps or [])]


def _mount_in(subnet: str, mount: dict[str, Any]) -> dict[str, Any]:
    """Return how an instance of this subnet mounts: if there are several file systems, the one in its subnet."""
    if "by_subnet" not in mount:
        return mount
    if subnet not in mount["by_subnet"]:
        raise JobInvalid(
            f"no file system in subnet {subnet or 'unknown'}: there are some in {', '.join(mount['by_subnet'])}"
        )
    own: dict[str, Any] = mount["by_subnet"][subnet]
    return own


def _with_names(mount: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    """Return the mount with this instance's own names in its path or prefix."""
    own = dict(mount)
    for place in ("path", "prefix"):
        for written, name in names.items():
            if place in own:
                own[place] = own[place].replace(written, name)
    return own


def _check_names(document: dict[str, Any]) -> None:
    """Raise JobInvalid where a name could lead out of the storage: what is below these folders is removed."""
    names = {"run": document["run"], "cell": document["cell"]}
    if "folder" in document["mount"]:
        names["mount.folder"] = document["mount"]["folder"]
    for field, name in names.items():
        if not SAFE_NAME.fullmatch(name):
            raise JobInvalid(f"{field}: {name!r} must be 1 to 128 of A-Z a-z 0-9 . _ : -, not beginning with . or -")
