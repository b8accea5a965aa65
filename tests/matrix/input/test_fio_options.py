"""What of fio's options is passed on: by fio's own names and values, on the storage under test."""

import json
import subprocess

import pytest
from support.agent_cloud import needs
from support.matrices import EBS, matrix

from cli.inputs import fio_here
from contract.fio_job import FioJob, sum_of_places
from matrix.input.workloads import fio_options
from matrix.input.workloads.contract import Clients
from matrix.input.workloads.fio import FioWorkload
from matrix.input.workloads.fio_places import passed_on
from matrix.storages.ebs import EbsStorage
from matrix.terms.problems import InvalidMatrix

GIB = 2**30
TIMED = {"size": "1g", "time_based": 1, "runtime": 30}


def planned(**fields):
    workload = fields if {"jobFile", "readwrite"} & fields.keys() else {"rw": "randread"} | fields
    return matrix(storage=[EBS | {"sizeGiB": 100}], workload=[{"type": "fio", **workload}])


def points(**fields):
    return planned(**fields).matrix.workload[0].points()


def test_an_alias_is_the_option_that_it_is_an_alias_of():
    [point] = points(nr_files=2, timeout="30s", io_limit="2g", blocksize="8k", readwrite="randwrite", size="1g")

    assert point["options"] == {
        "nrfiles": 2, "runtime": "30s", "io_size": "2g", "bs": "8k", "rw": "randwrite", "size": "1g",
    }  # fmt: skip
    with pytest.raises(InvalidMatrix) as refused:
        planned(runtime=10, timeout=20, size="1g")
    assert [problem.path for problem in refused.value.problems] == ["workload[0].timeout"]


@needs("fio")
def test_the_installed_fio_takes_all_aliases_of_options_that_are_of_no_engine():
    of_engines = {name for names in fio_options.ENGINE_OPTIONS.values() for name in names}

    for alias, name in fio_options.ALIASES.items():
        said = subprocess.run(["fio", f"--cmdhelp={alias}"], capture_output=True, text=True).stdout
        assert f"{name}:" in said or name in of_engines, alias


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *[
            ("verify", "0"),
            ("ramp_time", "0s"),
            ("ramp_time", 0),
            ("gtod_reduce", 0),
            ("zonemode", "none"),
            ("loops", 1),
        ],
        *[("unified_rw_reporting", "none"), ("startdelay", 0), ("runtime", 0), ("clat_percentiles", 1)],
    ],
)
def test_what_is_off_or_as_without_it_is_never_refused(name, value):
    assert planned(size="1g", **{name: value})


@pytest.mark.parametrize(
    ("name", "meant"),
    [("iodept", "iodepth"), ("steadystate_check_interval", ""), ("discard", ""), ("run_time", "runtime")],
)
def test_a_hint_names_what_is_meant_or_nothing(name, meant):
    _, _, fix = fio_options.name_fault(name)

    assert fix == (f"did you mean {meant}?" if meant else "leave it out")


@pytest.mark.parametrize(
    "options",
    [
        {"rw": "randrw:16", "size": "1g"}, {"rw": "read:-8k", "size": "1g"}, {"continue_on_error": "all", **TIMED},
        {"exitall": 1, **TIMED}, {"prio": 3, **TIMED}, {"bssplit": "4k/60:64k/40", **TIMED}, {"thread": 4, **TIMED},
        {"random_distribution": "zoned:50/5:30/15:20/", **TIMED}, {"ss": "iops_slope:0.1%", "ss_dur": "10s", **TIMED},
        {"verify": "crc32c", "rw": "randwrite", "size": "1g"}, {"flow": 8, **TIMED}, {"size": "1g", "zonesize": "64k"},
    ],
    ids=json.dumps,
)  # fmt: skip
def test_what_fio_takes_is_planned(options):
    [point] = points(**options)

    assert options.items() <= {**point["options"], "ss": point["options"].get("steadystate"),
                               "ss_dur": point["options"].get("steadystate_duration")}.items()  # fmt: skip


@needs("fio")
def test_what_only_fio_refuses_is_refused_in_its_words():
    checked = planned(bsrange="4k", size="1g")

    [problem] = fio_here.problems(checked.cells)

    assert (problem.path, problem.code) == ("workload[0]", "fio-refuses")
    assert "bsrange=4k" in problem.rule
    assert list(fio_here.problems(planned(bsrange="4k-8k", size="1m", numjobs=4_000).cells)) == []


def test_without_fio_or_with_an_older_one_nothing_is_said(monkeypatch, tmp_path):
    checked = planned(bsrange="4k", size="1g")
    monkeypatch.setattr(fio_here.tools, "find", lambda _: None)
    assert list(fio_here.problems(checked.cells)) == []
    older = tmp_path / "fio"
    older.write_text("#!/bin/sh\necho fio-3.16\n")
    older.chmod(0o755)
    monkeypatch.setattr(fio_here.tools, "find", lambda _: str(older))
    assert list(fio_here.problems(checked.cells)) == []


