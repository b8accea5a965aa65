"""What an instance uploads is checked before anything believes it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matrix.samples.file import read_samples
from matrix.terms.errors import InvalidSamples


def upload(**changes):
    """A small file of samples as an agent writes it."""
    sample = {
        "point": "p01", "repetition": 1, "step": 0, "metrics": {"files_per_s": 900.5, "duration_s": 1.1},
        "started_at": 1.0, "ended_at": 2.1, "start_skew_s": 0.001, "work": {"files": 1024},
    }  # fmt: skip
    return {
        "schema": 1, "run": "r", "cell": "c", "environment": "local", "host": {"cpus": 2},
        "instance": {"id": "i-1", "type": "m6i.large", "availability_zone": "eu-west-1a"},
        "samples": [sample | changes],
    }  # fmt: skip


def read(document, own=()):
    return read_samples(json.dumps(document).encode(), instance="i-1", cell="c", own=own)


def test_a_good_file_is_read():
    [sample] = read(upload()).samples

    assert (sample.point, sample.metrics["files_per_s"], sample.work) == ("p01", 900.5, {"files": 1024})


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"metrics": {"files_per_s": float("nan")}}, "samples.0.metrics.files_per_s"),
        ({"metrics": {}}, "samples.0.metrics"),
        ({"metrics": {"made_up": 1.0}}, "unknown metrics: 'made_up'"),
        ({"repetition": 0}, "samples.0.repetition"),
        ({"point": "p" * 1000}, "samples.0.point"),
    ],
)
def test_a_sample_that_cannot_be_right_is_refused_by_its_path(changes, said):
    with pytest.raises(InvalidSamples, match=said):
        read(upload(**changes))


def test_metrics_that_the_matrix_declares_are_read():
    [sample] = read(upload(metrics={"duration_s": 1.0, "tps": 5.0}), own={"tps"}).samples

    assert sample.metrics["tps"] == 5


@pytest.mark.parametrize(
    ("metrics", "own", "said"),
    [
        ({"duration_s": 1.0, "tps": 5.0}, {"tpm"}, "unknown metrics: 'tps'"),
        ({"duration_s": 1.0}, {"tps"}, "step 0 lacks what the matrix declares: tps"),
        ({"duration_s": 1.0, "tps": float("inf")}, {"tps"}, "samples.0.metrics.tps"),
    ],
)
def test_a_sample_has_the_declared_metrics_and_no_other(metrics, own, said):
    with pytest.raises(InvalidSamples, match=said):
        read(upload(metrics=metrics), own=own)


def test_a_file_that_speaks_of_another_instance_is_refused():
    with pytest.raises(InvalidSamples, match="claims to be of 'i-2'"):
        read(upload() | {"instance": {"id": "i-2", "type": "m6i.large"}})


def test_a_huge_file_is_refused_before_it_is_parsed():
    with pytest.raises(InvalidSamples, match="20,000,001 bytes"):
        read_samples(b" " * 20_000_001, instance="i-1", cell="c")


@given(st.binary(max_size=200))
def test_any_bytes_are_refused_in_one_sentence(noise):
    with pytest.raises(InvalidSamples, match=r"^samples[.]json"):
        read_samples(noise, instance="i-1", cell="c")
