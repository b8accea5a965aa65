"""What is run, which faults are injected into it, and which of them share a run."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.owned import THEIR_EFS, THEIR_FILES, THEIR_FSX, THEIR_SNAPSHOT, THEIR_VOLUME
from support.runs import EBS, EFS, matrix

ROOT = Path(__file__).parents[2]


TOUCH = {"type": "touch", "name": "t", "files": 8, "threads": 1}
BUILD = {"type": "build", "name": "b", "expectedSeconds": 1}
FSX = {
    "type": "fsx-openzfs",
    "name": "fsx",
    "deploymentType": "SINGLE_AZ_1",
    "storageCapacityGiB": 64,
    "throughputCapacityMBps": 64,
}
LUSTRE = {
    "type": "fsx-lustre",
    "name": "lustre",
    "deploymentType": "PERSISTENT_2",
    "storageCapacityGiB": 1200,
    "throughputMBpsPerTiB": 125,
}
ONTAP = {"type": "fsx-ontap", "name": "ontap", "storageCapacityGiB": 1024, "throughputMBpsPerHaPair": 1536}
READ = {"type": "read", "name": "r", "access": ["random"], "requests": 16, "requestSize": "64KiB", "threads": 1}
FIO = {
    **{"type": "fio", "name": "f", "device": True, "rw": "randwrite", "bs": "4k", "size": "1M", "ioengine": "psync"},
    **{"fdatasync": 1, "time_based": 1, "runtime": 2},
}
# An image is found again by its recipe: with its own in each run, each run bakes.
OWN_IMAGE = {"bake": True, "packages": ["of-$RUN"]}
ONE, TWO = ({"instanceType": "m6i.large", "count": count} for count in (1, 2))
# What is run, the cheapest first: each call is taken from the first scenario that makes it.
SCENARIOS: dict[str, dict[str, Any]] = {
    "alone": matrix(storage=[EBS | {"name": "ebs"}], workload=[TOUCH], fleet=[ONE]),
    "shared": matrix(storage=[EFS | {"name": "efs"}], workload=[TOUCH], fleet=[TWO]),
    "fsx": matrix(storage=[FSX | {"fileSystems": 2}], workload=[TOUCH], fleet=[TWO]),
    "lustre": matrix(storage=[LUSTRE], workload=[TOUCH], fleet=[ONE]),
    "ontap": matrix(storage=[ONTAP], workload=[TOUCH], fleet=[ONE]),
    "cached": matrix(
        storage=[EFS | {"name": "efs"}],
        workload=[BUILD | {"populate": "echo source > $CACHE_DIR/source", "build": "cp $CACHE_DIR/source out"}],
    ),
    "failing": matrix(
        storage=[EBS | {"name": "ebs"}],
        workload=[BUILD | {"build": "exit 7"}],
        include=[
            {
                "storage": EFS | {"name": "efs"},
                "workload": BUILD | {"populate": "exit 8", "build": "true"},
                "fleet": ONE,
            }
        ],
    ),
    "stopped": matrix(storage=[EFS | {"name": "efs"}], workload=[BUILD | {"build": "sleep 30"}]),
    "unmade": matrix(storage=[FSX], workload=[TOUCH], fleet=[ONE]),
    "half-made": matrix(storage=[FSX | {"fileSystems": 2}], workload=[TOUCH], fleet=[TWO]),
    "objects": matrix(storage=[{"type": "s3", "name": "s3"}], workload=[READ], fleet=[ONE]),
    "served": matrix(
        storage=[{"type": "file-server", "name": "server", "instanceType": "m6i.large"}], workload=[READ], fleet=[ONE]
    ),
    "device": matrix(storage=[EBS | {"name": "ebs"}], workload=[FIO], fleet=[ONE]),
    "existing": matrix(
        storage=[
            {"type": "efs", "name": "theirs", "fileSystemId": THEIR_EFS},
            EBS | {"name": "copied", "snapshotId": THEIR_SNAPSHOT},
        ],
        workload=[TOUCH],
        fleet=[ONE],
    ),
    "existing-fsx": matrix(
        storage=[FSX | {"name": "theirs", "fileSystemId": THEIR_FSX}], workload=[TOUCH], fleet=[ONE]
    ),
    "existing-volume": matrix(
        storage=[EBS | {"name": "theirs", "volumeId": THEIR_VOLUME, "mayWrite": True}], workload=[TOUCH], fleet=[ONE]
    ),
    "files": matrix(storage=[{"type": "s3-files", "name": "files"}], workload=[TOUCH], fleet=[TWO]),
    "express": matrix(storage=[{"type": "s3-express", "name": "express"}], workload=[READ], fleet=[ONE]),
    "mounted": matrix(
        storage=[{"type": "mountpoint", "name": "mounted", "storageClass": "EXPRESS_ONEZONE"}],
        workload=[TOUCH],
        fleet=[ONE],
    ),
    "existing-files": matrix(
        storage=[{"type": "s3-files", "name": "theirs", "fileSystemId": THEIR_FILES}], workload=[TOUCH], fleet=[ONE]
    ),
    "baked": matrix(storage=[EBS | {"name": "ebs"}], workload=[TOUCH], fleet=[ONE], image=OWN_IMAGE),
    "unbaked": matrix(storage=[EBS | {"name": "ebs"}], workload=[TOUCH], fleet=[ONE], image=OWN_IMAGE),
}
# Of services that others ask about what they have made, these ask about what is somebody's, or of another kind: both
# calls are befallen.
OF_THEIRS = {
    **{"existing": ("elasticfilesystem:",), "existing-fsx": ("fsx:",), "lustre": ("fsx:",), "ontap": ("fsx:",)},
    "existing-files": ("s3files:",),
}
# What befalls a scenario anyway, and how it ends then; the others succeed.
FATE: dict[str, dict[str, Any]] = {
    "stopped": {"fault": "stopped", "who": "Run", "action": "enter", "what": "Poll fleet", "nth": 3},
    # Not "Wait for file system": on a busy machine the file system is there at the first look.
    "unmade": {"fault": "stopped", "who": "Run", "action": "enter", "what": "Check file system"},
    # The second zone has no more of what the first has given.
    "half-made": {
        "fault": "denied",
        "who": "CreateFileSystem",
        "action": "fsx:CreateFileSystem",
        "nth": 2,
        "times": None,
    },
    "unbaked": {"fault": "denied", "who": "BakeImages", "action": "ec2:CreateImage", "times": None},
}
STATUS = {"failing": "FAILED", "half-made": "FAILED", "unbaked": "FAILED", "stopped": "ABORTED", "unmade": "ABORTED"}
LATE, EVERYTHING = "late", "everything"
# How late AWS may be, in seconds (tests/cloud/faults/lateness.py). For a grant Step Functions waits, whose waits pass
# TIME_SCALE times faster here.
TIME_SCALE = 10
LATE_S: dict[str, float] = {
    "executions": 5, "instances": 20, "tags": 5, "names": 90, "mount targets": 1, "deletion": 20,
    "grants": 10 / TIME_SCALE,
}  # fmt: skip
# Each thing that is late where it matters most; everything at once is late in each scenario.
LATE_ALONE = {
    "executions": ("alone", "stopped"),
    "instances": ("alone", "stopped", "served", "baked"),
    "tags": ("shared", "fsx", "stopped", "served"),
    "names": ("shared", "fsx", "cached"),
    "mount targets": ("shared",),
    "deletion": ("unmade",),
    "grants": ("alone", "stopped"),
}
# A fault and how many calls in a row it befalls; None: all that follow.
Kind = tuple[str, int | None]
THROTTLED, THROTTLED_FOR_GOOD, DENIED = ("throttled", 3), ("throttled", None), ("denied", None)
BROKEN, BROKEN_FOR_GOOD, LOST, CRASH = ("internal error", 2), ("internal error", None), ("lost answer", 1), ("crash", 1)
# The first call of each function meets every fault. Of its others, those that fail for good do so as denied ones (one
# ClientError is caught as another), and a read has no effect to lose and is retried after a 500 as when throttled.
KINDS_OF_FIRST: tuple[Kind, ...] = (THROTTLED, THROTTLED_FOR_GOOD, DENIED, BROKEN, LOST, CRASH)
KINDS_OF_WRITES: tuple[Kind, ...] = (THROTTLED, DENIED, BROKEN, LOST, CRASH)
KINDS_OF_READS: tuple[Kind, ...] = (THROTTLED, DENIED, CRASH)
# Step Functions calls functions: there is nothing to crash but what it calls, and its own retries are worth a look.
KINDS_OF_INVOKE: tuple[Kind, ...] = (THROTTLED, THROTTLED_FOR_GOOD, DENIED, BROKEN_FOR_GOOD, LOST)
READS = ("Get", "List", "Describe", "Query")
# In these an execution has ended already.
ENDS = {"Run measured", "Some cells failed", "Planned", "Over budget"}
MAX_FAULTS_OF_A_RUN = 8


@dataclass(frozen=True)
class Case:
    scenario: str
    who: str
    action: str
    what: str
    fault: str
    times: int | None

    @property
    def id(self) -> str:
        """A readable name, the same for each run of the harness."""
        if self.fault == LATE:
            return f"{self.scenario} late {self.what}"
        times = "always" if self.times is None else f"{self.times}x"
        return " ".join(part for part in (self.scenario, self.who, self.action, self.what, self.fault, times) if part)

    def rules(self, run: str, late_s: Mapping[str, float] = LATE_S) -> list[dict[str, Any]]:
        """The rules for tests/cloud/faults/injection.py; `late_s` is how late each thing is that is late."""
        if self.fault == LATE:
            names = list(late_s) if self.what == EVERYTHING else [self.what]
            late = {"fault": LATE, "run": run}
            return [late | {"id": f"{run} {name}", "what": name, "seconds": late_s[name]} for name in names]
        about = {name: getattr(self, name) for name in ("who", "action", "what", "fault", "times")}
        return [{"id": f"{run} {self.id}", "run": run, **about}]


# Cases that share a run.
Trial = tuple[Case, ...]


def fate(scenario: str, run: str) -> list[dict[str, Any]]:
    """The rule for what befalls a scenario anyway."""
    return [{"id": f"fate of {run}", "run": run, **FATE[scenario]}] if scenario in FATE else []


def work_list(recorded: dict[str, list[dict[str, Any]]]) -> list[Case]:
    """The cases: each different call of each function with each fault, and a stop in each state."""
    seen: set[tuple[str, str, str, str]] = set()
    cases: list[Case] = []
    for scenario, calls in recorded.items():
        for call in calls:
            key = (call["who"], call["action"], call["what"])
            whose = scenario if call["action"].startswith(OF_THEIRS.get(scenario, ())) else ""
            if (*key, whose) in seen:
                continue
            is_first = all(who != key[0] for who, *_ in seen)
            seen.add((*key, whose))
            cases += [Case(scenario, *key, fault, times) for fault, times in kinds(scenario, *key, is_first=is_first)]
    return cases


def late_cases() -> list[Case]:
    """Each thing that AWS shows late, alone where it matters, and all of them at once in each scenario."""
    alone = [(scenario, what) for what, scenarios in LATE_ALONE.items() for scenario in scenarios]
    both = [*alone, *((scenario, EVERYTHING) for scenario in SCENARIOS)]
    return [Case(scenario, "AWS", LATE, what, LATE, None) for scenario, what in both]


def is_read(action: str) -> bool:
    return action.partition(":")[2].startswith(READS)


def kinds(scenario: str, who: str, action: str, what: str, *, is_first: bool) -> Iterable[Kind]:
    """The faults worth injecting into a call."""
    if action == "enter":
        return [] if STATUS.get(scenario) == "ABORTED" or what in ENDS else [("stopped", 1)]
    if action == "lambda:Invoke":
        return KINDS_OF_INVOKE
    if who == "Instance" and action == "s3:GetObject" and what in ("gate", "roster.json"):
        # 403 means "not yet" to an agent that may not list: for good it would wait until its deadline, an hour.
        return (THROTTLED, ("denied", 3), CRASH)
    if action == "sts:GetCallerIdentity":
        return (THROTTLED, CRASH)  # no policy can deny it
    if is_first:
        return KINDS_OF_FIRST
    return KINDS_OF_READS if is_read(action) else KINDS_OF_WRITES


def trials(cases: Iterable[Case]) -> list[Trial]:
    """Cases by run: those that a run shall survive share one, where they befall different functions.

    What of such a run is not as it shall be is taken apart, and each of its faults injected alone.
    """
    alone: list[list[Case]] = []
    shared: dict[tuple[str, str, int | None], list[list[Case]]] = {}
    for case in cases:
        if not is_survivable(case):
            alone.append([case])
            continue
        groups = shared.setdefault((case.scenario, case.fault, case.times), [])
        for group in groups:
            if len(group) < MAX_FAULTS_OF_A_RUN and function_of(case) not in map(function_of, group):
                group.append(case)
                break
        else:
            groups.append([case])
    both = alone + [group for groups in shared.values() for group in groups]
    # In an order of chance, the same each time: an interrupted harness has seen something of everything.
    return sorted((tuple(group) for group in both), key=run_name)


def run_name(trial: Trial) -> str:
    return f"f-{hashlib.sha256(' '.join(case.id for case in trial).encode()).hexdigest()[:10]}"


def is_survivable(case: Case) -> bool:
    """Whether retries get a run over the fault, so that it may have others beside it."""
    is_instance_lost = case.who == "Instance" and case.fault == "crash"
    return not (case.times is None or case.fault == "stopped" or is_instance_lost or is_of_first_run(case))


def is_of_first_run(case: Case) -> bool:
    """Whether only the first run of a cloud makes the call."""
    return (case.action, case.what) == ("s3:PutObject", "agent")


def function_of(case: Case) -> tuple[str, str]:
    """The function that a fault befalls, from within or from without."""
    return (case.who, case.what if case.who == "Run" else "")


def stratified(cases: Iterable[Case], number: int) -> list[Case]:
    """Some cases: every kind of fault, and as many different functions as possible; the same ones each time."""
    chosen: list[Case] = []
    shuffled = sorted(cases, key=lambda case: hashlib.sha256(case.id.encode()).hexdigest())
    while shuffled and len(chosen) < number:
        faults, callers = (Counter(getattr(case, name) for case in chosen) for name in ("fault", "who"))
        best = min(shuffled, key=lambda case: (faults[case.fault], callers[case.who]))
        chosen.append(best)
        shuffled.remove(best)
    return chosen
