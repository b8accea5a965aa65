"""Provenance of a cell: agents, kernels, mount options and tools, each with its number of instances.

No figure depends on these claims of agents, so none is refused; long ones are cut to a readable length.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from matrix.samples.file import MAX_VALUES, SampleFile


def provenance(files: Sequence[SampleFile]) -> dict[str, dict[str, int]]:
    """Return each fact of a fleet with its values and how many instances (of tools and caches: samples) had it."""
    samples = [sample for file in files for sample in file.samples]
    facts: dict[str, list[str | None]] = {
        "agent": [_joined(file.agent.version, file.agent.sha256) for file in files],
        "instance type": [file.instance.type for file in files],
        "Availability Zone": [file.instance.availability_zone for file in files],
        "kernel": [file.host.kernel for file in files],
        "system": [_joined(file.host.os, file.host.architecture) for file in files],
        "processors": [file.host.cpus for file in files],
        "memory (MiB)": [file.host.memory_mib for file in files],
        "Python": [file.host.python for file in files],
        "mount": [_joined(file.mount.kind, file.mount.fstype, file.mount.options) for file in files],
        "tool": [_joined(sample.tool.name, sample.tool.version) for sample in samples],
        "workers": [sample.tool.mode for sample in samples],
        "caches": [sample.caches for sample in samples],
    }
    counted = {name: _counted(values) for name, values in facts.items()}
    return {name: values for name, values in counted.items() if values}


def _joined(*words: str | None) -> str | None:
    return " ".join(word for word in words if word) or None


def _counted(values: Sequence[str | None]) -> dict[str, int]:
    counts = Counter(value for value in values if value)
    return dict(counts.most_common(MAX_VALUES))


def lines(facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Write each fact as one line: its values, with counts if there are several."""
    return [
        (
            name,
            "; ".join(f"{value} ({count})" for value, count in values.items())
            if len(values) > 1
            else next(iter(values)),
        )
        for name, values in facts.items()
        if values
    ]
