"""During a run: the job of an instance, progress of a fleet, admission by budget and deadline, receipt."""
