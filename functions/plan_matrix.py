"""Plan matrix: refuse an invalid matrix with all its problems, else plan the cells and their cost."""

from functools import partial
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from aws.account import prices as price_list
from aws.account import quotas, recycle_bin
from aws.account.egress import ways_out
from aws.account.own_image import OwnImage
from aws.records import agent_package, bucket, table
from aws.run import resume, scheduled
from aws.stack import network
from aws.stack.clients import as_not_granted
from aws.stack.clock import now
from aws.stack.encryption import by_key
from aws.stack.entry import entry
from aws.stack.environment import environment
from aws.stack.tags import tags_of_deployment
from aws.storages import clouds
from matrix.check.read import check_matrix, check_run_name
from matrix.check.tags import inherited, inherited_problems
from matrix.input.emulation import environment_of
from matrix.plan import agreement, egress, own_key, placing
from matrix.plan.document import apart, warning_of
from matrix.plan.planning import plan
from matrix.terms.documents.plan import PlanDocument
from matrix.terms.errors import PlanDiffers, ScheduleRefused
from matrix.terms.keys import run_key
from matrix.terms.problems import InvalidMatrix


@entry
def handler(event: dict[str, Any], _context: LambdaContext) -> dict[str, Any]:
    """Write the plan of a run. InvalidMatrix, QuotaExceeded or PlanDiffers fails the execution before anything exists.

    ScheduleRefused fails it, too, and NotGranted after several attempts. The input of an execution is a matrix, or from
    the stack's schedule {"scheduled": {"matrix": "nightly", "at": "2026-11-25T01:30:00Z", "baseline": ""}}.
    """
    with as_not_granted():
        return _plan(event)


def _plan(event: dict[str, Any]) -> dict[str, Any]:
    run = event["run"]
    check_run_name(run)
    given, schedule = event["matrix"], _scheduled(event["matrix"])
    if schedule:
        given = scheduled.matrix(schedule, event["execution_arn"])
    checked = check_matrix(given)
    matrix = checked.matrix
    if schedule and matrix.budget_usd is None:
        raise ScheduleRefused(
            "budgetUsd is missing. Nobody agrees to the cost of a scheduled run: its matrix limits it"
        )
    of_stack = tags_of_deployment()
    account = event["execution_arn"].split(":")[4]
    image = OwnImage(matrix, account)
    here = [
        *image.problems,
        *inherited_problems(of_stack, matrix.tags),
        *placing.problems(
            matrix,
            len(network.subnets()),
            reaches_multi_az=network.reaches_multi_az(),
            region=environment().region,
            first_zone_id=lambda: network.zone_id(network.subnets()[0]),
        ),
        *clouds.existing_problems(matrix, account=account),
        *(own_key.problems(matrix) if by_key() else ()),
    ]
    if fatal := [problem for problem in here if not problem.is_warning]:
        raise InvalidMatrix(fatal)
    name = environment_of(environment().name, is_emulated=bool(matrix.emulate))
    earlier = resume.earlier(matrix.resume, name, event["execution_arn"]) if matrix.resume else None
    region = environment().region
    prices = price_list.book(matrix, region).with_spot(price_list.spot_prices_of(matrix))
    draw = partial(plan, checked, region=region, prices=prices, earlier=earlier, run=run)
    planned, (ways, unasked) = draw(), ways_out()
    if passed := egress.tolls(ways, matrix):
        prices_of = {
            service: [toll.price if toll else None for toll in of_subnets] for service, of_subnets in passed.items()
        }
        without, planned = planned, draw(tolls=prices_of)
        more = planned.cost - without.cost
        here += egress.toll_warnings(ways, planned.to_document(), matrix, region, passed, more)
    created_at = now()
    document = planned.to_document() | {
        "run": run,
        "execution_arn": event["execution_arn"],
        "created_at": created_at,
        "deadline_at": created_at + planned.deadline_s,
        "owner": matrix.owner or "unknown",
        "tags": inherited(of_stack, matrix.tags),
        "budget_usd": matrix.budget_usd,
        "region": region,
        "objective": matrix.objective.to_document() if matrix.objective else None,
        "environment": name,
        "agent_key": agent_package.publish(),
    }
    if matrix.compare_with:
        document["compare_with"] = matrix.compare_with
    image.write_into(document)
    here += [*unasked, *(egress.problems(ways, document, matrix, region) if ways else [])]
    document["recycle_bin_days"], of_bin = recycle_bin.ask(document)
    here += of_bin
    if fatal := [problem for problem in here if not problem.is_warning]:
        raise InvalidMatrix(fatal)
    found = quotas.check(document, matrix.max_concurrent_file_systems)
    warnings, intended = apart([*planned.warnings, *map(warning_of, here), *found], matrix.intended)
    document |= {"warnings": warnings, "assumptions": [*document["assumptions"], *intended]}
    bucket.put(run_key(run, "matrix.json"), given)
    bucket.put(run_key(run, "plan.json"), document)
    # Written even if it differs: the question about the difference shows this plan.
    if matrix.agreed and (differs := agreement.difference(matrix.agreed, document)):
        raise PlanDiffers(differs)
    facts = ("execution_arn", "created_at", "deadline_at", "owner", "environment", "budget_usd")
    table.start_run(run, document, **{name: document[name] for name in facts})
    resume.take_over(run, document)
    expected_usd = document["totals"]["cost_usd"]["expected"]
    return {
        "launches": [{"file_systems": _of_launch(document, launch)} for launch in range(1, matrix.launches + 1)],
        "images": [image["id"] for image in document["images"] if image["bake"]],
        "max_concurrent_file_systems": matrix.max_concurrent_file_systems,
        "dry_run": matrix.dry_run,
        "within_budget": matrix.budget_usd is None or expected_usd <= matrix.budget_usd,
        "budget_usd": matrix.budget_usd,
        "totals": document["totals"],
        "plan": f"s3://{environment().bucket}/{run_key(run, 'plan.json')}",
    }


def _scheduled(given: Any) -> dict[str, str] | None:
    """Return what the stack's schedule says of its run; None for a matrix, also for one with an unknown `scheduled`."""
    schedule = given.get("scheduled") if isinstance(given, dict) else None
    return schedule if isinstance(schedule, dict) and schedule.keys() == {"matrix", "at", "baseline"} else None


def _of_launch(plan: PlanDocument, launch: int) -> list[str]:
    """Return the file systems of a launch that still have cells to measure, in their order."""
    return [
        file_system["id"]
        for file_system in plan["file_systems"]
        if file_system["cells"] and file_system.get("launch", 1) == launch
    ]
