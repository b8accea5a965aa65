"""Tables of figures of any tool, kept as runs; and every mistake of a table at once."""

import json
from pathlib import Path

import pytest
from support.cli_documents import kept_results, kept_summary

from matrix.storages.models import MODELS

ROOT = Path(__file__).parents[2]
IOR = ROOT / "events/import/ior.csv"


@pytest.fixture
def table(tmp_path, matrix):
    """Write lines as a table, import it as the run `r` with further words, and return what was said."""

    def imported(*lines, words=()):
        (tmp_path / "t.csv").write_text("\n".join(lines))
        return matrix("import", "t.csv", "--as", "r", *words)

    return imported


def the_metrics():
    (result,) = kept_results("r").values()
    return [point["metrics"] for point in result["points"]]


def test_the_table_of_the_docs_can_be_copied():
    assert IOR.read_text() in (ROOT / "docs/import.md").read_text()


def test_figures_of_ior_have_results_a_report_and_comparisons(matrix, tmp_path):
    slower = IOR.read_text().replace("301.5", "150.1").replace("98.7", "60.1").replace("101.2", "61.2")
    (tmp_path / "after.csv").write_text(slower.replace("97.9", "59.8"))

    assert matrix("import", str(IOR), "--as", "before").exit_code == 0
    assert matrix("import", "after.csv", "--as", "after").exit_code == 0

    assert "files of ior, measured elsewhere: no storage is recommended" in matrix("results", "before").stdout
    assert matrix("report", "before", "--output", "page.html").exit_code == 0
    assert "IOR 4.0" in (tmp_path / "page.html").read_text()
    compared = json.loads(matrix("compare", "before", "after", "--json").stdout)["compared"]
    assert [pair["ratio"] for pair in compared] == [pytest.approx(1), pytest.approx(60.1 / 98.7)]
    assert kept_summary("before")["tools"] == ["ior"]


def test_rows_of_a_test_point_are_its_repetitions_and_are_judged_by_the_first_metric(table):
    assert (
        table("workload,storage,param.size,tail [ms],iops", "x,efs,1k,5,10", "x,efs,1k,7,30", "x,efs,2k,6,20").exit_code
        == 0
    )

    first, second = the_metrics()
    assert (first["iops"]["n"], first["iops"]["p50"], first["iops"]["higher_is_better"]) == (2, 20.0, True)
    assert (first["tail"]["unit"], first["tail"]["higher_is_better"], first["tail"]["primary"]) == ("ms", False, True)
    assert second["tail"]["n"] == 1
    (result,) = kept_results("r").values()
    assert [point["params"] for point in result["points"]] == [{"size": "1k"}, {"size": "2k"}]
    assert result["points"][0]["samples"]["repetition"] == [1, 2]


def test_rows_of_several_instances_are_values_of_a_fleet(table):
    rows = [f"x,ebs,gp3,100,6,i{instance},{100 + instance + 10 * r}" for instance in range(6) for r in range(3)]

    table("workload,storage,storage.volumeType,storage.sizeGiB,instances,instance,iops", *rows)

    (metrics,) = the_metrics()
    assert metrics["iops"]["n"] == 18
    assert metrics["iops"]["intervals"]["p50"]
    (result,) = kept_results("r").values()
    assert (result["storage"]["iops"], result["fleet"]["count"]) == (3000, 6)


def test_percentiles_stand_for_values_that_are_lost(table, matrix):
    names = ",".join(f"duration_s.p{level}" for level in (0, 50, 75, 90, 98, 100))
    rows = ["build,efs,4,1,2,3,4,5,6,40,2026-11", "build,local disk,4,2,3,4,5,6,7,40,2026-10-30"]

    assert table(f"workload,storage,instances,{names},n,date", *rows).exit_code == 0

    figures = [each["points"][0]["metrics"]["duration_s"] for each in kept_results("r").values()]
    assert [(each["p0"], each["p90"], each["p100"], each["n"]) for each in figures] == [(1, 4, 6, 40), (2, 5, 7, 40)]
    assert kept_summary("r")["finished_at"] - kept_summary("r")["started_at"] == 2 * 86_400
    assert matrix("results", "r").exit_code == 0
    assert matrix("report", "r").exit_code == 0


