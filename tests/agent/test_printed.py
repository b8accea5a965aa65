"""Numbers that a command prints: found, or missed by a sentence that says where they were looked for."""

from __future__ import annotations

import json

import pytest

from agent.errors import JobInvalid, NumberMissing
from agent.programs.processes import Ended
from agent.workloads import printed

TPS = {"tps": {"unit": "tx/s", "better": "higher", "pattern": "tps = (.+)"}}
FIELD = {"p99": {"unit": "ms", "better": "lower", "jsonField": "jobs.0.lat.p99"}}


@pytest.fixture
def read(tmp_path):
    def read_output(metrics, output):
        (tmp_path / "0.out").write_bytes(output if isinstance(output, bytes) else output.encode())
        ended = Ended((), 0, tmp_path / "0.out", tmp_path / "0.err", 0.0, 0.0)
        return printed.read(printed.declared({"metrics": metrics}), ended)

    return read_output


@pytest.mark.parametrize(
    ("metrics", "output", "value"),
    [
        (TPS, "tps = 1\ntps = 12.5e2\nbye\n", 1250),
        (TPS, "10 %\r50 %\rtps = 7", 7),
        (TPS, "tps = 0", 0),
        (FIELD, 'noise\n{"jobs": [{"lat": {"p99": 1}}]}\n{"jobs": [{"lat": {"p99": 2.5}}]}\n{"jobs": []}\n{"x"', 2.5),
        (FIELD, b'\xff\xfe\n{"jobs": [{"lat": {"p99": "3"}}]}\n', 3),
    ],
)
def test_the_last_line_that_has_a_number_says_what_it_is(read, metrics, output, value):
    assert read(metrics, output) == {next(iter(metrics)): value}


@pytest.mark.parametrize(
    ("pattern", "line", "value"),
    [
        ("rate: ([0-9.,]+)", "rate: 12,345.6 MB/s", 12_345.6),
        ("rate: ([0-9.,e+-]+)", "rate: 1.24e+04", 12_400),
        ("rate: ([0-9.,]+)", "rate: 1,234,567", 1_234_567),
        ("rate: ([0-9.]+)", "rate: 12. Done", 12),
        ("rate: ([0-9.]+)", "rate: 12, 345 done", 12),
        ("^total,([0-9.]+)", "total,123,456", 123),
        ("([0-9.]+),sum$", "1,234,sum", 234),
        ("^total[,;]([0-9.]+)", "total,123,456", 123),
        ("([0-9.]+)[,;]sum$", "1,234,sum", 234),
        ("^(?:[^,]*,){2}([0-9.]+)", "100,200,300,400", 300),
        (r"(?<=,)([0-9.]+)(?:,|$)", "a,200,300", 200),
        (r"^([0-9.]+)\s*,", "100,200", 100),
        ("^sum ([0-9]+)", "sum 12345,678", 12_345),
        ("([0-9.]+)ms", "v1.2 took 12.5ms", 12.5),
        ("p99-([0-9]+)", "p99-12", 12),
    ],
)
def test_a_number_is_read_as_a_whole(read, pattern, line, value):
    assert read({"n": {"pattern": pattern}}, line) == {"n": value}


@pytest.mark.parametrize(
    ("pattern", "line", "whole"),
    [
        ("rate: ([0-9.]+)", "rate: 12,345.6 MB/s", "12,345.6"),
        ("rate: ([0-9.]+).*MB", "rate: 12,345.6 MB/s", "12,345.6"),
        ("rate: ([0-9.]+)", "rate: 1.24e+04", r"1.24e\+04"),
        ("rate: ([0-9]+)", "rate: 12.5", "12.5"),
        ("([0-9]+) MB", "rate: 12.5 MB/s", "12.5"),
        ("([0-9.]+) MB", "rate: 12,345.6 MB/s", "12,345.6"),
        ("rate: .?([0-9]+)", "rate: -5", "-5"),
        ("rate: ([0-9]{2})", "rate: 1234", "1234"),
        # Their commas stand beside no number of the line, or end a part of a sentence.
        ("([0-9]+), MB", "rate: 12,345, MB", "12,345"),
        ("rate: ([0-9]+)[^,]", "rate: 12,345", "12,345"),
        ("rate: ([^,]+).*,", "rate: 12,345, MB", "12,345"),
    ],
)
def test_a_part_of_a_number_fails_with_the_line(read, pattern, line, whole):
    with pytest.raises(NumberMissing, match=rf"of {whole}: .*'{line}'".replace("rate: 1.24e+04", r"rate: 1.24e\+04")):
        read({"n": {"pattern": pattern}}, f"rate: 1\n{line}\n")


@pytest.mark.parametrize(
    ("metrics", "output", "why"),
    [
        (TPS, "tps: 5\nall done", "is in no line of the output; the last lines were: 'tps: 5' | 'all done'"),
        (TPS, "", r"is in no line of the output; the last lines were: \(none; 2>&1 adds standard error\)"),
        (FIELD, '{"jobs": [{"lat": {"p9": 1}}]}', r"p99 \(JSON field 'jobs.0.lat.p99'\) is in no line"),
        *((TPS, f"tps = {text}", "is not a number from 0 to 1e15") for text in (
            "nan", "inf", "-1", "1e16", "1e-12", "1e999", "1_000", "1,5", "many", "0x10",
        )),
        *((FIELD, f'{{"jobs": [{{"lat": {{"p99": {text}}}}}]}}', "is not a number") for text in (
            "NaN", "Infinity", "1e999", "true", "[1]", '"nan"', "9" * 400,
        )),
    ],
)  # fmt: skip
def test_what_is_not_a_finite_number_fails_with_metric_place_and_last_lines(read, metrics, output, why):
    with pytest.raises(NumberMissing, match=why) as missing:
        read(metrics, output)

    assert str(missing.value).startswith(("tps (pattern 'tps = (.+)')", "p99 (JSON field"))
    assert str(missing.value).isprintable()


def test_of_hostile_output_only_the_end_and_no_long_line_is_read(read):
    beyond = b"tps = 1\n" + b"x" * printed.MAX_BYTES + b"\n"
    long = b"tps = 1" + b" " * printed.MAX_LINE_BYTES + b"\n"
    deep = b'{"a":' * 800 + b"\n"

    for output in (beyond, long, deep, b"\0\x1b[2Jtps\n" * 1000):
        with pytest.raises(NumberMissing) as missing:
            read(TPS | FIELD, output)
        assert len(str(missing.value)) < 2000
    assert read(TPS, beyond + b"tps = 2\n") == {"tps": 2}


def test_a_pattern_that_goes_back_and_forth_is_ended_by_its_processor_time(read, monkeypatch):
    monkeypatch.setattr(printed, "MAX_CPU_S", 0.2)

    with pytest.raises(NumberMissing, match="in vain: write a pattern that cannot match"):
        read({"n": {"pattern": "(?:a|aa|a+)+(b)"}}, "a" * 4000)


@pytest.mark.parametrize(("pattern", "why"), [("(", "is not a pattern"), ("a", "0 groups"), ("(a)(b)", "2 groups")])
def test_a_pattern_that_this_python_cannot_read_is_refused_before_anything_runs(pattern, why):
    with pytest.raises(JobInvalid, match=why):
        printed.declared({"metrics": json.loads(json.dumps({"n": {"pattern": pattern}}))})
