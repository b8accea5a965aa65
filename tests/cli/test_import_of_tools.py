"""The lines of docs/other-tools.md, on what the tools themselves wrote (tests/cli/recorded_tools)."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from support.cli_documents import kept_results, kept_summary

ROOT = Path(__file__).parents[2]
RECORDED = Path(__file__).parent / "recorded_tools"
LINES = re.findall(r"```sh\n(.*?)```", (ROOT / "docs/other-tools.md").read_text(), re.DOTALL)
AWKS = {"mawk": "mawk", "gawk": "gawk --posix", "original-awk": "original-awk", "busybox": "busybox awk"}
# Of each line: the files that it reads, and values of some test points by metric, as the files show them.
EXPECTED = {
    "ior-*.json": [
        (
            {"operation": "write", "tasks": 2, "transferSize": 262144, "filePerProc": 1},
            {"mib_per_s": [6364.6495, 6633.9328, 4046.115, 4584.5651]},
        ),
        ({"operation": "read"}, {"mib_per_s": [16668.8684, 18558.8673, 13981.0133, 17313.9484]}),
    ],
    "ior-*.txt": [
        (
            {"operation": "write", "options": "-a POSIX -t 256k -b 4m -F -i 2 -w -r"},
            {"mib_per_s": [1540.54, 5278, 1014.99, 1395.72]},
        ),
        ({"operation": "read"}, {"mib_per_s": [15449, 17128, 1218.74, 938.43]}),
    ],
    "mdtest-*.txt": [
        ({"operation": "file creation", "tasks": 2, "options": "-n 200 -i 1"}, {"rate": [6661.326, 5883.398]}),
        ({"operation": "directory stat"}, {"rate": [1212226.59, 17641.472]}),
    ],
    "io500-*.txt": [
        ({"operation": "ior-easy-write"}, {"bandwidth": [0.098477, 0.176351]}),
        ({"operation": "mdtest-hard-delete"}, {"rate": [0.435281, 1.098793]}),
        ({"operation": "score"}, {"score": [1.196349, 1.860172]}),
    ],
    "elbencho-*.csv": [
        (
            {"operation": "READ", "block_bytes": 4096, "random": 1, "iodepth": 4},
            {"mib_per_s": [550, 610], "iops": [140872, 156240]},
        ),
        ({"operation": "MKDIRS", "threads": 2}, {"entries_per_s": [3527, 698]}),
        ({"operation": "RWMIX30"}, {"mib_per_s": [135, 336], "rwmix_read_mib_per_s": [115, 287]}),
    ],
    "warp-*.json.zst": [
        (
            {"command": "get", "operation": "GET", "object_bytes": 65536, "concurrency": 2},
            {
                "mib_per_s": [17.85306625070731, 23.53547284147688],
                "objects_per_s": [285.649060011317, 376.5675654636301],
            },
        ),
        ({"command": "mixed", "operation": "GET"}, {"mib_per_s": [7.382728135484136]}),
        ({"operation": "STAT"}, {"objects_per_s": [77.6721107854869]}),
    ],
    "sysbench-*.txt": [
        (
            {"test": "random r/w", "threads": 2, "block": "16KiB", "fsync_every": 100},
            {"read_iops": [7393.37], "write_iops": [4928.91], "read_mib_per_s": [115.52], "latency_average": [0.15]},
        ),
        ({"test": "sequential read"}, {"read_mib_per_s": [4552.6]}),
        ({"test": None, "threads": 2}, {"tps": [212.38], "latency_average": [9.39]}),
    ],
    "pgbench-*.txt": [
        (
            {"script": "<builtin: TPC-B (sort of)>", "clients": 4, "scale": 1},
            {"tps": [226.721503, 184.85532], "latency_average": [17.643, 21.517]},
        ),
        ({"script": "<builtin: select only>", "connections": "kept"}, {"tps": [8842.81424]}),
        ({"script": "<builtin: select only>", "connections": "new"}, {"tps": [140.762604]}),
    ],
}
READS = {next(name for name in EXPECTED if name in line): line for line in LINES}

# As other versions print it, with invented numbers.
MDTEST_3_2 = """\
mdtest-3.2.1 was launched with 32 total task(s) on 4 node(s)
Command line used: ./mdtest -n 100 -F -d /efs/x

SUMMARY rate: (of 1 iterations)
   Operation                      Max            Min           Mean        Std Dev
   ---------                      ---            ---           ----        -------
   File creation             :       4512.112       4498.000       4502.112          7.000
   File stat                 :          0.000          0.000          0.000          0.000
-- finished at 11/28/2023 10:00:00 --
"""
PGBENCH_13 = """\
transaction type: <builtin: TPC-B (sort of)>
scaling factor: 7
query mode: prepared
number of clients: 3
number of threads: 1
number of transactions actually processed: 300/300
latency average = 9.113 ms
latency stddev = 6.351 ms
tps = 108.100001 (including connections establishing)
tps = 108.200002 (excluding connections establishing)
"""

SYSBENCH_1_1 = """\
sysbench 1.1.0-3ceba0b (using bundled LuaJIT 2.1.0-beta2)

