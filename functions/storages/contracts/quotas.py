"""Quotas of an account, and how much of them a storage takes."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Quota:
    """A quota as Service Quotas names it.

    `default` is AWS's in most regions; None if it is not known, or if most accounts may have none before they request
    it.
    """

    service: str
    code: str
    name: str
    unit: str
    default: float | None = None


@dataclass(frozen=True)
class QuotaUse:
    """Use of a quota by one storage while it exists, in the quota's unit, and the fields that lower it."""

    quota: Quota
    amount: float
    lower: str = ""  # the fields to lower, as an imperative; empty if only fewer file systems help
