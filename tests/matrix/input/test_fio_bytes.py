"""What a plan counts of a fio job is what a real fio lays out, reads and writes."""

import json
import subprocess
from pathlib import Path

import pytest
from support.agent_cloud import needs

from contract.fio_job import FioJob
from matrix.input.workloads.contract import Clients
from matrix.input.workloads.fio import FioWorkload
from matrix.storages.ebs import EbsStorage

MIB = 2**20
# Each row is one job; none pre-allocates, so blocks on the disk are bytes that were laid out.
BASE = {"bs": "64k", "fallocate": "none"}
TIMED = {"time_based": 1, "runtime": 2}
ROWS = [
    {"rw": "write", "size": "4m"},
    {"rw": "randwrite", "size": "4m", "overwrite": 1},
    {"rw": "read", "size": "4m"},
    {"rw": "randrw", "size": "4m", "bs": "4k"},
    {"rw": "readwrite", "size": "4m", "bs": "8k,16k"},
    {"rw": "rw", "size": "4m", "bs": "4k", "rwmixread": 75},
    {"rw": "rw", "size": "4m", "bs": "4k", "rwmixwrite": 20, "rwmixread": 70},
    {"rw": "write", "size": "4m", "loops": 3, "numjobs": 2},
    {"rw": "read", "size": "2m", "pre_read": 1, "loops": 2, "numjobs": 2},
    {"rw": "write", "size": "2m", "pre_read": 1, "overwrite": 1},
    {"rw": "read", "size": "4m", "io_size": "10m"},
    {"rw": "read", "size": "4m", "io_size": "1m", "loops": 3},
    {"rw": "read", "size": "4m", "io_size": "10m", "loops": 2},
    {"rw": "randread", "size": "4m", "io_size": "10m", "loops": 2, "norandommap": 1},
    {"rw": "write", "size": "4m", "nrfiles": 3},
    {"rw": "read", "filesize": "1m", "nrfiles": 4},
    {"rw": "read", "filesize": "1m", "size": "2m", "nrfiles": 4},
    {"rw": "write", "filesize": "1m", "size": "8m", "nrfiles": 2, "numjobs": 2, "loops": 2, "overwrite": 1},
    {"rw": "read", "filesize": "512k-1m", "nrfiles": 16},
    {"rw": "read", "size": "4m", "offset": "1m", "nrfiles": 2},
    {"rw": "read", "size": "4m", "offset": "1m", "filesize": "4m"},
    {"rw": "read", "size": "1m", "offset_increment": "1m", "numjobs": 3},
    {"rw": "read", "size": "50%", "filesize": "4m"},
    {"rw": "read", "filesize": "4m", "io_size": "50%"},
    {"rw": "read", "size": "4m", "number_ios": 10, "loops": 3},
    {"rw": "randrw", "size": "4m", "bs": "4k", "number_ios": 500, "numjobs": 2},
    {"rw": "write", "size": "4m", "bsrange": "16k-60k"},
    {"rw": "write", "size": "4m", "bsrange": "4k-12k", "number_ios": 300},
    {"rw": "write", "size": "4m", "blocksize": "16k", "number_ios": 50},
    {"rw": "write", "size": "4m", "bs": ",16k", "number_ios": 50},
    {"rw": "randread", "size": "1m", "bs": "100k", "nrfiles": 3},
    # Without `i` fio's units are powers of two, with it powers of ten; kb_base swaps them.
    {"rw": "write", "size": "4MiB", "bs": 1000},
    {"rw": "read", "size": "4m", "kb_base": 1000, "bs": 1000},
    {"rw": "write", "size": "2m", "create_on_open": 1, "overwrite": 1},
    {"rw": "write", "size": "2m", "ioengine": "mmap", "loops": 2},
    {"rw": "read", "size": "2m", "fill_device": 1},
    # Rates.
    {"rw": "write", "size": "1m", "rate_iops": 20, **TIMED},
    {"rw": "read", "size": "1m", "rate_iops": 20, "numjobs": 2, "ramp_time": 1, **TIMED},
    {"rw": "randrw", "size": "1m", "rate_iops": "20,5", "rwmixread": 80, **TIMED},
    {"rw": "read", "size": "1m", "rate": "1m,2m", **TIMED},
    {"rw": "write", "size": "1m", "thinktime": "100ms", "thinktime_blocks": 2, **TIMED},
    {"rw": "write", "size": "8m", "rate": "2m", "runtime": 2},
]  # fmt: skip


