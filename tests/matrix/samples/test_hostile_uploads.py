"""Whatever an instance uploads is read, or refused as InvalidSamples in one printable sentence, and nothing else."""

import gzip
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from matrix.answer.results import cell_result, missing_samples
from matrix.run import polling
from matrix.run.polling import read_listing
from matrix.samples import histograms
from matrix.samples.file import MAX_BYTES, read_samples
from matrix.terms.errors import InvalidSamples

SAMPLE = {
    "point": "p01", "repetition": 1, "step": 0, "metrics": {"files_per_s": 900.5, "duration_s": 1.1},
    "started_at": 1.0, "ended_at": 2.1,
}  # fmt: skip
CELL = {
    "id": "c", "file_system": "f", "storage": {"type": "efs"}, "workload": {"type": "touch"},
    "fleet": {"instanceType": "m6i.large", "count": 2}, "expected_s": 10.0,
    "points": [{"id": "p01", "params": {"files": 8}}], "steps": [{"point": "p01", "repetition": n} for n in (1, 2, 3)],
}  # fmt: skip
ZIPPED = gzip.compress(b"{}", mtime=0)  # without the time, as the tests are named after their bytes
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
JSON = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner))


def upload(*samples, **changes):
    """A file of samples as an agent writes it, with changes."""
    whole = {"schema": 1, "run": "r", "cell": "c", "instance": {"id": "i-1", "type": "m6i.large"}}
    return whole | {"samples": list(samples or [SAMPLE])} | changes


def read(document, own=()):
    return read_samples(json.dumps(document).encode(), instance="i-1", cell="c", own=own)


def refused(text: bytes, own=()) -> str:
    """The sentence that refuses a file; it fits a table and a terminal."""
    with pytest.raises(InvalidSamples, match=r"^samples[.]json") as refusal:
        read_samples(text, instance="i-1", cell="c", own=own)
    assert str(refusal.value).isprintable()
    return str(refusal.value)


def test_a_good_file_is_read_with_the_metrics_that_the_matrix_declares():
    [sample] = read(
        upload(SAMPLE | {"work": {"files": 1024}, "metrics": {"duration_s": 1.0, "tps": 5.0}}), {"tps"}
    ).samples

    assert (sample.point, sample.metrics, sample.work) == ("p01", {"duration_s": 1.0, "tps": 5.0}, {"files": 1024})


@pytest.mark.parametrize(
    ("metrics", "own", "named"),
    [
        ({"files_per_s": float("nan")}, (), "samples.0.metrics.files_per_s"),
        ({"made_up": 1.0}, (), "'made_up'"),
        ({"duration_s": 1.0, "tps": 5.0}, {"tpm"}, "'tps'"),
        ({"duration_s": 1.0}, {"tps"}, "tps"),
        ({"duration_s": 1.0, "tps": float("inf")}, {"tps"}, "samples.0.metrics.tps"),
    ],
)
def test_a_sample_has_the_known_and_the_declared_metrics_and_no_other(metrics, own, named):
    assert named in refused(json.dumps(upload(SAMPLE | {"metrics": metrics})).encode(), own)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"null",
        b"[]",
        b"\xff\xfe\x00",
        b"{",
        json.dumps(upload()).encode()[:-7],
        b"[" * 1_000_000,
        b'{"samples":' * 100_000,
        b'{"run": "r", "cell": "c", "instance": {"id": "i-1", "type": "t"}, "samples": [' + b"[" * 500_000,
        json.dumps(upload(samples=[SAMPLE] * 10_001)).encode(),
        json.dumps(upload(cell="another")).encode(),
        json.dumps(upload(cell="\x1b[2J")).encode(),
        json.dumps(upload(instance={"id": "i-2", "type": "t"})).encode(),
        json.dumps(upload(instance={"id": "i-2\n", "type": "t"})).encode(),
        json.dumps(upload(instance="i-1")).encode(),
        json.dumps(upload(SAMPLE, SAMPLE)).encode(),
        json.dumps(upload()).replace("900.5", "1" + "0" * 5000).encode(),
    ],
    ids=lambda text: repr(text[:24]),
)
def test_files_that_are_no_samples_of_this_instance_are_refused(text):
    refused(text)


