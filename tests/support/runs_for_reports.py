"""Small runs for decisions and reports, made by the real code that makes summaries and results."""

from typing import Any

import numpy as np
from support.matrices import BUILD, EBS, EFS, matrix

from matrix.answer import bottleneck
from matrix.answer.decision import decide
from matrix.answer.results import cell_result, run_summary
from matrix.plan.planning import plan
from matrix.report.page import render, view_of
from matrix.report.view import View
from matrix.run.receipt import receipt
from matrix.samples.file import InstanceIdentity, Sample, SampleFile
from matrix.tables.receipt_text import settled_page

Document = dict[str, Any]

TWO_STORAGES = {"ebs": {1: 3000.0, 10: 3100.0}, "efs": {1: 3200.0, 10: 3900.0}}


def build_run(
    seconds: dict[str, dict[int, float]], *, spread: float = 0.01, environment: str = "aws", repetitions: int = 3,
    straggler: float = 1.0, receipt: Document | None = None,
) -> tuple[Document, dict[str, Document], Document]:  # fmt: skip
    """A run of builds: `seconds` has the build time by storage type and fleet size, ± `spread`.

    In each cell one build takes `straggler` times as long. Returns summary, results by cell id, and the plan.
    """
    storages = {"ebs": EBS, "efs": EFS | {"throughputMode": "bursting"}}
    counts = sorted({count for sizes in seconds.values() for count in sizes})
    planned = plan(
        matrix(
            storage=[storages[kind] for kind in seconds],
            workload=[BUILD | {"expectedSeconds": 600}],
            fleet=[{"instanceType": "m6i.large", "count": counts}],
            repetitions=repetitions,
        )
    ).to_document()
    drawn = np.random.default_rng(1)
    results = {}
    for cell in planned["cells"]:
        middle = seconds[cell["storage"]["type"]].get(cell["fleet"]["count"])
        files = [] if middle is None else files_of(cell, middle, spread, drawn, straggler)
        error = {"name": "FleetFailed", "message": "nobody came"} if middle is None else None
        result = cell_result(cell, files, error=error, actual_s=900.0)
        if files:
            result["bottleneck"] = bottleneck.find(result, environment)
        results[cell["id"]] = result
    summary = run_summary(
        run="r1", plan=planned, environment=environment, started_at=1000.0, finished_at=5000.0, results=results,
        left_behind=[],
    )  # fmt: skip
    return summary | ({"receipt": receipt} if receipt else {}), results, planned


def built_view(seconds: dict[str, dict[int, float]], *, objective: Document | None = None, **how: Any) -> View:
    """What a page shows of a run of builds."""
    summary, results, planned = build_run(seconds, **how)
    return view_of(summary, results=results, plan=planned, objective=objective)


def built_page(seconds: dict[str, dict[int, float]], *, objective: Document | None = None, **how: Any) -> str:
    """The page of a run of builds."""
    summary, results, planned = build_run(seconds, **how)
    return render(summary, results=results, plan=planned, objective=objective)


def files_of(
    cell: Document, middle: float, spread: float, drawn: np.random.Generator, straggler: float = 1.0, *, first: int = 0
) -> list[SampleFile]:
    """The uploads of a cell's instances, from the one with the number `first` on."""
    files = []
    for number in range(first, first + cell["fleet"]["count"]):
        own = middle * (1 + spread * drawn.standard_normal())
        samples = []
        for index, step in enumerate(cell["steps"]):
            took = own * (1 + spread / 5 * drawn.standard_normal()) * (straggler if number == index == first else 1.0)
            begun = 10_000.0 + index * 2 * middle
            samples.append(
                Sample(
                    point=step["point"],
                    repetition=step["repetition"],
                    step=index,
                    metrics={"duration_s": took},
                    started_at=begun,
                    ended_at=begun + took,
                    start_skew_s=0.001 * number,
                    work={"builds": 1},
                    workers=2,
                    # A build computes most of the time, and a smaller share of it on a slower file system.
                    counters={"cpu_s": 2 * took * 0.95, "disk_write_bytes": took * 1e6},
                )
            )
        identity = InstanceIdentity(id=f"i-{number:04d}", type="m6i.large", availability_zone="us-east-1a")
        host = {"kernel": "6.1.0", "os": "Amazon Linux 2023", "cpus": 2}
        files.append(
            SampleFile.model_validate(
                {"run": "r1", "cell": cell["id"], "instance": identity, "samples": samples, "host": host}
            )
        )
    return files


def cell_of(document: Document, kind: str, count: int) -> Document:
    """The cell of a storage type and a fleet size."""
    return next(one for one in document["cells"] if one["storage"]["type"] == kind and one["fleet"]["count"] == count)


def swept_run() -> tuple[Document, Document, Document, Document]:
    """A summary at the end of a run and one after the sweep saw its instance terminated, with results and plan."""
    summary, results, planned = build_run(TWO_STORAGES)
    summary["decision"] = decide(summary, results=results)
    row = {"kind": "instance", "id": "<i-1>", "created_at": 1000.0}
    facts = {"run": "r1", "plan": planned, "metered_usd": 0.5, "now": 6000.0, "unasked": []}
    left = {"left_behind": [{"kind": "instance", "id": "<i-1>"}]}
    at_end = summary | left | {"receipt": receipt(rows=[row], sweep=None, **facts)}
    gone = receipt(rows=[row | {"gone_at": 5500.0}], sweep={"at": 6000.0, "remaining": 0}, **facts)
    return at_end, summary | {"receipt": gone}, results, planned


def swept_page() -> tuple[str, str, str]:
    """The page at the end of a run, the same after the sweep, and one drawn again then."""
    at_end, swept, results, planned = swept_run()
    page_at_end = render(at_end, results=results, plan=planned)
    return page_at_end, settled_page(page_at_end, swept), render(swept, results=results, plan=planned)
