"""A matrix to start from: one typical storage and workload of each kind, combined and written as text."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any, TypeAlias

from matrix.check.read import read_matrix
from matrix.input import workloads
from matrix.input.workloads.fio import FioWorkload
from matrix.plan.account import vcpus_of
from matrix.price.book import published_prices
from matrix.storages.base import USUAL_INSTANCE_TYPE
from matrix.storages.models import MODELS
from matrix.terms.documents.parts import Part
from matrix.terms.problems import InvalidMatrix

# Unchecked fields of a matrix; `read_matrix` validates them.
MatrixFields: TypeAlias = dict[str, Any]

# Fields beyond the required ones, so that a first run measures something useful.
WORKLOADS: Mapping[str, Part] = {
    "touch": {"files": 1024, "threads": [1, 4, 16]},
    "metadata": {"files": 1024, "threads": [1, 4, 16]},
    "dd": {"dataSize": "1GiB", "threads": [1, 4]},
    "fio": {
        "rw": ["randread", "randwrite"], "bs": "4k", "ioengine": "libaio", "iodepth": 16, "direct": 1, "size": "4G",
        "time_based": 1, "runtime": 60,
    },
    "read": {"requestSize": "1MiB", "requests": 1024, "threads": [1, 4]},
    "build": {
        "prepare": "git clone --depth 1 https://github.com/git/git $BUILD_DIR", "build": "make -C $BUILD_DIR -j$JOBS",
        "expectedReadGiB": 1, "expectedWriteGiB": 1,
    },
    "transfer": {"tool": ["cp", "rsync"]},
    # Needs no server and no network.
    "command": {
        "name": "unpack", "command": "tar xf src.tar", "expectedSeconds": 30,
        "expectedReadGiB": 0.1, "expectedWriteGiB": 0.2,
        "prepare": "mkdir src && seq 20000 | split -a 4 -l 10 - src/ && tar cf src.tar src && rm -r src",
    },
}  # fmt: skip
COMMAND = "command"
MAX_NAME_LENGTH = 40


# Paths in a matrix at which problems of a part are reported.
PATHS = {
    "name": "name", "storages": "storage", "workloads": "workload", "instance_type": "fleet[0].instanceType",
    "counts": "fleet[0].count", "repetitions": "repetitions", "own": "workload",
}  # fmt: skip


def storage_kinds() -> dict[str, str]:
    """Return one sentence that describes each type of storage."""
    return {kind: _sentence(model) for kind, model in MODELS.items()}


def workload_kinds() -> dict[str, str]:
    """Return one sentence that describes each type of workload."""
    return {kind: _sentence(model) for kind, model in workloads.MODELS.items()}


def usual_workload(kinds: Iterable[str]) -> str:
    """Return a workload that can be done on storages of these types."""
    return "read" if any(MODELS[kind].traits.is_only_read for kind in kinds if kind in MODELS) else "touch"


def usual_instance_type(kinds: Iterable[str]) -> str:
    """Return an instance type that storages of these types can be used from."""
    usual = [MODELS[kind].traits.usual_instance_type for kind in kinds if kind in MODELS]
    # Of several storages one may need a type of its own, from which the others can be used, too.
    return next((name for name in usual if name != USUAL_INSTANCE_TYPE), USUAL_INSTANCE_TYPE)


def describe_machine(instance_type: str) -> str:
    """Return what an instance type is and costs on demand: `2 vCPUs, $0.096 an hour`."""
    hour = published_prices().instance_hour(instance_type)
    return f"{vcpus_of(instance_type)} vCPUs, ${hour.usd:.3g} an hour"


def own_command(command: str, prepare: str, seconds: int) -> Part:
    """Return the fields of a workload that runs this command; its name is that of the program."""
    program = re.split(r"[^a-z0-9]+", PurePosixPath((command.split() or [COMMAND])[0]).name.lower())
    name = "-".join(filter(None, program))[:MAX_NAME_LENGTH].strip("-") or COMMAND
    return {"name": name, "command": command, "expectedSeconds": seconds} | ({"prepare": prepare} if prepare else {})


@dataclass
class Draft:
    """The answers so far while `matrix new` asks for the parts of a matrix; the other fields have defaults."""

    name: str = "my-matrix"
    storages: list[str] = field(default_factory=lambda: ["ebs", "efs"])
    workloads: list[str] = field(default_factory=list)
    own: Part = field(default_factory=dict)  # fields of the user's own command
    given: Part | None = None
    """A workload that was made already, instead of `workloads`."""
    instance_type: str = ""
    counts: list[int] = field(default_factory=lambda: [1, 10])
    repetitions: int = 3

    def document(self, schema: str | None = None) -> MatrixFields:
        """Return the matrix; `schema` is the file that it names as its schema."""
        starters = {**WORKLOADS, **({COMMAND: self.own} if self.own else {})}
        work = [
            _element(kind, workloads.MODELS, starters) for kind in self.workloads or [usual_workload(self.storages)]
        ]
        machine = self.instance_type or usual_instance_type(self.storages)
        return {
            **({"$schema": f"./{schema}"} if schema else {}),
            "name": self.name,
            "storage": [
                _element(kind, MODELS, {name: model.traits.starter for name, model in MODELS.items()})
                for kind in self.storages
            ],
            "workload": [self.given] if self.given else work,
            "fleet": [{"instanceType": machine, "count": self.counts if len(self.counts) > 1 else self.counts[0]}],
            "repetitions": self.repetitions,
        }

    def problems(self, part: str, answer: Any) -> list[str]:
        """Return the problems of one answer, each with its fix; problems of earlier answers are not repeated."""
        path = PATHS[part]
        try:
            read_matrix(text(replace(self, **{part: answer}).document()))
        except InvalidMatrix as invalid:
            mine = [each for each in invalid.problems if each.path.startswith(path)]
            return [f"{each.value!r} {each.rule}: {each.fix}" for each in mine]
        return []


def of_job_file(job_file: str, folder: Path, values: Mapping[str, str] | None = None) -> tuple[Part, list[str]]:
    """Return the workload of a fio job file, with the lines of files that it includes; and its lines that change.

    Those files are beside it, in `folder`. `values` are of variables, such as ${SIZE}; one that no line has is an
    option of all jobs, as on fio's command line. What cannot be read or is not given stays, and is refused.
    """
    lines: list[str] = []
    for line in job_file.splitlines():
        name = folder / line.strip().removeprefix("include").strip()
        is_include = line.strip().startswith("include ") and name.is_file()
        lines += name.read_text(errors="replace").splitlines() if is_include else [line.rstrip()]
    text = "\n".join(lines).strip() + "\n"
    given = dict(values or {})
    for variable in [each for each in given if f"${{{each}}}" in text]:
        text = text.replace(f"${{{variable}}}", given.pop(variable))
    if given:
        text = "\n".join(["[global]", *(f"{name}={value}" for name, value in given.items()), text])
    workload = FioWorkload.model_construct(type="fio", job_file=text)
    changes = dict.fromkeys(
        f"{change.name}={change.value} {change.becomes}"
        for each in workload.sections
        for change in workload.changes(each.options)
    )
    return {"type": "fio", "jobFile": text}, list(changes)


def text(matrix: MatrixFields) -> str:
    """Write a matrix as a person would: each storage, workload and fleet on a line of its own."""
    parts = []
    for key, value in matrix.items():
        entries = ",\n".join(f"    {json.dumps(entry)}" for entry in value) if isinstance(value, list) else ""
        parts.append(f"  {json.dumps(key)}: " + (f"[\n{entries}\n  ]" if entries else json.dumps(value)))
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _element(kind: str, models: Mapping[str, Any], starters: Mapping[str, Mapping[str, Any]]) -> Part:
    model = models.get(kind)
    examples = {
        field.alias or name: field.examples[0]
        for name, field in (model.model_fields if model else {}).items()
        if field.is_required() and field.examples
    }
    return {"type": kind, **examples, **starters.get(kind, {})}


def _sentence(model: type) -> str:
    return (model.__doc__ or "").strip().splitlines()[0].rstrip(".").partition(";")[0]