@needs("fio")
def test_a_plan_counts_what_fio_lays_out_reads_and_writes(tmp_path):
    files = tmp_path / "files"
    files.mkdir()
    options = [{name: value for name, value in (BASE | row).items() if not _is_replaced(name, row)} for row in ROWS]
    sections = [f"[r{number:02d}]\n{_lines(each)}" for number, each in enumerate(options)]
    job_file, output = tmp_path / "rows.fio", tmp_path / "rows.json"
    places = f"directory={files}\nfilename_format=$jobname.$jobnum.$filenum\n"
    job_file.write_text(f"[global]\n{places}\n" + "\n".join(sections))

    _run(tmp_path, "--create_only=1", job_file)
    laid_out = [_size(files, number, lambda about: 512 * about.st_blocks) for number in range(len(ROWS))]
    before = _counted()
    _run(tmp_path, "--output-format=json", f"--output={output}", job_file)
    counted = {name: amount - before[name] for name, amount in _counted().items()}

    text = output.read_text()
    jobs = json.loads(text[text.index("{") :])["jobs"]
    wrong, read, written = [], 0.0, 0.0
    for number, each in enumerate(options):
        own = [job for job in jobs if job["jobname"] == f"r{number:02d}"]
        moved = {way: sum(job[way]["io_bytes"] for job in own) for way in ("read", "write")}
        plan, asked = _planned(each), FioJob(each)
        share = 1 if "ramp_time" not in each else each["runtime"] / (each["runtime"] + each["ramp_time"])
        seen = {
            "laid out": (asked.laid_out_bytes, laid_out[number]),
            "read": ((plan.read_bytes - asked.read_before_bytes) * share, moved["read"]),
            "written": (plan.written_bytes + plan.made_bytes - asked.laid_out_bytes, moved["write"]),
        }
        # Chance decides a mix and sizes of a range; a rate is kept to an operation or two.
        by_chance = (
            (asked.reads and asked.writes) or {"runtime", "bsrange"} & each.keys() or "-" in f"{each.get('filesize')}"
        )
        close = 0.12 if by_chance else 0.03
        wrong += [(ROWS[number], what, *pair) for what, pair in seen.items() if not _is_about(*pair, close)]
        stored = _size(files, number, lambda about: about.st_size)
        if not stored <= plan.stored_bytes + MIB / 8:
            wrong.append((ROWS[number], "stored", plan.stored_bytes, stored))
        if "mmap" not in each.values():
            read, written = (
                read + plan.read_bytes,
                written + plan.written_bytes + plan.made_bytes - asked.laid_out_bytes,
            )
    assert not wrong
    # The kernel's count, which has what is read before the time and in a ramp, and nothing that is laid out again.
    assert counted["rchar"] == pytest.approx(read, rel=0.04)
    assert counted["wchar"] == pytest.approx(written, rel=0.04)


@needs("fio")
@pytest.mark.parametrize(
    "row",
    [
        {"rw": "read", "size": "50%"},
        {"rw": "read", "size": "4m", "create_on_open": 1},
        {"rw": "read", "size": "4m", "filesize": "4m", "offset": "5m"},
        {"rw": "read", "size": "1m", "bs": "256k", "nrfiles": 8},
        {"rw": "write", "size": "16k"},
        {"rw": "write", "size": "4m", "rate": "1m", "rate_iops": 10},
    ],
)
def test_a_plan_refuses_what_fio_refuses_or_with_which_it_moves_nothing(row, tmp_path):
    options = BASE | row
    (tmp_path / "row.fio").write_text(f"[row]\ndirectory={tmp_path}\n{_lines(options)}")

    ended = subprocess.run(
        ["fio", "--output-format=json", "row.fio"], cwd=tmp_path, capture_output=True, text=True, check=False
    )

    jobs = json.loads(ended.stdout[ended.stdout.index("{") :])["jobs"] if "{" in ended.stdout else []
    assert ended.returncode or not any(job[way]["io_bytes"] for job in jobs for way in ("read", "write"))
    workload = FioWorkload.model_validate({"type": "fio", **options})
    [problem] = [problem for rule in workload.rules() for problem in rule(workload)]
    assert not problem.is_warning
    assert problem.path in row


def test_per_cent_of_a_device_are_of_the_volume():
    workload = FioWorkload.model_validate({"type": "fio", "device": True, "rw": "read", "size": "50%"})
    footprint = workload.footprint(*workload.points(), _ebs(), Clients(1))

    assert footprint.made_bytes == footprint.stored_bytes == 50 * 2**30


OLTP = """
; comments, and switches without a value
[global]
bs=8k
size=1m
time_based  # on
runtime=1m
[readers]
rw=randread
blocksize=4k
[log]
rw=write
[global]
bs=1m
[backup]
stonewall
rw=read
"""


