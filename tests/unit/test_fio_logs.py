"""fio's JSON of several versions as rows with the same units."""

import json

import pytest

from matrix.fio_logs import NotFio, rows, to_csv

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


def test_zeros_that_stand_for_no_latency_are_none():
    job = {"jobname": "j", "write": {"iops": 5.0, "bw": 20, "clat": {"percentile": {"50.000000": 0, "99.000000": 0}}}}

    (row,) = rows(json.dumps({"jobs": [job]}), "f")

    assert (row.lat_p50_us, row.lat_p99_us) == (None, None)


def test_warnings_before_the_document_and_text_after_it_do_not_matter():
    assert len(rows(f"fio: warning\n{json.dumps(FIO_3)}\nbye", "f")) == 2


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
