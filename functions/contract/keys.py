"""Names of the objects below a fleet's folder in the results bucket. Agents write most of them, functions read them."""

from __future__ import annotations

import re
from dataclasses import dataclass

VOLUMES = "volumes.json"
# Below it each instance writes only below its own `aws:userid`, which EC2 sets to `<role id>:<instance id>`.
INSTANCES = "instances/"
# Names of the files that each instance writes there.
HEARTBEAT, SAMPLES, DONE, FAILED, LOG = "heartbeat", "samples.json", "done.json", "failed.json", "log.gz"

# Measurements of an instance are below `raw/` in its folder, two files a step. No other name there that matters has
# this letter, so a listing can exclude them with it as the delimiter, which S3 limits to one letter. For 1,000
# instances after 60 steps the listing then has 4,000 keys instead of 124,000.
RAW, RAW_LETTER = "raw/", "w"
HISTOGRAMS = "histograms.json"

_STEP_FILE = re.compile(
    rf"{RAW}(?P<point>[A-Za-z0-9_-]{{1,100}})-r(?P<repetition>[0-9]{{1,7}})\.(?P<kind>[a-z.]+?)(?:\.gz)?"
)
_BUNDLE = re.compile(r"latencies-[0-9]{4}\.json\.gz")


def instance_of(userid: str) -> str:
    """Return the instance's id in an `aws:userid`."""
    return userid.rpartition(":")[2]


def stem(point: str, repetition: int) -> str:
    """Return the prefix of the names of a step's files."""
    return f"{point}-r{repetition}"


def raw_name(name: str, *, is_zipped: bool) -> str:
    """Return the name of a step's file below its instance's folder."""
    return f"{RAW}{name}{'.gz' if is_zipped else ''}"


def step_of(name: str, kind: str) -> tuple[str, int] | None:
    """Return point and repetition of a step's file of this kind, plain or zipped; None for any other file."""
    match = _STEP_FILE.fullmatch(name)
    return (match["point"], int(match["repetition"])) if match and match["kind"] == kind else None


def bundle(number: int) -> str:
    """Return the name of a file with the histograms and curves of many steps."""
    return f"latencies-{number:04d}.json.gz"


def is_bundle(name: str) -> bool:
    """Return whether an instance's file of this name is such a bundle."""
    return _BUNDLE.fullmatch(name) is not None


@dataclass(frozen=True)
class BarrierKeys:
    """The keys of the start barrier of one launch, where its instances meet before each step."""

    prefix: str

    @classmethod
    def below(cls, folder: str, nonce: str) -> BarrierKeys:
        """`folder` is the fleet's folder, with the slash at its end; `nonce` is the secret name of the launch."""
        return cls(f"{folder}meet/{nonce}/")

    @property
    def roster(self) -> str:
        """Key of the list of the instances that were launched together."""
        return f"{self.prefix}roster.json"

    @property
    def gates(self) -> str:
        """Prefix of the gates."""
        return f"{self.prefix}gates/"

    def gate(self, step: int) -> str:
        """Key of a step's gate, with its start time."""
        return f"{self.gates}{step:04d}.json"

    def ready(self, step: int) -> str:
        """Prefix of a step's ready marks, which have the names of the ready instances."""
        return f"{self.prefix}ready/{step:04d}/"


def step_of_gate(name: str) -> int | None:
    """Return the step of a gate from its name below the prefix of the gates; None for any other name."""
    digits = name[: -len(".json")] if name.endswith(".json") else ""
    return int(digits) if len(digits) == 4 and digits.isdecimal() and digits.isascii() else None  # noqa: PLR2004
