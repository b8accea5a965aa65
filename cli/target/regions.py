"""Ask AWS for a matrix's regions and costs: the price list for all regions at once, EC2 in each region."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from datetime import UTC, datetime, timedelta
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from cli.target.deployment import Deployment, chosen_region
from matrix.check.read import CheckedMatrix
from matrix.plan.assumptions import spot_types
from matrix.plan.planning import plan
from matrix.price import regions
from matrix.price.book import SpotPrice, published_prices
from matrix.price.pricing_api import HISTORY_S, queries, spot_prices
from matrix.price.regions import PriceList, Region, RegionCost
from matrix.terms.charges import Query

# The price list has endpoints in a few regions only, and has the prices of all.
PRICE_LIST_REGION = "us-east-1"
# It answers some ten calls a second; more calls at once would only be throttled.
ASKED_AT_ONCE = 8
PAGE = 100
NOT_OPTED_IN = "not-opted-in"
# The price of one type changes some dozen times a week in each zone.
MAX_ENTRIES = 5_000

Progress = Callable[[int, int], None]


def costs(checked: CheckedMatrix, progress: Progress) -> tuple[list[RegionCost], PriceList]:
    """Return each region with the cost of a matrix, cheapest first, and the answers of the price list.

    `progress` gets the number of answers so far and the total. Raises an error of boto3 if the price list or the list
    of regions cannot be read: every region would have the same price.
    """
    matrix, listed = checked.matrix, PriceList()
    states = _states()
    open_regions = {name for name, state in states.items() if state != NOT_OPTED_IN}
    answers: dict[str, tuple[Region, dict[str, SpotPrice]]] = {}
    with ThreadPoolExecutor(ASKED_AT_ONCE) as pool:
        try:
            by_query = {pool.submit(_products, query): query for query in regions.all_queries(matrix)}
            types, wanted_as_spot = regions.instance_types(matrix), spot_types(matrix)
            by_region = {pool.submit(_region, name, types, wanted_as_spot): name for name in sorted(open_regions)}
            everything: list[Future[Any]] = [*by_query, *by_region]
            for count, future in enumerate(as_completed(everything), start=1):
                if future in by_query:
                    listed.take(by_query[future], future.result())
                else:
                    answers[by_region[future]] = future.result()
                progress(count, len(everything))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    for name in states.keys() - open_regions:
        answers[name] = Region(name, reason=regions.NOT_ENABLED), {}
    return regions.in_order(_cost(checked, *answer, listed) for answer in answers.values()), listed


def _cost(checked: CheckedMatrix, region: Region, spot: dict[str, SpotPrice], listed: PriceList) -> RegionCost:
    matrix = checked.matrix
    usd = listed.usd(matrix, region.name)
    lacking = regions.missing(matrix, region, listed)
    cost = None
    if not lacking:
        today = datetime.now(UTC).strftime("%Y-%m-%d")
        book = published_prices().refreshed(region.name, usd, today).for_region(region.name).with_spot(spot)
        cost = plan(checked, region=region.name, prices=book).to_document()["totals"]["cost_usd"]
    return {
        "region": region.name,
        "cost_usd": cost,
        "missing": lacking,
        "reason": region.reason,
        "book_prices": [] if lacking else [query.name for query in queries(matrix) if query.name not in usd],
    }


def _states() -> dict[str, str]:
    """Return the regions of the account's partition, each with whether it is enabled for the account."""
    ec2 = Deployment("aws", "", chosen_region(None) or PRICE_LIST_REGION, endpoint=None).client("ec2")
    return {each["RegionName"]: each["OptInStatus"] for each in ec2.describe_regions(AllRegions=True)["Regions"]}


def _products(query: Query) -> list[str]:
    client = Deployment("aws", "", PRICE_LIST_REGION, endpoint=None).client("pricing")
    filters = [{"Type": "TERM_MATCH", "Field": name, "Value": value} for name, value in query.attributes]
    pages: Iterator[dict[str, Any]] = client.get_paginator("get_products").paginate(
        ServiceCode=query.service, Filters=filters, PaginationConfig={"PageSize": PAGE}
    )
    return [product for page in pages for product in page["PriceList"]]


def _region(name: str, types: list[str], wanted_as_spot: list[str]) -> tuple[Region, dict[str, SpotPrice]]:
    """Return the instance types that a region offers, and prices of Spot; a refusal is the region's reason."""
    ec2 = Deployment("aws", "", name, endpoint=None).client("ec2", manner="brief")
    try:
        offered = ec2.get_paginator("describe_instance_type_offerings").paginate(
            LocationType="region", Filters=[{"Name": "instance-type", "Values": types}]
        )
        has = frozenset(each["InstanceType"] for page in offered for each in page["InstanceTypeOfferings"])
        spot = _spot(ec2, wanted_as_spot) if wanted_as_spot else {}
    except ClientError as error:
        answer = error.response["Error"]
        # The organization's policies or your own denied the call of EC2, and they would deny a run too.
        return Region(name, reason=f"{error.operation_name} is refused: {answer['Code']}"), {}
    except BotoCoreError as error:
        return Region(name, reason=f"EC2 does not answer: {type(error).__name__}"), {}
    return Region(name, has), spot


def _spot(ec2: Any, types: list[str]) -> dict[str, SpotPrice]:
    history = (
        ec2.get_paginator("describe_spot_price_history")
        .paginate(
            InstanceTypes=types,
            ProductDescriptions=["Linux/UNIX"],
            StartTime=datetime.now(UTC) - timedelta(seconds=HISTORY_S),
            PaginationConfig={"MaxItems": MAX_ENTRIES},
        )
        .build_full_result()
    )
    return spot_prices(history["SpotPriceHistory"])
