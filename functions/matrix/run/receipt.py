"""The receipt of a run: each created resource, when it was deleted, the proof, and its cost."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from matrix.storages.models import existing_id, how_many, is_written_in
from matrix.terms.charges import HOUR_S, MIN_BILLED_S
from matrix.terms.documents.parts import CostRange, MachineRates
from matrix.terms.documents.plan import PlanDocument
from matrix.terms.documents.receipt import NotOurs, ReceiptDocument, ReceiptResource, Sweep
from matrix.terms.keys import folder_on_existing

SCHEMA = 1
# Purpose (in place of a cell) of the instance that fills a file system's cache.
CACHE = "cache"
# EC2's guide has programs look again for about five minutes until the effect of a call is seen everywhere. How soon the
# Recycle Bin shows what was deleted is not documented.
# https://docs.aws.amazon.com/ec2/latest/devguide/eventual-consistency.html
BIN_SHOWS_AFTER_S = 300.0
# Name in place of a file system, for the instances from which images are made; no file system may have this name.
BUILDERS = "_images"
# Purpose of the instance that serves as a file system.
SERVER = "file-server"


def receipt(
    *, run: str, plan: PlanDocument, rows: Iterable[Mapping[str, Any]], metered_usd: float, now: float,
    sweep: Sweep | None, unasked: Sequence[str], unfinished: Sequence[str] = (), not_ours: Sequence[NotOurs] = (),
) -> ReceiptDocument:  # fmt: skip
    """Return the receipt from the run's resource rows.

    - `metered_usd`: charges by use (requests, elastic bytes) of the cells that ran.
    - `sweep`: the result of the last sweep after the end, None before.
    - `unasked`: lists of AWS that could not be read, as of snapshots, each with its reason.
    - `unfinished`: resources whose creation was interrupted and that may still appear.

    A receipt is complete if nothing may appear any more, also in the account's Recycle Bin, each resource is proved
    deleted or kept on purpose (baked images), and the sweep after the run could ask for everything and found nothing
    more.
    """
    resources = [resource(row, plan, now) for row in sorted(rows, key=lambda row: (row["created_at"], row["id"]))]
    gone = sum(line["gone_at"] is not None for line in resources)
    kept = [line for line in resources if line["kept"]]
    binned = [line for line in resources if line.get("binned_until")]
    resources_usd = sum(line["cost_usd"] or 0.0 for line in resources)
    binning_until = _binning_until(resources, plan)
    is_binning = binning_until > now
    return {
        "schema": SCHEMA,
        "run": run,
        "at": now,
        "is_complete": gone + len(kept) == len(resources)
        and not unfinished
        and not unasked
        and not is_binning
        and sweep is not None
        and sweep["remaining"] == 0,
        "resources": resources,
        "totals": {
            "resources": len(resources),
            "gone": gone,
            "kept": len(kept),
            "kept_usd_month": _kept_usd_month(kept, plan),
            "binned": len(binned),
            "binned_usd": round(sum(map(_binned_usd, binned)), 6),
            "resources_usd": round(resources_usd, 6),
            "metered_usd": round(metered_usd, 6),
            "cost_usd": round(resources_usd + metered_usd, 4),
        },
        "sweep": sweep,
        "unasked": list(unasked),
        "binning_until": binning_until if is_binning else None,
        "unfinished": list(unfinished),
        "not_ours": list(not_ours),
    }


def _binning_until(resources: Iterable[ReceiptResource], plan: PlanDocument) -> float:
    """Return when the Recycle Bin shows all that its rules keep of what was deleted; 0 if they keep nothing more."""
    kept = plan.get("recycle_bin_days", {})
    missing = [line["gone_at"] for line in resources if line["kind"] in kept and not line.get("binned_until")]
    return max((gone_at + BIN_SHOWS_AFTER_S for gone_at in missing if gone_at is not None), default=0.0)


def not_ours(plan: PlanDocument, run: str, rows: Sequence[Mapping[str, Any]], ended: Collection[str]) -> list[NotOurs]:
    """Return the storages of a plan that existed before the run, and the places where the run may have left its folder.

    `ended` are the instances that reported their end: they removed their files before.
    """
    entries: list[NotOurs] = []
    for planned in plan["file_systems"]:
        existing = existing_id(planned["storage"])
        if not existing:
            continue
        instances = [row["id"] for row in rows if row["kind"] == "instance" and row.get("file_system") == planned["id"]]
        is_open = any(instance not in ended for instance in instances)
        kind = planned["storage"]["type"]
        folder = folder_on_existing(run) if is_open and is_written_in(planned["storage"]) else None
        entries.append({"kind": kind, "id": existing, "file_system": planned["id"], "folder": folder})
    return entries


def resource(row: Mapping[str, Any], plan: PlanDocument, now: float) -> ReceiptResource:
    """Return one line of the receipt. For an existing resource, hours and cost until now."""
    gone_at = float(row["gone_at"]) if "gone_at" in row else None
    is_kept = bool(row.get("kept")) and gone_at is None
    hours = hours_of(row, now)
    rate = rate_usd(row, plan)
    return {
        "kind": row["kind"],
        "id": row["id"],
        "file_system": row.get("file_system"),
        "cell": row.get("cell"),
        "created_at": float(row["created_at"]),
        "gone_at": gone_at,
        "verified": row.get("verified"),
        "kept": is_kept,
        "binned_until": float(row["binned_until"]) if "binned_until" in row else None,
        "hours": round(hours, 4),
        # A kept resource costs the same per month during the run and after it: see totals.kept_usd_month.
        "cost_usd": 0.0 if is_kept else None if rate is None else round(hours * rate, 6),
    }


def hours_of(row: Mapping[str, Any], now: float) -> float:
    """Return the billed hours of a resource: until it was seen gone or leaves the Recycle Bin, at least a minute."""
    until = float(row.get("binned_until", row.get("gone_at", now)))
    return max(MIN_BILLED_S, until - float(row["created_at"])) / HOUR_S


def _binned_usd(line: ReceiptResource) -> float:
    """Return which part of a resource's cost is of its time in the Recycle Bin."""
    binned_s = (line.get("binned_until") or 0.0) - (line["gone_at"] or 0.0)
    return (line["cost_usd"] or 0.0) * binned_s / HOUR_S / line["hours"]


