"""Documents and rows shaped by the contracts, and a moto server's state machine, table and bucket to hold them."""

import json

from boto3.dynamodb.types import TypeSerializer

from cli.target.workdir import workdir
from local.keeping.runs import KeptRuns

CELLS = ("ebs-gp3.touch.m6i.large-x1", "ebs-gp3.touch.m6i.large-x4")


def plan_document():
    """Two cells on one file system, two points in two repetitions each."""
    points = [{"id": "p01", "params": {"threads": 1}}, {"id": "p02", "params": {"threads": 4}}]
    steps = [{"point": point["id"], "repetition": repetition} for repetition in (1, 2) for point in points]
    cells = [
        {
            "id": cell,
            "file_system": "ebs-gp3",
            "storage": {"type": "ebs", "volumeType": "gp3", "sizeGiB": 20},
            "workload": {"type": "touch"},
            "fleet": {"instanceType": "m6i.large", "count": count},
            "points": points,
            "steps": steps,
            "expected_s": 60.0,
            "ready_within_s": 900.0,
            "deadline_s": 960,
            "root_volume_gib": 20,
            "poll_s": 10,
            "cost_usd": {"low": 0.01, "expected": 0.02, "high": 0.05},
            "reserve_usd": 0.05,
        }
        for cell, count in zip(CELLS, (1, 4), strict=True)
    ]
    cost = {"low": 0.02, "expected": 0.04, "high": 0.1}
    totals = {
        **{"cells": 2, "points": 4, "steps": 8, "instances": 5, "instance_hours": 0.1, "expected_s": 120.0},
        "deadline_s": 3600,
    }
    nothing = {"expected_s": 0.0, "cost_usd": {"low": 0.0, "expected": 0.0, "high": 0.0}, "reserve_usd": 0.0}
    systems = [{"id": "ebs-gp3", "storage": cells[0]["storage"], "cells": list(CELLS), "populate": None, **nothing}]
    return {
        **{"schema": 1, "name": "small", "seed": 1, "cells": cells, "file_systems": systems},
        **{"totals": {**totals, "cost_usd": cost}, "assumptions": [], "warnings": []},
    }


def cell_row(cell, state, **more):
    return {"SK": f"CELL#{cell}", "cell": cell, "file_system": "ebs-gp3", "state": state, "expected_s": 60, **more}


def rows(first="measured", second="running"):
    """The rows of a run with one ended and one running cell."""
    counts = {"expected": 4, "ready": 3, "running": 1, "done": 0, "failed": 0}
    return [
        {"SK": "PLAN", "run": "r", "cells": 2, "expected_s": 120, "environment": "local"},
        {"SK": "FS#ebs-gp3", "file_system": "ebs-gp3", "state": "measuring", "since": 1000},
        cell_row(CELLS[0], first, started_at=1000, finished_at=1042, step=4, steps=4),
        cell_row(CELLS[1], second, started_at=1050, step=1, steps=4, point="p02", instances=counts),
        {"SK": f"POINT#{CELLS[0]}#p01", "id": "p01", "cell": CELLS[0], "metrics": {}},
        {"SK": "RESOURCE#i-1", "kind": "instance", "id": "i-1"},
    ]


def progress_rows(second="running"):
    """The rows that one poll of the run reads: without points and resources."""
    return rows(second=second)[:4]


def summary_document(run="r", states=("measured", "measured"), environment="local"):
    """A summary of the plan's two cells; a cell that is not measured has an error and no figures."""
    figures = {"p0": 100.0, "p50": 305.0, "p75": 310.0, "p90": 4425.0, "p98": 4425.0, "p100": 4425.0, "mean": 900.0}
    metric = {"unit": "files/s", "higher_is_better": True, "primary": True, "n": 2, "expected_n": 2, **figures}
    cells = []
    for cell, state in zip(plan_document()["cells"], states, strict=True):
        is_measured = state == "measured"
        points = [{**point, "metrics": {"files_per_s": metric}} for point in cell["points"]] if is_measured else []
        error = None if is_measured else {"name": "ToolMissing", "message": "fio is not installed"}
        kept = {key: cell[key] for key in ("id", "file_system", "storage", "workload", "fleet", "expected_s")}
        cells.append({**kept, "state": state, "error": error, "actual_s": 42.0, "points": points})
    status = "measured" if set(states) == {"measured"} else "partly failed"
    return {
        **{"schema": 1, "run": run, "name": "small", "environment": environment, "status": status, "cells": cells},
        **{"started_at": 1000, "finished_at": 1100, "warnings": []},
    }


def kept_summary(run):
    """The summary of a run that is kept here."""
    return json.loads((workdir() / "runs" / run / "summary.json").read_text())


def kept_results(run):
    """The results of its cells, by id."""
    found = (workdir() / "runs" / run / "cells").glob("*/result.json")
    return {path.parent.name: json.loads(path.read_text()) for path in found}


class Cloud:
    """Writes the objects and rows that the functions would write."""

    def __init__(self, client, machine):
        self.client, self.machine = client, machine

    def start(self, run):
        """Start an execution; moto leaves it RUNNING until it is stopped."""
        self.client.stepfunctions.start_execution(stateMachineArn=self.machine, name=run, input="{}")

    def end(self, run, error="Failed"):
        arn = self.machine.replace(":stateMachine:", ":execution:") + f":{run}"
        self.client.stepfunctions.stop_execution(executionArn=arn, error=error, cause="")

    def write_rows(self, run, found):
        write = TypeSerializer().serialize
        for row in found:
            item = {"PK": f"RUN#{run}", **row}
            self.client.dynamodb.put_item(TableName="matrix", Item={key: write(one) for key, one in item.items()})

    def write_document(self, run, name, document):
        """Write a document of a run, which the local cloud also keeps in its folder."""
        KeptRuns(workdir() / "runs").keep_object(f"runs/{run}/{name}", json.dumps(document).encode)
        self.client.s3.put_object(Bucket="results", Key=f"runs/{run}/{name}", Body=json.dumps(document).encode())
