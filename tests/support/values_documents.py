"""summary.values.json of runs with one storage, as comparisons read them."""

import numpy as np

from matrix.terms.documents.result import MedianUncertainty
from matrix.terms.documents.values import JudgedCell, ValuesDocument


def values(
    run: str, *centers: float, environment: str = "aws", repetitions: int = 3, started_at: float | None = None
) -> ValuesDocument:
    """Return a run with a point of 12 instances for each center, in seconds: 1 % apart."""
    apart = (1 + 0.01 * np.arange(12))[:, None] * (1 + 0.001 * np.arange(repetitions))
    tables = [center * apart for center in centers]
    return of_tables(run, *tables, environment=environment, started_at=started_at, medians=centers)


def of_tables(
    run: str,
    *tables: np.ndarray,
    environment: str = "aws",
    started_at: float | None = None,
    medians: tuple[float, ...] = (),
    uncertainty: MedianUncertainty | None = None,
) -> ValuesDocument:
    """Return a run with a point for each table of seconds: instances (rows) in repetitions (columns)."""
    count, repetitions = tables[0].shape
    cell: JudgedCell = {
        "id": "ebs.touch", "state": "measured", "reason": None,
        "storage": {"type": "ebs", "volumeType": "gp3", "sizeGiB": 8}, "storage_label": "EBS gp3",
        "is_shared": False, "workload": {"type": "touch"}, "fleet": {"instanceType": "m6i.large", "count": count},
        "is_relaunched": False, "is_own": True, "instances": [f"i-{i}" for i in range(count)], "launches": [],
        "repetitions": list(range(repetitions)),
        "points": [
            {
                "id": f"p{number}", "params": {"threads": number}, "label": f"threads {number}", "is_primary": True,
                "metric": "duration_s", "unit": "s", "higher_is_better": False, "level": 90.0, "interval": None,
                "n": table.size,
                "p50": medians[number - 1] if medians else float(np.median(table)),
                "median_uncertainty": uncertainty, "values": table.tolist(),
            }
            for number, table in enumerate(tables, 1)
        ],
    }  # fmt: skip
    return {
        "schema": 1,
        "run": run,
        "started_at": started_at,
        "environment": environment,
        "objective": None,
        "cells": [cell],
    }