def test_a_huge_file_is_refused_before_it_is_parsed():
    assert "20,000,001 bytes" in refused(b" " * (MAX_BYTES + 1))


@pytest.mark.parametrize(
    "changes",
    [
        {"metrics": {"duration_s": -1.0}},
        {"metrics": {"duration_s": float("nan")}},
        {"metrics": {"duration_s": float("inf")}},
        {"metrics": {"duration_s": 1e300}},
        {"metrics": {"duration_s": 1e-12}},
        {"metrics": {"duration_s": [1]}},
        {"metrics": {"duration_s": None}},
        {"metrics": {"\x1b[31m": 1.0}},
        {"metrics": {}},
        {"metrics": []},
        {"metrics": {f"m{n}": 1.0 for n in range(101)}},
        {"repetition": 0},
        {"repetition": 10**30},
        {"step": -1},
        {"point": "p" * 201},
        {"point": 1},
        {"started_at": -1.0},
        {"started_at": 5.0, "ended_at": 4.0},
        {"work_started_at": 0.5, "work_ended_at": 2.0},
        {"work_started_at": 2.0, "work_ended_at": 1.5},
        {"start_skew_s": 1e300},
        {"work": {"files": -1}},
        {"warnings": ["x" * 1001]},
        {"warnings": ["x"] * 51},
        {"caches": {"a": 1}},
    ],
    ids=str,
)
def test_samples_that_nobody_can_have_measured_are_refused(changes):
    refused(json.dumps(upload(SAMPLE | changes)).encode())


def test_of_a_key_that_is_there_twice_one_is_taken_and_checked():
    text = json.dumps(upload()).replace('"step": 0', '"step": 0, "step": -5').encode()

    refused(text)


@settings(max_examples=300)
@given(st.binary(max_size=200) | JSON.map(lambda value: json.dumps(value).encode()))
def test_anything_is_samples_or_refused(text):
    refused(text)


@settings(max_examples=300)
@given(st.sampled_from([*SAMPLE, *upload(), "start_skew_s", "work", "warnings", "caches"]), JSON)
def test_a_good_file_with_anything_in_one_place_is_samples_or_refused(key, value):
    document = upload(SAMPLE | {key: value}) if key not in upload() else upload(**{key: value})
    try:
        read_samples(json.dumps(document).encode(), instance="i-1", cell="c")
    except InvalidSamples as refusal:
        assert str(refusal).isprintable()


QUANTITY = st.just(0.0) | st.floats(1e-9, 1e15)
MEASURED = st.fixed_dictionaries(
    {
        "repetition": st.integers(1, 5),
        "metrics": st.fixed_dictionaries({"files_per_s": QUANTITY, "duration_s": QUANTITY}),
        "started_at": st.floats(0, 1e11),
        "start_skew_s": st.none() | st.floats(-1e6, 1e6),
    }
)


@settings(max_examples=100)
@given(st.lists(MEASURED, min_size=1, max_size=4, unique_by=lambda sample: sample["repetition"]), st.booleans())
def test_whatever_is_read_gives_a_result_that_is_json(samples, is_failed):
    texts = [SAMPLE | sample | {"ended_at": sample["started_at"]} for sample in samples]
    files = [
        read_samples(json.dumps(upload(*texts, instance={"id": name, "type": "t"})).encode(), instance=name, cell="c")
        for name in ("i-1", "i-2")
    ]

    missing_samples(CELL, files)
    result = cell_result(CELL, files, error={"name": "X", "message": "x"} if is_failed else None, actual_s=1.0)

    json.dumps(result, allow_nan=False)


