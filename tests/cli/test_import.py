"""Figures that were measured elsewhere, kept as runs that the commands of runs read."""

import json
from pathlib import Path

import pytest
from support.cli_documents import kept_results

GIB = 2**30
FIO_JOB = {
    "jobname": "j", "groupid": 0, "error": 0, "job options": {"rw": "randrw", "bs": "4k"}, "job_runtime": 10_000,
    **{
        way: {"iops": rate / 4096, "bw_bytes": rate, "runtime": 10_000} for way, rate in (("read", 7e7), ("write", 3e7))
    },
}  # fmt: skip
# m6i.large, its address and root volume (eu-central-1, the price book), and 100 GiB of gp3.
HOUR = 0.096 + 0.005 + 20 * 0.08 / 730
GP3_HOUR = HOUR + 100 * 0.08 / 730


def fio(tmp_path, name, *, faster=1.0, at_s=1_800_000_010):
    """Write a file of fio; return its name."""
    sides = {way: {**FIO_JOB[way]} for way in ("read", "write")}
    for side in sides.values():
        side["iops"] *= faster
        side["bw_bytes"] *= faster
    document = {"fio version": "fio-3.33", "timestamp_ms": at_s * 1000, "jobs": [{**FIO_JOB, **sides}]}
    (tmp_path / name).write_text(json.dumps(document))
    return name


def test_the_commands_of_runs_read_what_was_imported(matrix, tmp_path):
    for run, faster in (("before", 1.0), ("after", 1.5)):
        files = [fio(tmp_path, f"{run}{i}.json", faster=faster, at_s=1_800_000_000 + 60 * i) for i in range(3)]
        seen = matrix("import", *files, "--as", run, "--storage", "efs", "--instance-type", "m6i.large")
        assert seen.exit_code == 0, seen.stderr

    (pair,) = json.loads(matrix("compare", "before", "after", "--json").stdout)["compared"]
    assert pair["base"]["n"] == pair["run"]["n"] == 3
    assert pair["ratio"] == pytest.approx(3 / 2, rel=1e-3)
    assert matrix("report", "before", "--output", "page.html").exit_code == 0
    assert "elsewhere, by fio" in (tmp_path / "page.html").read_text()
    assert "files of fio" in matrix("results", "before").output
    (track,) = json.loads(matrix("history", "efs", "--json").stdout)
    assert {each["run"] for each in track["measured"]} == {"before", "after"}


@pytest.mark.parametrize(
    ("storage", "usd_per_tb"),
    [
        ('{"type": "ebs", "volumeType": "gp3", "sizeGiB": 100}', GP3_HOUR * 10 / 3600 / 1e-3),
        ("efs", HOUR * 10 / 3600 / 1e-3 + (0.7 * 0.03 + 0.3 * 0.06) * 1e12 / GIB),
    ],
)
def test_each_byte_of_an_import_is_counted_once_and_in_its_direction(matrix, tmp_path, storage, usd_per_tb):
    matrix("import", fio(tmp_path, "f.json"), "--as", "old", "--storage", storage, "--instance-type", "m6i.large")

    (result,) = kept_results("old").values()
    (rates,) = (point["fleet"][0] for point in result["points"])
    counted = {name: rates[name] * rates["span_s"] for name in rates if name.endswith("bytes_per_s")}
    assert counted == {"read_bytes_per_s": pytest.approx(7e8), "write_bytes_per_s": pytest.approx(3e8)}
    row = json.loads(matrix("results", "old", "--format", "jsonl").stdout.splitlines()[0])
    assert (row["usd_per"], row["usd"]) == ("TB moved", pytest.approx(usd_per_tb, rel=1e-3))


RECORDED = Path(__file__).parent / "recorded_tools"
OF_OTHERS = [
    (file.name, file.read_bytes(), "is an output of")
    for file in sorted([*RECORDED.glob("*.txt"), *RECORDED.glob("*.json")])
]
NEARLY = [
    ("warp.json", b'{\n  "v": 2,\n  "by_op_type": {}\n}', "is an output of warp"),
    ("text.txt", b"x: (g=0): rw=read, bs=(R) 4096B-4096B, iodepth=1\nfio-3.33\nStarting 1 process\n", "is fio's text"),
    ("terse.txt", b"3;fio-3.33;x;0;0;1024;341333;85333;3;0;0;0.000000\n", "is fio's terse output"),
    ("table.xlsx", b"PK\x03\x04", "save its table as CSV"),
    ("logs.zip", b"PK\x03\x04", "unzip logs.zip"),
    ("fio.json.gz", b"\x1f\x8b", "gunzip fio.json.gz"),
    ("cut.json", b'{"fio version": "fio-3.33",\n "jobs": [\n  oops: 1', "'oops: 1'"),
]


@pytest.mark.parametrize(
    ("name", "content", "found"), OF_OTHERS + NEARLY, ids=[name for name, *_ in OF_OTHERS + NEARLY]
)
def test_a_file_that_is_nearly_right_is_told_by_what_it_is(matrix, tmp_path, name, content, found):
    (tmp_path / name).write_bytes(content)

    said = matrix("import", name, "--as", "r")

    message = " ".join(said.stderr.split())
    assert (said.exit_code, found in message) == (2, True), message
    assert ("docs/other-tools.md" in message) == found.startswith("is an output of")
    assert ("run fio" in message) == (not found.startswith("is an output of"))


def test_a_compressed_file_is_named_with_what_decompresses_it(matrix, workdir, tmp_path):
    (tmp_path / "fio.json.zst").write_bytes(b"\x28\xb5\x2f\xfd")

    seen = matrix("import", fio(tmp_path, "good.json"), "fio.json.zst", "--as", "old")

    assert (seen.exit_code, "zstd -d fio.json.zst" in " ".join(seen.stderr.split())) == (2, True)
    assert not (workdir / "runs/old").exists()
