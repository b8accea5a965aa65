"""fio's JSON of several versions as rows with the same units."""

import copy
import json
from dataclasses import asdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from matrix.samples import fio_logs
from matrix.samples.tool_logs import NotALog
from matrix.tables.csv_table import csv_table
from matrix.tables.fio_table import fio_table

FIO_2 = {
    "fio version": "fio-2.2.10",
    "jobs": [
        {
            "jobname": "old", "job options": {"rw": "randread", "bs": "4k", "iodepth": "32", "numjobs": "4"},
            "read": {"total_ios": 1000, "io_bytes": 4000, "bw": 2048, "iops": 512.0,
                     "clat": {"min": 1, "percentile": {"50.000000": 250, "99.000000": 900}}},
            "write": {"io_bytes": 0, "bw": 0, "iops": 0.0, "clat": {"percentile": {"50.000000": 0}}},
        }
    ],
}  # fmt: skip
FIO_3 = {
    "fio version": "fio-3.33",
    "global options": {"ioengine": "libaio", "iodepth": "16"},
    "jobs": [
        {
            "jobname": "new", "job options": {"rw": "randrw", "bs": "16k,1m", "numjobs": "2"},
            "read": {"total_ios": 10, "io_bytes": 163840, "bw_bytes": 3 * 2**20, "bw": 3072, "iops": 192.0,
                     "clat_ns": {"percentile": {"50.000000": 250_000, "99.000000": 900_000}}},
            "write": {"total_ios": 10, "io_bytes": 10 * 2**20, "bw_bytes": 2**20, "bw": 1024, "iops": 1.0,
                      "clat_ns": {"bins": {"1000000": 60, "5000000": 40}}},
            "trim": {"total_ios": 0, "iops": 0.0},
        }
    ],
}  # fmt: skip


def rows(text, file="f"):
    return fio_logs.rows(fio_logs.read(text), file)


def test_fio_2_tells_microseconds_and_kib():
    (row,) = rows(json.dumps(FIO_2), "old.json")

    assert (row.file, row.jobname, row.rw, row.block_kib, row.jobs, row.iodepth) == (
        *("old.json", "old", "randread", 4, 4, 32),
    )
    assert (row.iops, row.mib_per_s, row.lat_p50_us, row.lat_p99_us) == (512, 2, 250, 900)


def test_fio_3_tells_nanoseconds_and_bytes_and_has_a_row_for_each_direction():
    read, write = rows(json.dumps(FIO_3), "new.json")

    assert (read.rw, read.block_kib, read.iodepth, read.mib_per_s) == ("randrw (read)", 16, 16, 3)
    assert (read.lat_p50_us, read.lat_p99_us) == (250, 900)
    assert (write.rw, write.block_kib, write.mib_per_s) == ("randrw (write)", 1024, 1)


def test_percentiles_that_are_not_listed_come_from_the_bins_of_json_plus():
    write = rows(json.dumps(FIO_3), "new.json")[1]

    # 60 of 100 operations took 1 ms, the others 5.
    assert (write.lat_p50_us, write.lat_p99_us) == (1000, 5000)


def test_without_options_the_block_size_is_what_an_operation_moved():
    bare = {"jobs": [{**FIO_2["jobs"][0], "job options": {}}]}

    (row,) = rows(json.dumps(bare), "f")

    # 2,048 KiB/s over 512 operations a second.
    assert (row.block_kib, row.rw, row.jobs, row.iodepth) == (4, "read", None, None)


def record(ways=("read",), *, iops=1000.0, bs=4096, lat_ms=1.0, max_ms=2.0, options=None, **fields):
    """A record of fio 3 of a minute, of one process with one operation in flight."""
    side = {"iops": iops, "bw_bytes": iops * bs, "runtime": 60_000, "total_ios": int(60 * iops),
            "lat_ns": {"min": 1, "max": max_ms * 1e6, "mean": lat_ms * 1e6}}  # fmt: skip
    given = {"rw": "randread", "bs": "4k", "iodepth": "1"} | (options or {})
    return {"jobname": "j", "groupid": 0, "error": 0, "elapsed": 61, "job_runtime": 60_000, "job options": given,
            "iodepth_level": {"1": 100.0, "2": 0.1, ">=64": 0.0}, **dict.fromkeys(ways, side), **fields}  # fmt: skip