def test_samples_of_points_that_the_cell_has_not_are_left_out_of_its_result():
    read = read_samples(json.dumps(upload(SAMPLE | {"point": "p99"})).encode(), instance="i-1", cell="c")

    result = cell_result(CELL, [read], error=None, actual_s=1.0)

    assert [point["metrics"] for point in result["points"]] == [{}]
    assert missing_samples(CELL, [read])


@pytest.mark.parametrize(
    "name",
    [
        "meet/0/gates/0000.json", "9" * 5000, "..", "/", "//", "a/done.json", "done.json/", "DONE.JSON",
        "failed.json.gz", "heartbeat/x", "😀",
    ],
)  # fmt: skip
def test_names_that_no_agent_writes_are_a_sign_of_life_and_no_more(name):
    seen = read_listing("p/", [(f"p/AROAX:i-1/{name}", 5.0)])["i-1"]

    assert (seen.is_done, seen.has_failed, seen.has_samples) == (False, False, False)
    assert seen.last_sign_at == 5.0


def test_objects_beside_the_instances_folders_are_nobodys():
    seen = read_listing("p/", [("p/stray", 5.0), ("p/AROAX:i-1", 5.0), ("p/AROAX:i-2/done.json", 5.0)])

    assert seen["i-2"].is_done
    assert not any(seen[name].is_done for name in seen if name != "i-2")


@pytest.mark.parametrize(
    "text",
    [
        b"", b"null", b"[]", b"5", b'"x"', b"{", b"\xff", b"[" * 100_000, b"{}", b'{"error": 1}',
        b'{"error": "\\u001b[2J", "message": "a\\nb"}', json.dumps({"error": [1], "message": {"a": 2}}).encode(),
        json.dumps({"error": "E", "message": "x" * 99_000}).encode(), b'{"error": 1' + b"0" * 5000 + b', "message": ""}',  # noqa: E501
    ],
    ids=lambda text: repr(text[:24]),
)  # fmt: skip
def test_a_failure_of_any_kind_is_told_in_one_short_printable_line(text):
    words = polling.reason(text)

    assert words.isprintable()
    assert len(words) <= 1000


@pytest.mark.parametrize(
    "text",
    [
        b"", b"{}", b"null", b"[1]", b"[" * 100_000, b"\x1f\x8b", b"\x1f\x8b" + b"x" * 100, ZIPPED[:-4],
        ZIPPED[:12] + b"\xff" * 20, gzip.compress(b" " * 50_000_000, mtime=0), b"x" * 3_000_000,
        json.dumps({"unit": "ns", "histograms": {"read_lat": {"bins": {str(n): 1 for n in range(4000)}}}}).encode(),
        json.dumps({"unit": "ns", "histograms": {"read_lat": {"bins": {"x": 1}}}}).encode(),
        json.dumps({"unit": "ns", "histograms": {"read_lat": {"bins": {"1": -1}}}}).encode(),
        json.dumps({"unit": "ns", "histograms": {"read_lat": {"bins": {"-1": 1}}}}).encode(),
        json.dumps({"unit": "ns", "histograms": {"read_lat": {"bins": {"1": 10**30}}}}).encode(),
        json.dumps({"unit": "ns", "histograms": {"../x": {"bins": {"1": 1}}}}).encode(),
        json.dumps({"unit": "s", "histograms": {}}).encode(),
    ],
    ids=lambda text: repr(text[:24]),
)  # fmt: skip
def test_histograms_that_are_none_are_refused(text):
    with pytest.raises(InvalidSamples) as refusal:
        histograms.read_histograms(text)

    assert str(refusal.value).isprintable()


def test_the_largest_histograms_that_are_read_give_percentiles():
    most = {"unit": "ns", "histograms": {"read_lat": {"bins": {str(2**62 - n): 2**62 for n in range(100)}}}}

    bins = histograms.read_histograms(json.dumps(most).encode())["read_lat"]

    json.dumps(histograms.latency([bins] * 10), allow_nan=False)