Running the test with following options:
Number of threads: 3
Extra file open flags: dsync directio
5 files, 1GiB each
5GiB total file size
Block size 4KiB
Calling fsync() after each write operation.
Using synchronous I/O mode
Doing random write test

Throughput:
         read:  IOPS=0.00 0.00 MiB/s (0.00 MB/s)
         write: IOPS=512.25 2.00 MiB/s (2.10 MB/s)
         fsync: IOPS=512.25

Latency (ms):
         min:                                  0.41
         avg:                                  5.86
         max:                                 31.07
        95th percentile:                       9.10
         sum:                              30001.42

"""
SYSBENCH_ROW = 'random write,3,5,5GiB,4KiB,,"dsync directio",synchronous,1,,512.25,,2.00,,5.86,sysbench 1.1.0-3ceba0b'


def table(folder, line, awk):
    """Run a line of the page in a folder; return the table that it wrote."""
    for program in ("jq", "zstd"):
        if program in line and shutil.which(program) is None:
            pytest.skip(f"needs {program}")
    programs = folder / "programs"
    programs.mkdir(exist_ok=True)
    (programs / "awk").write_text(f'#!/bin/sh\nexec {AWKS[awk]} "$@"\n')
    (programs / "awk").chmod(0o755)
    subprocess.run(["sh", "-c", f"PATH={programs}:$PATH\n{line}"], cwd=folder, check=True)
    return (folder / re.search(r"> (\S+\.csv)\n$", line)[1]).read_text()


def test_each_line_of_the_page_is_tested():
    assert READS.keys() == EXPECTED.keys()
    assert len(LINES) == len(EXPECTED)


@pytest.mark.parametrize("awk", [*filter(shutil.which, AWKS)])
@pytest.mark.parametrize("reads", EXPECTED)
def test_a_line_makes_a_table_of_what_its_tool_wrote(tmp_path, matrix, reads, awk):
    for file in RECORDED.glob(reads):
        shutil.copy(file, tmp_path)
    written = table(tmp_path, READS[reads], awk)
    (tmp_path / "t.csv").write_text(written)

    said = matrix("import", "t.csv", "--as", "r", "--storage", "efs", "--instance-type", "m6i.large")

    assert said.exit_code == 0, said.stderr
    (result,) = kept_results("r").values()
    for params, values in EXPECTED[reads]:
        (point,) = [
            point for point in result["points"] if params == {name: point["params"].get(name) for name in params}
        ]
        assert {name: point["samples"]["metrics"][name] for name in values} == values
        assert point["samples"]["repetition"] == [*range(1, 1 + len(next(iter(values.values()))))]
    assert result["workload"]["name"] == kept_summary("r")["tools"][0] == reads.partition("-")[0]


@pytest.mark.parametrize("reads", EXPECTED)
def test_outputs_that_were_put_together_give_the_same_table(tmp_path, reads):
    files = sorted(RECORDED.glob(reads))
    together = tmp_path / "together"
    together.mkdir()
    (together / files[0].name).write_bytes(b"".join(file.read_bytes() for file in files))
    for file in files:
        shutil.copy(file, tmp_path)
    awk = next(filter(shutil.which, AWKS))

    assert table(together, READS[reads], awk) == table(tmp_path, READS[reads], awk)


@pytest.mark.parametrize(
    ("reads", "text", "rows"),
    [
        (
            "mdtest-*.txt",
            MDTEST_3_2,
            [
                'mdtest,file creation,4,32," -n 100 -F",4502.112,mdtest-3.2.1',
                'mdtest,file stat,4,32," -n 100 -F",0.000,mdtest-3.2.1',
            ],
        ),
        ("pgbench-*.txt", PGBENCH_13, ['pgbench,"<builtin: TPC-B (sort of)>",7,prepared,3,1,kept,108.200002,9.113,']),
        ("sysbench-*.txt", SYSBENCH_1_1, [f"sysbench,{SYSBENCH_ROW}"]),
    ],
    ids=["mdtest 3.2", "pgbench 13", "sysbench 1.1"],
)
def test_outputs_of_other_versions_are_read_too(tmp_path, reads, text, rows):
    (tmp_path / reads.replace("*", "1")).write_text(text)

    for awk in filter(shutil.which, AWKS):
        assert table(tmp_path, READS[reads], awk).splitlines()[1:] == rows


def test_rows_of_elbencho_without_their_names_are_refused_by_the_line(tmp_path):
    (tmp_path / "elbencho-1.csv").write_text((RECORDED / "elbencho-1.csv").read_text().partition("\n")[2])

    with pytest.raises(subprocess.CalledProcessError):
        table(tmp_path, READS["elbencho-*.csv"], next(filter(shutil.which, AWKS)))