def document(*records, at_ms=1_800_000_060_000, **fields):
    return json.dumps({"fio version": "fio-3.33", "timestamp_ms": at_ms, "jobs": list(records), **fields}) + "\n"


@pytest.mark.parametrize(
    "contradicted",
    [
        record(("read", "write")),
        record(bs=65536),
        record(options={"numjobs": "2"}, lat_ms=3.0),
        record(iodepth_level={"1": 40.0, "8": 60.0}),
        record(iodepth_level={">=64": 99.3}, options={"iodepth": "32"}),
        record(job_runtime=180_000, options={"numjobs": "2"}),
    ],
)
def test_options_that_the_record_contradicts_are_those_of_another_job(contradicted):
    # With group_reporting fio writes one record for all sections, with the options of the last.
    found = rows(document(contradicted))

    assert {(row.jobs, row.iodepth, bool(row.note)) for row in found} == {(None, None, True)}
    assert {row.block_kib for row in found} <= {4, 64}  # as moved


@pytest.mark.parametrize(
    ("sound", "jobs", "depth"),
    [
        (record(), 1, 1),
        (record(options={"iodepth": "32", "ioengine": "psync"}), 1, 32),
        (record(options={"iodepth": "0", "numjobs": "0"}), None, None),  # which fio refuses
        (record(options={"numjobs": "4"}, lat_ms=4.0, job_runtime=240_000), 4, 1),
        (record(("read", "write"), options={"rw": "randwrite", "verify": "crc32c"}, lat_ms=0.4), 1, 1),
        (record(("read", "write"), options={"rw": "randrw", "bssplit": "4k/50:64k/50"}, bs=34_816, lat_ms=0.4), 1, 1),
        # An operation of the ramp or of the end takes longer than its part of the runtime.
        (record(iops=0.1, lat_ms=15_000.0, max_ms=60_000.0), 1, 1),
    ],
)
def test_options_that_the_record_allows_are_its_own(sound, jobs, depth):
    found = rows(document(sound))

    assert {(row.jobs, row.iodepth, "unknown" in row.note) for row in found} == {(jobs, depth, False)}


@pytest.mark.parametrize(
    ("options", "cautioned"),
    [
        ({"ioengine": "libaio", "direct": "1", "iodepth": "4"}, []),
        ({"ioengine": "psync", "direct": "1", "iodepth": "32"}, ["iodepth"]),
        ({"ioengine": "libaio", "direct": "0", "iodepth": "4"}, ["iodepth"]),
        # By default fio drops its files from the page cache before it begins; what it reads twice is there again.
        ({"rw": "randread"}, []),
        ({"rw": "randread", "invalidate": "0"}, ["invalidate"]),
        ({"rw": "randread", "invalidate": "0", "direct": "1"}, []),
        ({"rw": "randread", "norandommap": ""}, ["rw"]),
        ({"rw": "randread", "random_distribution": "zipf:1.1"}, ["rw"]),
        ({"rw": "randread", "filename": "/mnt/f", "numjobs": "4"}, ["rw"]),
        ({"rw": "randread", "filename": "/mnt/f", "numjobs": "4", "offset_increment": "1g"}, []),
        ({"ioengine": "mmap", "direct": "1"}, ["ioengine"]),
        ({"direct": "1", "rate_iops": "100"}, ["rate_iops"]),
        ({"direct": "1", "latency_target": "10ms"}, ["latency_target"]),
        ({"rw": "randwrite"}, ["rw"]),
        ({"direct": "1", "verify": "0", "rw": "randwrite"}, []),
    ],
)
def test_what_a_plan_warns_of_is_a_note_of_an_imported_job(options, cautioned):
    way = "write" if "write" in options.get("rw", "") else "read"

    [row] = rows(document(record((way,), options=options)))

    assert [note.split(":")[0] for note in filter(None, row.note.split("; "))] == cautioned


