"""What somebody else has left in a folder of this machine: links, addresses, texts and numbers."""

import json
import os

import pytest

from cli.target import deployment
from cli.target.documents import parsed
from cli.target.run_folders import RunFolders
from cli.target.workdir import cloud_file, run_folder
from local import sweeping
from local.keeping.files import append_line, overwrite
from local.programs import claims
from local.programs.liveness import started_ticks
from matrix.samples import fio_logs
from matrix.samples.tool_logs import NotALog
from matrix.terms.documents.reading import parse
from matrix.terms.errors import InvalidDocument
from matrix.terms.markdown_text import code, inline


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("MATRIX_WORKDIR", str(tmp_path / "local"))


def test_an_import_writes_through_no_link(tmp_path):
    keys = tmp_path / "keys.txt"
    keys.write_text("secret")
    cell = run_folder("team") / "cells" / "c"
    cell.mkdir(parents=True)
    (cell / "result.json").symlink_to(keys)
    (run_folder("team") / "elsewhere").symlink_to(tmp_path)

    RunFolders().put_documents("team", {"cells/c/result.json": {"id": "c"}})
    with pytest.raises(OSError, match="is a link"):
        RunFolders().put_documents("team", {"elsewhere/keys.txt": {}})
    for write in (append_line, overwrite):
        (cell / "rows").unlink(missing_ok=True)
        (cell / "rows").symlink_to(keys)
        with pytest.raises(OSError, match="symbolic link"):
            write(cell / "rows", b"{}")

    assert keys.read_text() == "secret"
    assert json.loads((cell / "result.json").read_text()) == {"id": "c"}


def test_a_cloud_writes_its_own_files_through_no_link(tmp_path):
    keys, folder = tmp_path / "keys.txt", tmp_path / "local"
    keys.write_text("secret")
    (folder / "logs").mkdir(parents=True)
    for name in ("iam-decisions.jsonl", "calls.jsonl", "cloud.json", "logs/cloud.log", "logs/i-1.log", "cloud.lock"):
        (folder / name).symlink_to(keys)
    (folder / "code").symlink_to(tmp_path)
    (tmp_path / "large").mkdir()
    (folder / "runs").symlink_to(tmp_path / "large")

    with pytest.raises(OSError, match="symbolic link"):
        claims.own(folder)
    sweeping.remove_links(folder)

    assert [path for path in folder.rglob("*") if path.is_symlink()] == [folder / "runs"]
    assert keys.read_text() == "secret"


OWN = {"endpoint": "http://127.0.0.1:5000"}


@pytest.mark.parametrize(
    ("described", "mode", "is_taken"),
    [
        (OWN, 0o600, True),
        (OWN, 0o666, False),
        (OWN | {"pid": 1, "started_ticks": 0}, 0o600, False),
        ({"endpoint": "http://192.0.2.2:5000"}, 0o600, False),
        ({"endpoint": "http://127.0.0.1:5000@192.0.2.2"}, 0o600, False),
    ],
)
def test_only_an_own_cloud_of_this_machine_is_taken_for_the_local_cloud(described, mode, is_taken):
    own = {"pid": os.getpid(), "started_ticks": started_ticks(os.getpid())}
    document = {**own, "region": "us-east-1", "access_key": "a", "secret_key": "s", **described}
    if document["pid"] == 1:
        document["started_ticks"] = started_ticks(1)
    cloud_file().parent.mkdir(parents=True, mode=0o700)
    cloud_file().write_text(json.dumps(document))
    cloud_file().chmod(mode)

    assert deployment.is_local_cloud_running() == is_taken


@pytest.mark.parametrize(
    "text",
    [
        *(
            b"[NaN]",
            b"[-Infinity]",
            b"[1e999]",
            b"[1e300]",
            b"[ -1.5E+30]",
            b"[1000000000000000000e9]",
            b"[" + b"9" * 40 + b"]",
        ),
        b"[" + b"9" * 24 + b"." + b"9" * 24 + b"e20]",
    ],
)
def test_a_number_that_nobody_can_measure_is_refused_where_it_is_read(text):
    with pytest.raises(InvalidDocument, match=r"x\.json"):
        parse(text, "x.json")


def test_a_document_is_read_in_the_encoding_in_which_it_is_checked():
    with pytest.raises(InvalidDocument):
        parse(json.dumps({"a": "\x1b[2J"}).encode("utf-16"), "x.json")


CONTROL = ["\x00", "\x08", "\x0b", "\x1b", "\x1f", "\x7f", "\x80", "\x9b", "\x9f"]


@pytest.mark.parametrize("letter", [*CONTROL, "\u202e", "\u2066", "\u200b", "\ufeff", "\U000e0041"])
@pytest.mark.parametrize("is_escaped", [True, False])
def test_a_text_that_nobody_sees_as_it_is_becomes_question_marks(letter, is_escaped):
    text = json.dumps({"a": f"x{letter}y"}, ensure_ascii=is_escaped).encode()
    if letter == "\U000e0041" and is_escaped:
        assert b"\\udb40" in text

    assert parsed(text, "other.json", "other.json", "")["a"] == "x?y"


def test_markdown_shows_no_picture_link_or_code_of_somebody_else():
    hostile = "![i](http://evil.example/a.png) [c](https://e.example) `x` *b* ` _i_ <b> | www.evil.example mb_per_s"

    assert inline(hostile) == (
        r"!\[i\](http\://evil.example/a.png) \[c\](https\://e.example) `x` \*b\* \` \_i\_ "
        r"&lt;b> \| www\.evil.example mb_per_s"
    )
    assert code("a`b|c") == r"`a'b\|c`"


@pytest.mark.parametrize(
    ("figures", "rule"),
    [
        ({"iops": float("nan")}, "no rate"),
        ({"iops": float("inf")}, "no rate"),
        ({"iops": "10000"}, "no rate"),
        ({"iops": 0}, "no rate"),
        ({"total_ios": -5}, "cannot be"),
        ({"iops": -1}, "cannot be"),
        ({"iops": 1e-320}, "cannot be"),
        ({"bw_bytes": -1}, "cannot be"),
        ({"clat_ns": {"percentile": {"50.000000": -1}}}, "cannot be"),
    ],
)
def test_no_direction_of_a_job_is_left_out_without_a_word(figures, rule):
    side = {"io_bytes": 4096000, "total_ios": 1000, "iops": 100.0, "bw_bytes": 409600, "runtime": 10_000}
    jobs = [{"jobname": "good", "read": side}, {"jobname": "bad", "read": {**side, **figures}}]

    with pytest.raises(NotALog, match=rule):
        fio_logs.rows(fio_logs.read(json.dumps({"fio version": "fio-3.36", "jobs": jobs})), "fio.json")