def test_options_tell_what_a_table_lacks(table):
    assert table("workload,iops", "x,5", words=("--storage", "efs", "--instance-type", "m6i.large")).exit_code == 0

    (result,) = kept_results("r").values()
    assert (result["storage"]["type"], result["fleet"]["instanceType"]) == ("efs", "m6i.large")
    assert "unknown" not in kept_summary("r")["warnings"][0]


@pytest.mark.parametrize("kind", MODELS)
def test_each_storage_can_be_imported(table, matrix, kind):
    """With the fields that `matrix new` writes, at an instance type that can use it."""
    matrix_of_kind = json.loads(matrix("new", "-", "--storage", kind).stdout)
    storage, fleet = matrix_of_kind["storage"][0], matrix_of_kind["fleet"][0]

    seen = table(
        "workload,iops", "x,5", words=("--storage", json.dumps(storage), "--instance-type", fleet["instanceType"])
    )

    assert seen.exit_code == 0, seen.stderr
    (result,) = kept_results("r").values()
    assert storage.items() <= result["storage"].items()
    assert matrix("results", "r").exit_code == 0


def test_what_nobody_tells_stays_unknown(table):
    table("workload,iops", "x,5")

    assert "unknown: storage, instance type" in kept_summary("r")["warnings"][0]


def test_a_doubtful_row_is_shown_and_not_ranked(table, matrix):
    table("workload,storage,iops,suspect", "x,efs,5,read from a cache", "x,my disk,3,")

    assert "read from a cache" in matrix("results", "r", "--all").stdout
    assert {each["suspect"] for each in kept_results("r").values()} == {"read from a cache", None}


def test_a_table_of_a_german_spreadsheet_is_read(table):
    assert table("\ufeffworkload;storage;mb_per_s", "x;efs;5.5", ";;").exit_code == 0

    (metrics,) = the_metrics()
    assert metrics["mb_per_s"]["p50"] == 5.5


HEAD = "workload,storage,storage.volumeType,storage.sizeGiB,instances,read_mib_per_s,n,date"
MISTAKES = [
    (("x,ebs,gp9,100,1,5,,",), "line 2, storage.volumeType: \"gp9\"", "write gp2"),
    (("x,,gp3,100,1,5,,",), "line 2, storage", "write the type"),
    ((",efs,,,1,5,,",), "line 2, workload", "write what measured"),
    (("x,efs,,,1,5,,", "x,efs,,,0,5,,"), 'line 3, instances: "0"', "write 1 or more"),
    (("x,efs,,,1.5,5,,",), 'line 2, instances: "1.5"', "write 1 or more"),
    (('x,efs,,,1,"5,1",,',), 'line 2, read_mib_per_s: "5,1"', "with a point"),
    (("x,efs,,,1,-5,,",), 'line 2, read_mib_per_s: "-5"', "leave it empty"),
    (("x,efs,,,1,nan,,",), 'line 2, read_mib_per_s: "nan"', "leave it empty"),
    (("x,efs,,,1,1e16,,",), 'line 2, read_mib_per_s: "1e16"', "leave it empty"),
    (("x,efs,,,1,,,",), "has no figure", "fill one of read_mib_per_s"),
    (("x,efs,,,1,5,,2026-13",), 'line 2, date: "2026-13"', "2026-11"),
    (("x,efs,,,1,5,,,9",), 'line 2: "9"', "quote"),
    ((), "has no rows", "write a row"),
]  # fmt: skip
HEADS = [
    ("workload,IOPS", '"IOPS"', "did you mean iops?"),
    ("workload,Write BW [MiB/s]", "small letters", "write write_bw [MiB/s]"),
    ("workload,iops,instanceType", 'instanceType: "5"', "condition.machine"),
    ("workload,score [points]", "which way is better", "[points, higher]"),
    ("workload,iops [IOPS]", "is a metric of ours", "write iops, in IOPS"),
    ("workload,mine [a unit;]", "a unit has letters", "such a unit"),
    ("workload,iops.p95", "percentiles are p0", "iops_p95 [UNIT]"),
    ("workload,iops,iops", "stands there twice", "differently"),
    ("workload,param.a,param.a.b,iops", "the begin of another", "rename"),
    ("iops,storage", "lacks the column workload", "add a column"),
    ("workload,storage", "has no column of figures", "read_mib_per_s"),
]