def rate_usd(row: Mapping[str, Any], plan: PlanDocument) -> float | None:
    """Return the price of a resource per hour by the plan. None if the plan does not have it: a leak."""
    purpose = row.get("cell")
    if row.get("file_system") == BUILDERS:
        image = next((image for image in plan["images"] if image["id"] == purpose), None)
        return _machine_rate_usd(row, image["rates_usd"]) if image else None
    name = row.get("file_system")
    file_system = next((planned for planned in plan["file_systems"] if planned["id"] == name), None)
    if file_system is None:
        return None
    is_server = purpose == SERVER and row["kind"] == "instance"  # according to its tags
    if is_server or row["kind"] == file_system["storage"]["type"]:
        return float(file_system["rates_usd"]["hour"]) / how_many(file_system["storage"])
    if purpose == SERVER:
        return 0.0  # a volume of the server, which is in the server's own price
    if purpose == CACHE and file_system["populate"]:
        purpose = file_system["populate"]["cell"]
    cell = next((planned for planned in plan["cells"] if planned["id"] == purpose), None)
    return _machine_rate_usd(row, cell["rates_usd"]) if cell else None


def _machine_rate_usd(row: Mapping[str, Any], rates: MachineRates) -> float | None:
    if row["kind"] == "instance":
        return float(rates["instance_hour"])
    if row["kind"] != "volume":
        return None
    if row.get("is_data"):
        return float(rates["data_volume_hour"])
    return float(rates.get("work_volume_hour", 0.0) if row.get("is_work") else rates["root_volume_hour"])


def _kept_usd_month(kept: Iterable[ReceiptResource], plan: PlanDocument) -> CostRange | None:
    """Return the US dollars per month of the kept images, which is the price of their snapshots."""
    names = {resource["cell"] for resource in kept if resource["kind"] == "image"}
    costs = [image["kept_usd_month"] for image in plan.get("images") or [] if image["id"] in names]
    if not costs:
        return None
    return {
        "low": sum(cost["low"] for cost in costs),
        "expected": sum(cost["expected"] for cost in costs),
        "high": sum(cost["high"] for cost in costs),
    }


def cost_usd(rows: Iterable[Mapping[str, Any]], plan: PlanDocument, now: float) -> float:
    """Return the cost of resources until now in US dollars."""
    return sum(hours_of(row, now) * (rate_usd(row, plan) or 0.0) for row in rows)
