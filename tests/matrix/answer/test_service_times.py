"""Service times: what was created, mounted and deleted by a run, and nothing that was there before."""

from matrix.answer.service_times import service_times
from matrix.report import csv_rows
from matrix.tables.service_times_table import service_times_table

EFS, VOLUME, THEIRS = {"type": "efs"}, {"type": "ebs"}, {"type": "efs", "fileSystemId": "fs-1"}
TIMES = {"creating_at": 100, "ready_at": 130.5, "deleting_at": 900, "gone_at": 960, "resource_ids": ["fs-0"]}


def test_times_are_of_what_the_run_made_over_all_launches_and_instances():
    planned = {"efs": EFS, "efs-2": EFS, "ebs": VOLUME, "theirs": THEIRS}
    plan = {
        "file_systems": [{"id": key, "storage": value, "cells": [f"{key}.touch"]} for key, value in planned.items()]
    }
    rows = [
        {"file_system": "efs", **TIMES},
        {"file_system": "efs-2", **TIMES, "ready_at": 120.5},
        {"file_system": "ebs", **TIMES, "resource_ids": []},
        {"file_system": "theirs", **TIMES},
    ]
    del rows[1]["gone_at"]
    results = {"efs.touch": {"mounted_s": [0.2, 0.4]}, "ebs.touch": {"mounted_s": [3.0]}, "theirs.touch": {}}

    found = service_times(plan, rows, results)

    figures = [(each["file_system"], each["metric"], each["n"], each["p50"], each["p100"]) for each in found]
    assert figures == [
        ("efs", "available_s", 2, 25.5, 30.5),
        ("efs", "mounted_s", 2, 0.30000000000000004, 0.4),
        ("efs", "deleted_s", 1, 60.0, 60.0),
        ("ebs", "mounted_s", 1, 3.0, 3.0),
    ]
    summary = {"run": "r", "service_times": found}
    assert [name for name, _ in service_times_table(summary).texts()] == ["EFS", "EBS"]
    assert csv_rows.to_csv(summary).count(",mounted_s,s,") == 2
