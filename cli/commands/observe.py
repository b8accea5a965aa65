"""`matrix observe`: the usage of an existing volume or file system."""

import time
from typing import TYPE_CHECKING, Annotated

import typer

from cli.inputs import options
from cli.messages import terminal
from cli.messages.errors import CommandError
from cli.tables import observed_tables
from cli.target import deployment, existing
from cli.target.deployment import Deployment
from matrix.terms.quantities import count_of

if TYPE_CHECKING:
    from matrix.terms.documents.observed import ObservedDocument

# The period for which CloudWatch keeps its data, less one (matrix.answer.observed.asking).
MAX_DAYS = 454


def observe(
    storage: Annotated[
        str,
        typer.Argument(
            metavar="ID", help="A volume (vol-…), or a file system of EFS, FSx for OpenZFS or NetApp ONTAP (fs-…)."
        ),
    ],
    days: Annotated[
        int, typer.Option("--days", metavar="DAYS", min=1, max=MAX_DAYS, help="How far to look back.")
    ] = 14,
    local: options.Local = False,
    region: options.Region = None,
    as_json: options.AsJson = False,
) -> None:
    """Show how an existing storage is used.

    Throughput, IOPS, utilisation, queue and credits from CloudWatch, and its cost per month. It only reads, and needs
    no stack.

    Example: matrix observe vol-0123456789abcdef0 --days 14
    """
    if local:
        target = deployment.running_local_cloud()
    else:
        deployment.refuse_without_aws(region)
        target = Deployment("aws", deployment.DEFAULT_STACK, deployment.chosen_region(region), endpoint=None)
    observed = _observed(target, storage, days)
    if as_json:
        terminal.print_json(observed)
    else:
        observed_tables.show(terminal.stdout(), observed)


def _observed(target: Deployment, name: str, days: int) -> "ObservedDocument":
    # numpy and pydantic take half a second to import, so `matrix --help` must not import them.
    from matrix.answer.observed.asking import queries, window
    from matrix.answer.observed.document import NothingObserved, document
    from matrix.price.book import published_prices
    from matrix.samples.cloudwatch import answered

    subject = existing.subject(target, name)
    cloudwatch = target.client("cloudwatch")
    span = window(days, time.time(), subject.created_at)
    pages = cloudwatch.get_paginator("get_metric_data").paginate
    answers = answered(pages, queries(subject, span.period_s), span.begun, span.ended)
    try:
        return document(subject, span, answers, published_prices().for_region(cloudwatch.meta.region_name))
    except NothingObserved:
        raise CommandError(
            f"CloudWatch has counted nothing of {name} in the last {count_of(days, 'day')}",
            "a volume counts while it is attached, a file system while it is used; look further back with --days 60",
        ) from None
