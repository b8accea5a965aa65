"""CloudWatch metrics of a stack's cells, in the functions' logs (embedded metric format): no call, no permission.

Namespace and service come from POWERTOOLS_METRICS_NAMESPACE and POWERTOOLS_SERVICE_NAME in the environment.
"""

from aws_lambda_powertools import Metrics
from aws_lambda_powertools.metrics import MetricUnit

from matrix.terms.documents.plan import PlanCell

NAMES = {"measured": "CellsMeasured", "failed": "CellsFailed", "skipped": "CellsSkipped"}


def cell_ended(run: str, cell: PlanCell, state: str, actual_s: float | None) -> None:
    """Count a cell as `measured`, `failed` or `skipped`, and its seconds from launch to result if it ran.

    Run, cell and type of storage are keys of the line and not dimensions: each value of a dimension is a metric that
    costs money, while Logs Insights groups by keys for the price of a query.
    """
    metrics = Metrics()
    for name, value in (("run", run), ("cell", cell["id"]), ("storage_type", cell["storage"]["type"])):
        metrics.add_metadata(name, value)
    metrics.add_metric(NAMES[state], MetricUnit.Count, 1)
    if actual_s is not None:
        metrics.add_metric("CellTime", MetricUnit.Seconds, actual_s)
    metrics.flush_metrics()