def test_a_steady_state_that_was_not_reached_is_a_note():
    missed, reached = (
        record(options={"direct": "1"}, steadystate={"ss": "iops_slope:0.1%", "attained": attained})
        for attained in (0, 1)
    )

    notes = [row.note for row in rows(document(missed, reached | {"jobname": "k"}))]

    assert ["steady state" in note for note in notes] == [True, False]


def test_writes_and_the_reads_that_verify_them_are_two_results():
    verified = {"rw": "randwrite", "verify": "crc32c", "direct": "1"}
    both = record(("read", "write"), options=verified)
    never_ran = {"runtime": 1, "iops": 1e6, "bw_bytes": 4_096_000_000}
    between = record(("read", "write"), options=verified | {"verify_backlog": "64"})
    between["read"] = between["read"] | never_ran

    [written, read_back] = fio_logs.read(document(both, job_runtime=120_000)).runs[0]
    [only] = fio_logs.read(document(between)).runs[0]

    assert [(job.name, [*job.sides]) for job in (written, read_back)] == [("j", ["write"]), ("j, read back", ["read"])]
    assert written.ended_s == read_back.ended_s - 60  # when the reads began
    assert [*only.sides] == ["write"]


@pytest.mark.parametrize(
    ("options", "kib"),
    [({"bs": "1m"}, 1024), ({"bs": "1MiB"}, 976.5625), ({"bs": "1m", "kb_base": "1000"}, 976.5625),
     ({"bs": "1MiB", "kb_base": "1000"}, 1024), ({"blocksize": "64k"}, 64)],
)  # fmt: skip
def test_a_block_has_the_bytes_that_fio_meant(options, kib):
    [row] = rows(document(record(options=options, bs=int(kib * 1024))))

    assert row.block_kib == kib


def test_without_group_reporting_each_process_is_a_row_of_one_job():
    one = record(options={"numjobs": "2"})

    assert [row.jobs for row in rows(document(one, one))] == [1, 1]


def test_global_options_of_several_clients_are_those_of_each():
    hosts = [{"hostname": host, "port": port} for host, port in (("a", 1), ("a", 2), ("b", 1))]
    records = [{**record(bs=4096 * size), **host, "job options": {"rw": "randread"}}
               for size, host in enumerate(hosts, start=1)]  # fmt: skip
    shared = [{**host, "bs": f"{4 * size}k"} for size, host in enumerate(hosts, start=1)]

    found = rows(json.dumps({"fio version": "fio-3.39", "global options": shared, "client_stats": records}))

    assert [(row.host, row.block_kib, row.jobs) for row in found] == [("a:1", 4, 1), ("a:2", 8, 1), ("b", 12, 1)]


def test_mixed_is_a_direction_unless_the_others_are_there_too():
    mode = {"rw": "randrw"}

    assert [row.rw for row in rows(document(record(("mixed",), options=mode)))] == ["randrw (mixed)"]
    both = record(("read", "write", "mixed"), options=mode, lat_ms=0.4)
    assert [row.rw for row in rows(document(both))] == ["randrw (read)", "randrw (write)"]


WHOLE = document(record())
OTHER = document(record(iops=2000, lat_ms=0.4))


@pytest.mark.parametrize(
    "text",
    [
        f"[{WHOLE}, {OTHER}]",
        f"Jobs: 1 (f=1): [r(1)][50%][{{eta 1s}}]\r{WHOLE}bye {{\n{OTHER}",
        json.dumps({"Raw": [json.loads(WHOLE)], "host": {"stdout": OTHER}}),
    ],
)
def test_documents_are_found_wherever_they_are(text):
    assert [row.iops for row in rows(text)] == [1000, 2000]


@pytest.mark.parametrize(
    "left",
    [
        document(),
        document(record(())),
        document(record((), error=25)),
        document(record(iops=0)),
        "terse;3;fio",
        '{"phase_type": "WRITE"}',
        WHOLE + WHOLE[:-40],
        "", "{", "{}", '{"jobs": 3}', '{"jobs": [3]}', "[" * 5,
    ],
)  # fmt: skip
def test_a_file_without_a_usable_row_is_refused_with_its_reason(left):
    with pytest.raises(NotALog) as refused:
        rows(left)
    assert str(refused.value)