@pytest.mark.parametrize(
    ("given", "is_device", "kept", "changes"),
    [
        ({"filename": "a"}, False, {"filename": "a"}, []),
        ({"filename": "a:b"}, False, {"filename": "a:b"}, []),
        ({"directory": "/mnt/efs", "filename": "a"}, False, {"filename": "mnt-efs-a"}, ["filename"]),
        ({"filename": "/mnt/efs/../a"}, False, {"filename": "mnt-efs-a"}, ["filename"]),
        ({"directory": "/srv/dev/bench"}, False, {}, ["directory"]),
        ({"filename_format": "x/$jobnum"}, False, {"filename_format": "x-$jobnum"}, ["filename_format"]),
        ({"filename": "/dev/nvme1n1"}, True, {}, ["filename"]),
        (
            {"write_bw_log": "x", "log_avg_msec": 1000, "unlink": 1},
            False,
            {},
            ["write_bw_log", "log_avg_msec", "unlink"],
        ),
        ({"group_reporting": 1, "gtod_reduce": 0}, False, {"group_reporting": 1}, []),
        # The later one wins.
        ({"timeout": 1, "bs": "4k", "runtime": 2}, False, {"bs": "4k", "runtime": 2}, []),
    ],
    ids=str,
)
def test_targets_are_on_the_storage_and_each_change_is_said(given, is_device, kept, changes):
    passed, said = passed_on(given, is_device=is_device)

    assert passed == kept
    assert [change.name for change in said] == changes


def test_a_changed_line_is_a_warning_with_its_new_line():
    text = "[global]\nsize=1g\ndirectory=/mnt/a\n[r]\nrw=randread\nfilename=x\n"

    [warning] = [each for each in planned(jobFile=text).warnings if each.code == "changes-are-said"]

    assert (warning.path, warning.value, warning.rule) == (
        "workload[0].jobFile.r.filename",
        "x",
        "becomes filename=mnt-a-x",
    )


def test_processes_and_sections_of_one_file_share_it():
    alone = {"size": "8g", "numjobs": 4, "filename": "shared"}
    [one] = [FioJob(options) for options in (alone,)]
    assert (one.stored_bytes, one.laid_out_bytes, one.files) == (8 * GIB, 8 * GIB, 1)
    assert one.moved_bytes == 32 * GIB
    assert FioJob({**alone, "offset_increment": "2g"}).stored_bytes == (8 + 3 * 2) * GIB
    assert FioJob({"size": "8g", "numjobs": 4, "filename_format": "f.$filenum"}).stored_bytes == 8 * GIB
    assert FioJob({"size": "8g", "numjobs": 4, "filename_format": "f.$jobnum"}).stored_bytes == 32 * GIB
    jobs = [FioJob({"size": size, "filename": name}) for size, name in (("1g", "a"), ("2g", "a"), ("4g", "b"))]
    assert sum_of_places(jobs, [job.stored_bytes for job in jobs]) == 6 * GIB


@pytest.mark.parametrize(
    ("options", "stored_gib", "moved_gib"),
    [({"size": "100%"}, 100, 100), ({}, 100, 100), ({"offset": "25%"}, 100, 75),
     ({"offset": "50%", "size": "25%"}, 75, 25), ({"filesize": "10g"}, 10, 10),
     ({"offset": "99%", "size": "25%"}, 100, 1)],
    ids=str,
)  # fmt: skip
def test_a_whole_device_or_a_quarter_of_it_can_be_measured(options, stored_gib, moved_gib):
    checked = planned(filename="/dev/nvme1n1", rw="randwrite", bs="4k", direct=1, **options)
    [workload], [storage] = checked.matrix.workload, checked.matrix.storage

    footprint = workload.footprint(*workload.points(), storage, Clients(1))

    assert workload.points()[0]["device"]
    assert (footprint.stored_bytes / GIB, footprint.written_bytes / GIB) == (stored_gib, moved_gib)


def test_sections_side_by_side_on_one_device_meet_there():
    job_file = "[global]\nfilename=/dev/sdb\nsize=60g\ndirect=1\n[a]\nrw=randread\n[b]\nrw=randwrite\n"
    checked = planned(jobFile=job_file)
    [workload], [storage] = checked.matrix.workload, checked.matrix.storage

    for point in workload.points():
        assert workload.footprint(point, storage, Clients(1)).stored_bytes == 60 * GIB


def test_two_devices_are_a_raid_of_two():
    text = "[a]\nfilename=/dev/sdb:/dev/sdc\nrw=randread\nbs=4k\ndirect=1\n"
    assert matrix(storage=[EBS | {"raid0": 2}], workload=[{"type": "fio", "jobFile": text}]).cells


