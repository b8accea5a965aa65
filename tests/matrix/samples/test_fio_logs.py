"""fio's JSON of several versions as rows with the same units."""

import copy
import json
from dataclasses import asdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from matrix.samples.fio_logs import NotFio, rows, to_csv

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
    assert (row.block_kib, row.rw, row.jobs) == (4, "read", 1)


def test_a_block_size_that_is_left_out_between_commas_is_fios_own():
    job = FIO_3["jobs"][0] | {"job options": {"rw": "randrw", "bs": "8k,"}}

    assert [row.block_kib for row in rows(json.dumps({"jobs": [job]}), "f")] == [8, 4]


def test_zeros_that_stand_for_no_latency_are_none():
    job = {"jobname": "j", "write": {"iops": 5.0, "bw": 20, "clat": {"percentile": {"50.000000": 0, "99.000000": 0}}}}

    (row,) = rows(json.dumps({"jobs": [job]}), "f")

    assert (row.lat_p50_us, row.lat_p99_us) == (None, None)


def test_warnings_before_the_document_and_text_after_it_do_not_matter():
    assert len(rows(f"fio: warning\n{json.dumps(FIO_3)}\nbye", "f")) == 2


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


def test_a_second_document_that_is_cut_off_is_not_passed_over():
    with pytest.raises(NotFio, match="is no JSON"):
        rows(status(1001.0, 1.0, iops=1) + status(1002.0, 2.0, iops=2)[:-20], "f")


def test_clients_are_rows_and_their_sum_is_none():
    clients = {"client_stats": [*FIO_3["jobs"], {**FIO_3["jobs"][0], "jobname": "All clients"}]}

    assert [row.jobname for row in rows(json.dumps(clients), "f")] == ["new", "new"]


@pytest.mark.parametrize("text", ["", "terse;3;fio", "{", "{}", '{"jobs": 3}', '{"jobs": [3]}', "[" * 5])
def test_what_is_no_output_of_fio_is_said_to_be_none(text):
    with pytest.raises(NotFio):
        rows(text, "f")


def test_csv_has_the_columns_of_the_rows():
    lines = to_csv(rows(json.dumps(FIO_2), "old.json")).splitlines()

    assert lines[0] == "file,jobname,rw,block_kib,jobs,iodepth,iops,mib_per_s,lat_p50_us,lat_p99_us"
    assert lines[1] == "old.json,old,randread,4.0,4,32,512.0,2.0,250.0,900.0"


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
    except NotFio as error:
        assert str(error)
    else:
        json.dumps([asdict(row) for row in found], allow_nan=False)