def test_a_job_with_an_error_is_marked():
    (row,) = rows(document(record(error=5)))

    assert (row.error, row.iops) == (5, 1000)


def test_latencies_beyond_the_bins_of_fio_are_as_the_agent_has_them():
    bins = {"1000000": 968, str(17_112_760_320): 32}
    stalled = record(options={"iodepth": "32"}, iops=10)
    stalled["read"] |= {"lat_ns": {"max": 60_000_000_000, "mean": (968 * 1e6 + 32 * 60e9) / 1000, "bins": bins}}
    fio_2 = copy.deepcopy(FIO_2)
    fio_2["jobs"][0]["read"]["clat"] = {"percentile": {"50.000000": 250, "99.000000": 16_711_680}}

    assert rows(document(stalled))[0].lat_p99_us == pytest.approx(60e6, rel=1 / 128)
    assert rows(json.dumps(fio_2))[0].lat_p99_us == 17_112_760.32  # which is written as "at least"


def test_a_block_size_that_is_left_out_between_commas_is_fios_own():
    job = FIO_3["jobs"][0] | {"job options": {"rw": "randrw", "bs": "16k,"}}
    job["write"] = job["write"] | {"bw_bytes": 4096}

    assert [row.block_kib for row in rows(json.dumps({"jobs": [job]}), "f")] == [16, 4]


def test_zeros_that_stand_for_no_latency_are_none():
    job = {"jobname": "j", "write": {"iops": 5.0, "bw": 20, "clat": {"percentile": {"50.000000": 0, "99.000000": 0}}}}

    (row,) = rows(json.dumps({"jobs": [job]}), "f")

    assert (row.lat_p50_us, row.lat_p99_us) == (None, None)


def status(at_s: float, lasted_s: float, iops: float) -> str:
    """What fio 3 writes at a moment, about the time since its start."""
    job = {
        "jobname": "j",
        "elapsed": int(lasted_s) + 1,
        "job_runtime": 1000 * lasted_s,
        "read": {"iops": iops, "bw": 1},
    }
    return json.dumps({"timestamp_ms": 1000 * at_s, "jobs": [job]}, indent=1) + "\n"


def test_of_what_fio_tells_each_second_only_the_last_counts():
    # With --status-interval=1: each document is of all the time since the start.
    text = "".join(status(1000.4 + second, 0.9 + second, iops=100.0 * (second + 1)) for second in range(3))

    assert [row.iops for row in rows(text, "f")] == [300.0]


def test_runs_that_were_appended_to_one_file_all_count():
    text = status(1001.0, 1.0, iops=1) + status(1002.1, 1.0, iops=2) + status(1063.0, 60.0, iops=3)

    assert [row.iops for row in rows(text, "f")] == [1, 2, 3]


def counted(ios, runtime_ms, **fields):
    """A record of so much I/O in this time."""
    counting = record(iops=1000 * ios / runtime_ms, lat_ms=0.1, **{"eta": 0, "minf": 2, **fields})
    return counting | {"read": counting["read"] | {"runtime": runtime_ms, "total_ios": ios}}


@pytest.mark.parametrize(
    ("first", "second", "are_both_kept"),
    [
        (counted(60_000, 60_000), counted(180_000, 60_000), True),  # more I/O in the same time
        (counted(60_000, 60_000), counted(60_000, 60_060), True),  # the same, in more time
        (counted(60_000, 60_000), counted(63_000, 63_000), True),  # 3 s after a job's last second
        (counted(60_000, 60_000), counted(60_030, 60_030, minf=1), True),  # a counter fell
        (counted(60_000, 60_000), counted(60_030, 60_030, max_ms=1.0), True),  # the longest is shorter
        (counted(60_000, 60_000, eta=9), counted(59_000, 60_030), True),
        (counted(59_500, 59_500), counted(60_000, 60_001), False),
        (counted(40_000, 40_000, eta=20), counted(40_000, 60_001), False),  # nothing but a stall
    ],
)
def test_a_document_that_the_next_one_does_not_go_on_from_is_of_another_host(first, second, are_both_kept):
    begun_ms = 1_800_000_000_000
    texts = [document(each, at_ms=begun_ms + each["read"]["runtime"] + 100) for each in (first, second)]

    found = fio_logs.read("".join(texts))

    assert (len(found.runs), found.interim) == ((2, 0) if are_both_kept else (1, 1))


