"""A full disk is foreseen before a local run, and named after one."""

import pytest
from support.cli_documents import summary_document

from cli.inputs import this_machine
from cli.tables.rich_tables import LONGEST_TEXT, shortened
from matrix.terms.sentences import error_text

FIO = {"type": "fio", "rw": "randwrite", "bs": "4k", "size": "128M", "runtime": 2, "time_based": 1}


@pytest.fixture
def _no_cloud(monkeypatch):
    def start(*_):
        raise AssertionError("a cloud was started")

    monkeypatch.setattr("cli.target.local_cloud.running_or_started", start)


@pytest.mark.usefixtures("_no_cloud")
def test_a_run_that_fills_the_disk_is_refused_before_anything_starts(matrix, scenario, monkeypatch, workdir):
    monkeypatch.setattr(this_machine, "_free_bytes", lambda _: 24 * 2**20)

    said = matrix("run", scenario(workload=[{**FIO, "numjobs": 2}]), "--local")

    assert said.exit_code == 2
    # Two jobs on each of four instances.
    assert "fio on 4 instances at once writes 1,024 MiB, 24.0 MiB are free in" in said.stderr
    assert f"df -h {workdir}" in said.stderr


def test_what_is_only_guessed_is_a_note_and_what_fits_is_not_mentioned(monkeypatch):
    from cli.inputs.planning import Planned

    def note(free, workload):
        monkeypatch.setattr(this_machine, "_free_bytes", lambda _: free)
        fleet = [{"instanceType": "m6i.large", "count": 1}]
        storage = [{"type": "ebs", "volumeType": "gp3", "sizeGiB": 400}]
        document = {"name": "n", "storage": storage, "workload": [workload], "fleet": fleet, "repetitions": 1}
        return this_machine.refuse_full_disk(Planned(document, {}))

    assert note(2**40, FIO) == ""
    assert "(a guess)" in note(2**20, {"type": "yocto", "image": "core-image-sato-sdk"})


def test_the_last_words_of_a_long_error_are_never_cut():
    words = "disk full: 2.9 of 24.0 MiB are free in /mnt; " + "x " * LONGEST_TEXT + "fio: ENOSPC on laying out file"
    cell = summary_document()["cells"][0] | {"error": {"name": "DiskFull", "message": words}}

    shown = shortened(error_text(cell["error"]))

    assert shown.startswith("DiskFull: disk full: 2.9 of 24.0 MiB are free in /mnt")
    assert shown.endswith("fio: ENOSPC on laying out file (whole in summary.json)")
    assert len(shown) < LONGEST_TEXT + 40
