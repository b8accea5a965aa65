"""What happens meanwhile: the job of an instance, progress of a fleet, admission, receipt."""
