"""The uploads of an instance for a cell of run `r`: samples that name their raw files, and those files."""

import json
import re
from collections.abc import Mapping

import boto3

from matrix.samples.file import SampleFile, read_samples

STEP = re.compile(r"(?P<point>p[0-9]+)-r(?P<repetition>[0-9]+)\.")


def upload(cell: str, instance: str, raw: Mapping[str, bytes], beside: Mapping[str, bytes] | None = None) -> SampleFile:
    """Upload these raw files (by name), samples of their steps, and objects beside them; return the samples."""
    folder = f"runs/r/cells/{cell}/instances/AROA1:{instance}"
    names: dict[tuple[str, int], list[str]] = {}
    for name in raw:
        match = STEP.match(name)
        assert match
        names.setdefault((match["point"], int(match["repetition"])), []).append(f"raw/{name}")
    samples = [
        {
            "point": point, "repetition": repetition, "step": step, "started_at": 1.0, "ended_at": 2.0,
            "metrics": {"duration_s": 1.0}, "raw": of_step,
        }
        for step, ((point, repetition), of_step) in enumerate(names.items())
    ]  # fmt: skip
    document = {"run": "r", "cell": cell, "instance": {"id": instance, "type": "m6i.large"}, "samples": samples}
    text = json.dumps(document).encode()
    objects = {"samples.json": text, **{f"raw/{name}": body for name, body in raw.items()}, **(beside or {})}
    for name, body in objects.items():
        boto3.client("s3").put_object(Bucket="results", Key=f"{folder}/{name}", Body=body)
    return read_samples(text, instance=instance, cell=cell)