def test_what_direct_refuses_on_a_disk_is_taken_by_a_file_server():
    given = {"type": "fio", "rw": "randwrite", "bs": "4KiB", "direct": 1, "size": "1g"}
    assert matrix(storage=[{"type": "efs"}], workload=[given]).cells
    assert matrix(storage=[EBS], workload=[given | {"direct": 0}]).cells


def test_sizes_have_their_shares_and_a_pattern_with_steps_reads_less():
    mixed = FioJob({"rw": "randrw", "bssplit": "4k/60:64k/40,8k"})
    assert mixed.blocks == pytest.approx((0.6 * 4096 + 0.4 * 65536, 8192))
    assert FioJob({"rw": "read", "bssplit": "4k/50:8k:12k"}).blocks[0] == 0.5 * 4096 + 0.25 * (8192 + 12288)
    # Seen with fio 3.33: 352,256 of 2^20 bytes, and all of them backwards.
    assert FioJob({"rw": "read:8k", "bs": "4k", "size": "1m"}).moved_bytes == pytest.approx(352_256, rel=0.01)
    assert FioJob({"rw": "read:-8k", "bs": "4k", "size": "1m"}).moved_bytes == 2**20


def test_a_verify_reads_what_was_written_after_it():
    given = {"type": "fio", "rw": "randwrite", "bs": "1m", "size": "4g", "direct": 1}
    plain, verified = (FioWorkload.model_validate(given | more) for more in ({}, {"verify": "crc32c"}))
    ebs = EbsStorage.model_validate(EBS)

    once, twice = (each.footprint(*each.points(), ebs, Clients(1)) for each in (plain, verified))

    assert (once.read_bytes, twice.read_bytes) == (0, 4 * GIB)
    assert twice.written_bytes == once.written_bytes
    assert twice.seconds == pytest.approx(2 * once.seconds)


def test_a_section_begins_behind_the_one_that_it_waits_for():
    text = "[global]\nsize=1g\n[a]\nrw=write\n[b]\nwait_for=a\nrw=read\n[c]\nwait_for=a\nrw=read\n"

    beside = {point["section"]: list(point.get("beside", ())) for point in points(jobFile=text)}

    assert beside == {"a": [], "b": ["c"], "c": ["b"]}


@pytest.mark.parametrize("option", ["fill_device", "file_append", "flow", "thinktime_iotime"])
def test_time_and_bytes_are_asked_for_where_options_do_not_tell_them(option):
    given = {"rw": "write", "size": "1g", option: 1}
    expected = {"expectedSeconds": 100, "expectedReadGiB": 0, "expectedWriteGiB": 50}
    for lacking in ({}, {"expectedSeconds": 100}):
        with pytest.raises(InvalidMatrix) as refused:
            planned(**given, **lacking)
        assert [(each.path, each.code) for each in refused.value.problems] == [
            (f"workload[0].{option}", "amounts-are-told")
        ]
    checked = planned(**given, **expected)
    [workload], [storage] = checked.matrix.workload, checked.matrix.storage

    footprint = workload.footprint(*workload.points(), storage, Clients(1))

    assert (footprint.seconds, footprint.written_bytes, footprint.read_bytes) == (100, 50 * GIB, 0)
    assert planned(**given, runtime=30)


def test_a_job_that_fills_a_disk_needs_no_size():
    expected = {"expectedSeconds": 100, "expectedReadGiB": 0, "expectedWriteGiB": 50}
    assert planned(rw="write", fill_device=1, **expected)


def test_what_options_tell_is_not_taken_from_what_is_expected():
    plain, expecting = (planned(**TIMED, **more).matrix for more in ({}, {"expectedSeconds": 9}))
    [storage] = plain.storage

    seconds = {each.workload[0].footprint(*each.workload[0].points(), storage, Clients(1)).seconds
               for each in (plain, expecting)}  # fmt: skip
    assert len(seconds) == 1


def test_a_job_that_starts_later_ends_later():
    text = "[global]\nsize=1g\ntime_based\nruntime=30\nrw=randread\n[a]\n[b]\nstartdelay=60-90s\n"
    checked = planned(jobFile=text)
    [workload], [storage] = checked.matrix.workload, checked.matrix.storage

    for point in workload.points():
        footprint = workload.footprint(point, storage, Clients(1))
        assert footprint.seconds == footprint.longest_s == 120


@pytest.mark.parametrize("numjobs", ["5k", "9999999g"])
def test_more_processes_than_fio_has_are_refused_at_once(numjobs):
    with pytest.raises(InvalidMatrix) as refused:
        planned(size="4k", numjobs=numjobs)
    assert [problem.path for problem in refused.value.problems] == ["workload[0].numjobs"]