@pytest.mark.parametrize(("rows", "found", "fix"), MISTAKES)
def test_a_mistake_is_told_with_its_place_and_a_way_out(table, workdir, rows, found, fix):
    said = table(HEAD, *rows)

    assert said.exit_code == 2
    assert "1 problem, nothing was kept" in said.stderr
    assert found in said.stderr
    assert fix in said.stderr
    assert not (workdir / "runs/r").exists()


@pytest.mark.parametrize(("head", "found", "fix"), HEADS)
def test_a_column_that_nobody_knows_is_told_with_a_way_out(table, head, found, fix):
    said = table(head, ",".join("5" for _ in head.split(",")))

    assert (said.exit_code, found in said.stderr, fix in said.stderr) == (2, True, True), said.stderr


RECORDED = Path(__file__).parent / "recorded_tools"


def test_tables_that_were_put_together_keep_their_first_line(table):
    assert table("workload,storage,iops", "x,efs,5", "workload,storage,iops", "x,efs,7").exit_code == 0

    (metrics,) = the_metrics()
    assert metrics["iops"]["n"] == 2


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        (["workload,iops", "x,5", "workload,storage,iops", "x,efs,7"], "line 3 are other names of columns"),
        (["x,efs,5", "x,efs,7"], "has figures where the names of columns belong"),
        (["x;efs;5,5"], "has figures where the names of columns belong"),
        ([(RECORDED / "elbencho-1.csv").read_text()], "is an output of elbencho"),
        ((RECORDED / "elbencho-1.csv").read_text().splitlines()[1:], "is an output of elbencho"),
        ([(RECORDED / "mdtest-1.txt").read_text()], "is an output of mdtest"),
        (["3;fio-3.33;x;0;0;1024;341333"], "is fio's terse output"),
        (['{"fio version": "fio-3.33"}'], "is JSON"),
    ],
    ids=["two heads", "no head", "no head, German", "elbencho", "elbencho without its head", "mdtest", "terse", "JSON"],
)
def test_a_file_that_is_nearly_a_table_is_told_by_one_problem(table, lines, found):
    said = table(*lines)

    message = " ".join(said.stderr.split())
    assert said.exit_code == 2
    assert "1 problem, nothing was kept" in message
    assert found in message
    assert "fix:" in message


def test_all_mistakes_of_all_tables_are_told_at_once(matrix, tmp_path):
    (tmp_path / "a.csv").write_text("workload,storage,iops\n,floppy,\nx,efs,much")
    (tmp_path / "b.csv").write_text("workload,storage,storage.sizeGib,iops\nx,ebs,1,5")

    said = matrix("import", "a.csv", "b.csv", "--as", "r")

    assert said.exit_code == 2
    for place in ("a.csv, line 2, workload", "a.csv, line 2", "a.csv, line 3, iops", "b.csv, line 2, storage.sizeGib"):
        assert place in said.stderr


def test_percentiles_of_a_point_cannot_be_put_together(table):
    names = ",".join(f"duration_s.p{level}" for level in (0, 50, 75, 90, 98, 100))

    twice = table(f"workload,{names}", "x,1,2,3,4,5,6", "x,1,2,3,4,5,6")
    some = table("workload,duration_s.p50", "x,1")

    assert "t.csv, line 2, which cannot be put together" in " ".join(twice.stderr.split())
    assert "has 1 of the six percentiles" in some.stderr


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ((), "either files or --published"),
        (("t.csv",), "needs a name"),
        (("t.csv", "a.json", "--as", "r"), "no table beside tables"),
        (("t.csv", "--published"), "either files or --published"),
        (("--published", "--storage", "efs", "--format", "csv"), "--storage, --format tell of files"),
        (("gone.csv", "--as", "r"), "cannot be read"),
        (("t.csv", "--as", "r", "--files-are", "hosts"), "is of fio's files"),
        (("t.csv", "--as", "r", "--instance-type", "Dell R740"), "no instance type of EC2"),
    ],
)
def test_a_command_that_means_nothing_is_refused(matrix, tmp_path, words, found):
    (tmp_path / "t.csv").write_text("workload,iops\nx,5")

    said = matrix("import", *words)

    assert (said.exit_code, found in said.stderr) == (2, True), said.stderr