def test_clients_are_rows_and_their_sum_is_none():
    clients = {"client_stats": [*FIO_3["jobs"], {**FIO_3["jobs"][0], "jobname": "All clients"}]}

    assert [row.jobname for row in rows(json.dumps(clients), "f")] == ["new", "new"]


def test_two_numbers_by_one_name_are_refused_and_two_equal_ones_are_not():
    text = json.dumps(FIO_3)
    same, other = (text.replace('"iops": 192.0', f'"iops": 192.0, "iops": {iops}') for iops in (192.0, 999_999.0))

    assert rows(same, "f") == rows(text, "f")
    with pytest.raises(NotALog, match="two values"):
        rows(other, "f")


def test_csv_has_the_columns_of_the_rows():
    lines = csv_table(fio_table(rows(json.dumps(FIO_2), "old.json"))).splitlines()

    assert lines[0] == "file,jobname,rw,block_kib,jobs,iodepth,iops,mib_per_s,lat_p50_us,lat_p99_us,host,error,note"
    assert lines[1].startswith("old.json,old,randread,4.0,4,32,512.0,2.0,250.0,900.0,,0,")


@pytest.mark.parametrize(
    "prefix",
    [
        "2024-05-01T10:00:00.1234{}Z ",
        "2024-05-01 10:0{}:00,123 ",
        "bench-1  | ",
        "[pod/bench-x/fio] | ",
        "[pod/x/fio] ",
        "Nov 29 10:00:0{} host fio[123]: ",
        "[2024-05-01T10:0{}:00.000Z] ",
        "INFO {}: ",
        "\x1b[36m[    0.{}] \x1b[0m",
    ],
)
def test_a_log_with_a_prefix_on_each_line_is_read(prefix):
    text = json.dumps(FIO_3, indent=1)

    log = "".join(f"{prefix.format(number % 10)}{line}\n" for number, line in enumerate(text.splitlines()))

    assert rows(log, "f") == rows(text, "f")


@pytest.mark.parametrize("written", ["-nan", "nan", "NaN", "-inf"])
def test_what_is_no_number_is_none(written):
    text = json.dumps({**FIO_3, "jobs": [{**FIO_3["jobs"][0], "latency_target": 77_001}]}, indent=1)

    assert rows(text.replace("77001", written), "f") == rows(text, "f")


ODD = st.sampled_from(
    [None, True, -1, 0, 10**400, float("nan"), float("inf"), "", "x", "9" * 5000, "²", "1..2", [], [1], {}, {"": {}}]
)
PLACES = [
    (document, path)
    for document, side, clat in ((FIO_2, "read", "clat"), (FIO_3, "write", "clat_ns"))
    for path in (
        ("jobs",), ("global options",), ("jobs", 0), ("jobs", 0, "jobname"), ("jobs", 0, "job options"),
        ("jobs", 0, "job options", "bs"), ("jobs", 0, "job options", "numjobs"), ("jobs", 0, side),
        ("jobs", 0, side, "iops"), ("jobs", 0, side, "bw"), ("jobs", 0, side, "bw_bytes"), ("jobs", 0, side, clat),
        ("jobs", 0, side, clat, "percentile"), ("jobs", 0, side, clat, "percentile", "50.000000"),
        ("jobs", 0, side, clat, "bins"), ("jobs", 0, side, clat, "bins", "1000"),
    )
]  # fmt: skip


@given(st.sampled_from(PLACES), ODD)
@settings(max_examples=300)
def test_a_log_with_anything_in_it_gives_rows_that_are_json_or_is_refused_in_words(place, odd):
    document, (*way, last) = copy.deepcopy(place[0]), place[1]
    here = document
    for step in way:
        here = here.setdefault(step, {}) if isinstance(here, dict) else here[step]
    here[last] = odd

    try:
        found = rows(json.dumps(document), "odd.json")
    except NotALog as error:
        assert str(error)
    else:
        json.dumps([asdict(row) for row in found], allow_nan=False)
