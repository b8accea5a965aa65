"""The receipt of a run: each resource that it created, when it went, who said so, and what it cost."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from matrix.price.book import HOUR_S, LEAST_BILLED_S

SCHEMA = 1
# The purpose, in place of a cell, of the instance that fills a file system's cache.
CACHE = "cache"
# In place of a file system, of the instances from which images are made; no file system may have this name.
BUILDERS = "_images"
# And of the one that is a file system itself.
SERVER = "file-server"


def receipt(
    *, run: str, plan: Mapping[str, Any], rows: Iterable[Mapping[str, Any]], metered_usd: float, now: float,
    sweep: Mapping[str, Any] | None, unasked: Sequence[str],
) -> dict[str, Any]:  # fmt: skip
    """Return the receipt from the run's resource rows.

    `metered_usd` is what is billed by use (requests, elastic bytes) as planned for the cells that ran, `sweep` what the
    last sweep after the end has left, None before; `unasked` are services that could not be asked for leaks. Complete
    is a receipt once each resource was seen gone, or is kept on purpose as baked images are, and the sweep that follows
    the run found nothing more.
    """
    resources = [resource(row, plan, now) for row in sorted(rows, key=lambda row: (row["created_at"], row["id"]))]
    gone = sum(one["gone_at"] is not None for one in resources)
    kept = [one for one in resources if one["kept"]]
    resources_usd = sum(one["cost_usd"] or 0.0 for one in resources)
    return {
        "schema": SCHEMA,
        "run": run,
        "at": now,
        "is_complete": gone + len(kept) == len(resources) and sweep is not None and sweep["remaining"] == 0,
        "resources": resources,
        "totals": {
            "resources": len(resources),
            "gone": gone,
            "kept": len(kept),
            "kept_usd_month": _kept_usd_month(kept, plan),
            "resources_usd": round(resources_usd, 6),
            "metered_usd": round(metered_usd, 6),
            "cost_usd": round(resources_usd + metered_usd, 4),
        },
        "sweep": dict(sweep) if sweep else None,
        "unasked": list(unasked),
    }


def resource(row: Mapping[str, Any], plan: Mapping[str, Any], now: float) -> dict[str, Any]:
    """Return one line of the receipt; of what still exists, hours and cost until now."""
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
        "hours": round(hours, 4),
        # What is kept costs by the month, after the run as much as during it: totals.kept_usd_month.
        "cost_usd": 0.0 if is_kept else None if rate is None else round(hours * rate, 6),
    }


def hours_of(row: Mapping[str, Any], now: float) -> float:
    """Return the hours that a resource is billed for: until it was seen gone, at least a minute."""
    until = float(row.get("gone_at", now))
    return max(LEAST_BILLED_S, until - float(row["created_at"])) / HOUR_S


def rate_usd(row: Mapping[str, Any], plan: Mapping[str, Any]) -> float | None:
    """Return what a resource costs per hour by the plan's prices; None for what the plan does not foresee, a leak."""
    if row.get("file_system") == BUILDERS:
        return _builder_rate_usd(row, plan)
    file_system = next((one for one in plan["file_systems"] if one["id"] == row.get("file_system")), None)
    if file_system is None:
        return None
    is_server = row.get("cell") == SERVER and row["kind"] == "instance"  # as its tags say what it is
    if is_server or row["kind"] == file_system["storage"]["type"]:
        return float(file_system["rates_usd"]["hour"])
    if row.get("cell") == SERVER:
        return 0.0  # a volume of the server, which is in the server's own price
    wanted = (file_system["populate"] or {}).get("cell") if row.get("cell") == CACHE else row.get("cell")
    cell = next((one for one in plan["cells"] if one["id"] == wanted), None)
    if cell is None:
        return None
    rates = {"instance": "instance_hour", "volume": "data_volume_hour" if row.get("is_data") else "root_volume_hour"}
    return float(cell["rates_usd"][rates[row["kind"]]]) if row["kind"] in rates else None


def _builder_rate_usd(row: Mapping[str, Any], plan: Mapping[str, Any]) -> float | None:
    image = next((one for one in plan["images"] if one["id"] == row.get("cell")), None)
    rates = {"instance": "instance_hour", "volume": "root_volume_hour"}
    return float(image["rates_usd"][rates[row["kind"]]]) if image and row["kind"] in rates else None


def _kept_usd_month(kept: Iterable[Mapping[str, Any]], plan: Mapping[str, Any]) -> dict[str, float] | None:
    """Return what the images that are kept cost a month; their snapshots are what costs."""
    names = {one["cell"] for one in kept if one["kind"] == "image"}
    costs = [one["kept_usd_month"] for one in plan.get("images", []) if one["id"] in names]
    return {level: sum(one[level] for one in costs) for level in ("low", "expected", "high")} if costs else None


def cost_usd(rows: Iterable[Mapping[str, Any]], plan: Mapping[str, Any], now: float) -> float:
    """Return what resources have cost until now."""
    return sum(hours_of(row, now) * (rate_usd(row, plan) or 0.0) for row in rows)