def test_sections_of_a_job_file_are_points_which_wait_for_each_other_at_a_stonewall():
    readers, log, backup = FioWorkload.model_validate({"type": "fio", "jobFile": OLTP}).points()

    timed = {"size": "1m", "time_based": 1, "runtime": 60}
    assert readers["options"] == {**timed, "rw": "randread", "bs": "4k"}
    assert (log["section"], list(log["beside"])) == ("log", ["readers"])
    assert backup == {"section": "backup", "options": {**timed, "bs": "1m", "rw": "read"}}


def test_sections_beside_each_other_share_the_storage_and_their_bytes_are_added_up():
    workload = FioWorkload.model_validate({"type": "fio", "jobFile": OLTP})
    both, _, alone = [workload.footprint(point, _ebs(), Clients(1)) for point in workload.points()]

    assert both.stored_bytes == 2 * MIB
    assert both.read_bytes < alone.read_bytes
    assert both.read_bytes + both.written_bytes == pytest.approx(alone.read_bytes, rel=0.9)
    assert both.longest_s == pytest.approx(60, rel=0.01)


def _is_replaced(name, row):
    return name == "bs" and {"blocksize", "bsrange", "bssplit"} & row.keys()


def _lines(options):
    return "".join(f"{name}={value}\n" for name, value in options.items())


def _run(folder, *arguments):
    ended = subprocess.run(["fio", *map(str, arguments)], cwd=folder, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr


def _size(folder, number, of):
    return sum(of(path.stat()) for path in folder.glob(f"r{number:02d}.*"))


def _counted():
    """Bytes that this process and its ended children have read and written."""
    lines = Path("/proc/self/io").read_text().splitlines()
    return {name: int(amount) for name, amount in (line.split(": ") for line in lines)}


def _ebs(**fields):
    return EbsStorage.model_validate({"type": "ebs", "volumeType": "gp3", "sizeGiB": 100, **fields})


def _planned(options):
    workload = FioWorkload.model_validate({"type": "fio", **options})
    assert not [problem for rule in workload.rules() for problem in rule(workload)], options
    [point] = workload.points()
    return workload.footprint(point, _ebs(), Clients(1))


def _is_about(expected, seen, close):
    return abs(expected - seen) <= max(close * max(expected, seen), 2**17)


def test_data_of_a_snapshot_are_not_written_and_their_first_read_waits_until_they_are_loaded():
    job_file = "[global]\nrw=read\nbs=1m\ndirect=1\nsize=4g\n[first]\n[second]\nstonewall\n"
    workload = FioWorkload.model_validate({"type": "fio", "device": True, "jobFile": job_file})
    snapshot = {"snapshotId": "snap-0123456789abcdef0"}

    def seconds(**fields):
        volume = _ebs(iops=4000, throughputMiBps=1000, **fields)
        footprints = [workload.footprint(point, volume, Clients(1)) for point in workload.points()]
        assert sum(each.made_bytes for each in footprints) == (0 if fields else 4 << 30)
        return [round(each.spread(1).seconds) for each in footprints]

    # 4,096 MiB at 5 Gbit/s of an unknown instance, at 5 and at 100 MiB/s; an empty volume is written once before.
    assert seconds() == [10, 10]
    assert seconds(**snapshot) == [819, 7]
    assert seconds(**snapshot, volumeInitializationRate=100) == [41, 7]
    assert seconds(**snapshot, fastSnapshotRestore=True) == [7, 7]
    assert (workload.is_only_reading, workload.points_in_a_row) == (True, 2)


def test_files_that_nobody_writes_are_laid_out_once_and_shared_ones_by_one_instance():
    given = {"rw": ["read", "randread", "randrw"], "bs": ["4k", "64k"], "size": ["1g", "2g"], "data": ["own", "shared"]}
    mixed = FioWorkload.model_validate({"type": "fio", **given, "data": "own"})
    shared = FioWorkload.model_validate({"type": "fio", **given, "rw": ["read", "randread"]})
    fleet = Clients(4)

    def total(workload, repetitions):
        steps = [workload.footprint(point, _ebs(), fleet).spread(repetitions) for point in workload.points()]
        return [round(amount / 2**30, 6) for amount in (
            sum(step.written_bytes for step in steps) * repetitions, max(step.stored_bytes for step in steps)
        )]  # fmt: skip

    # What is read 1 + 2 GiB, once; what is written 2 * (1 + 2) GiB in each repetition, and half as much by the job.
    assert total(mixed, 1) == [3 + 6 + 3, 3 + 2]
    assert total(mixed, 3) == [3 + 3 * (6 + 3), 3 + 2]
    # Of shared data each of four instances has a quarter.
    assert total(shared, 1) == total(shared, 5) == [3 + 3 / 4] * 2
