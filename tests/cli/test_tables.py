"""Tables of the terminal: each character of a name, a price or a mark is printed, however narrow the terminal is."""

import io
import json
from collections import Counter
from pathlib import Path

import pytest
from rich.console import Console
from rich.table import Table

from cli.commands import reap
from cli.tables import observed_tables

ROOT = Path(__file__).parents[2]


FIO = {"jobs": [{"jobname": "a-job-with-a-long-name", "job options": {"rw": "randwrite", "bs": "4k"},
                 "write": {"total_ios": 9, "iops": 4395.0, "bw_bytes": 18001920}}]}  # fmt: skip
REAPED = {"deleted": [{"kind": "file-system", "id": "fs-0123456789abcdef0", "run": "local-demo-20261125-025017-eb"}]}
METRIC = {"name": "Throughput", "unit": "MiB/s", "p50": 12.5, "p90": 12.5, "p99": 125.0, "worst": 125.0,
          "limit": 125.0, "hours_at_limit": 2.4, "over_time": [1.0, None]}  # fmt: skip
OBSERVED = {"id": "vol-1", "name": "EBS", "region": "eu-central-1", "begun": 0.0, "ended": 1.0, "metrics": [METRIC],
            "read_gib_month": 1.0, "written_gib_month": 1.0, "usd_month": None, "warnings": []}  # fmt: skip


@pytest.fixture
def tables(monkeypatch):
    """Every table that is printed, with what is printed of it and how wide the terminal is."""
    printed = []
    write = Table.__rich_console__

    def remembered(self, console, options):
        segments = list(write(self, console, options))
        printed.append((self, "".join(segment.text for segment in segments), options.max_width))
        return iter(segments)

    monkeypatch.setattr(Table, "__rich_console__", remembered)
    return printed


@pytest.mark.parametrize("width", [60, 120])
def test_no_command_drops_breaks_or_cuts_a_name_a_price_or_a_mark(tables, width, matrix, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    (tmp_path / "fio.json").write_text(json.dumps(FIO))
    cell = "efs-generalpurpose-bursting.yocto.m6i.4xlarge-x10"
    kinds = []
    for arguments in (
        (
            "import",
            "--published",
        ),
        ("runs",),
        ("results", "published-yocto"),
        ("results", "published-yocto", "--all"),
        ("results", "published-ebs-fio", "--all"),
        ("compare", "published-yocto", "published-yocto-2023-08", "--all"),
        ("history", cell),
        ("plan", str(ROOT / "events/local/first.json"), "--all"),
        ("import", "fio.json"),
    ):
        before = len(tables)
        assert matrix(*arguments).exit_code in (0, 1), arguments
        kinds += [arguments[0]] * (len(tables) > before)
    reap._show(REAPED, dry_run=True)
    observed_tables.show(Console(file=io.StringIO(), width=width), OBSERVED)

    assert {"runs", "results", "compare", "history", "plan", "import"} <= set(kinds)
    assert len(tables) > 15
    for table, text, most in tables:
        written = Counter("".join(str(cell) for column in table.columns for cell in column.cells))
        missing = written - Counter(text)
        missing.pop(" ", 0)
        assert not missing, (table.columns[0].header, width, text)
        assert max(len(line) for line in text.splitlines()) <= most
